"""Appointments of the clinic, from the policy's text alone."""

from __future__ import annotations

from tests.packs.telehealth.talk import ANA, BERG, cancelling, details, provider

from .clinic_world import (
    BOOK,
    CANCEL,
    DOCTOR,
    GONE,
    HELLO,
    KIM,
    KNOWN,
    ME,
    MOVE,
    NOBODY,
    SHOWN,
    doctor,
    find,
    named,
    own,
    shown,
)
from .rows import Call, Rows, done, may

ROWS = Rows("telehealth", "appointment")
add, policy = ROWS.add, ROWS.policy

policy("you must authenticate the patient by email, or by name and date of birth")
for answer, accept in (
    (ANA, "allow"),
    (f'"{ANA}"', "allow"),
    ({"result": ANA}, "allow"),
    (f" {ANA}\n", "allow"),
    (NOBODY, "ask"),
    ("Unavailable", "ask"),
    ("", "ask"),
    ("None", "ask"),
    (f"Patient found: {ANA}", "ask"),
    ("Error: 503", "ask"),
    (KIM, "reject or ask"),
):
    add(f"the lookup answers {answer!r}", HELLO, find(answer), SHOWN, may(accept, CANCEL))
add("by name and birth date", HELLO, named(ANA, first_name="Ana"), SHOWN, may("allow", CANCEL))
add("the appointment first", HELLO, SHOWN, ME, may("allow", CANCEL))
add("never located", HELLO, SHOWN, may("ask", CANCEL))
add("never located, booking", HELLO, DOCTOR, may("ask", BOOK))
add("located and cancelled in one reply", HELLO, SHOWN, Call(*ME[:2], "allow"), may("ask", CANCEL))

policy("appointments can be cancelled or moved if their status is scheduled or pending_approval")
for word, accept in (
    ("Scheduled", "allow"),
    ("Pending Approval", "allow"),
    ("pending_approval", "allow"),
    ("SCHEDULED", "allow or ask"),
    ("Completed", "reject"),
    ("Cancelled", "reject"),
    ("No Show", "reject or ask"),
    ("Rescheduled", "reject or ask"),
    ("Scheduled (tentative)", "reject or ask"),
    ("Not Scheduled", "reject or ask"),
    ("-", "reject or ask"),
):
    add(f"cancel: {word}", HELLO, ME, shown(details(status=word)), may(accept, CANCEL))
    add(f"move: {word}", HELLO, ME, DOCTOR, shown(details(status=word)), may(accept, MOVE))
    add(f"cancel: {word} in the list", HELLO, ME, own(("APPT900", word)), may(accept, CANCEL))
add("never read", HELLO, ME, may("ask", CANCEL))
add(
    "there is none",
    HELLO,
    ME,
    shown("Appointment with ID APPT900 not found."),
    may("reject", CANCEL),
)
add("the read failed", HELLO, ME, shown("Error: timeout"), may("ask", CANCEL))
add("in a wrapping", HELLO, ME, shown({"result": details()}), may("allow", CANCEL))
add(
    "in quotes",
    HELLO,
    ME,
    shown('"' + details().replace("\n", "\\n") + '"'),
    may("allow or ask", CANCEL),
)
add(
    "as an object",
    HELLO,
    ME,
    shown({"appointment_id": "APPT900", "status": "scheduled"}),
    may("ask or reject", CANCEL),
)
add("the details of another one", HELLO, ME, shown(details("APPT901")), may("ask", CANCEL))
add(
    "narrowed to completed: not in it",
    HELLO,
    ME,
    own(("APPT901", "Completed"), status_filter="completed"),
    may("ask", CANCEL),
)
add(
    "the whole list lacks it",
    HELLO,
    ME,
    own(("APPT901", "Scheduled")),
    may("ask or reject", CANCEL),
)
for name in ("appt900", "APPT900 ", "", None, 900, ["APPT900"]):
    add(f"id {name!r}", HELLO, ME, SHOWN, may("reject or ask", CANCEL, appointment_id=name))
add("cancelled, again", HELLO, ME, SHOWN, done(CANCEL, GONE), may("reject or ask", CANCEL))
add("cancelled, moved", *KNOWN, SHOWN, done(CANCEL, GONE), may("reject or ask", MOVE))
add("refused, cancelled", HELLO, ME, SHOWN, done(CANCEL, "Error: busy"), may("allow", CANCEL))
add(
    "lost, cancelled",
    HELLO,
    ME,
    SHOWN,
    done(CANCEL, "Error: timeout"),
    may("ask or reject", CANCEL),
)
add(
    "cancel and move", *KNOWN, SHOWN, may("allow", CANCEL), may("reject or ask", MOVE), not_all=True
)
add("move and cancel", *KNOWN, SHOWN, may("allow", MOVE), may("allow or ask", CANCEL))
add(
    "cancel twice",
    HELLO,
    ME,
    SHOWN,
    may("allow", CANCEL),
    may("reject or ask", CANCEL),
    not_all=True,
)
add(
    "cancel two",
    HELLO,
    ME,
    own(("APPT900", "Scheduled"), ("APPT901", "Pending Approval")),
    may("allow", CANCEL),
    may("allow", cancelling("APPT901")),
)
add(
    "cancel one open, one completed",
    HELLO,
    ME,
    own(("APPT900", "Scheduled"), ("APPT901", "Completed")),
    may("allow", CANCEL),
    may("reject", cancelling("APPT901")),
)

policy("check provider availability before scheduling; date YYYY-MM-DD, 24-hour time")
for day, time, accept in (
    ("2025-11-05", "10:00", "allow"),
    ("2025-11-05", "09:00", "allow"),
    ("2025-11-07", "09:00", "allow"),
    ("2025-11-07", "10:00", "reject"),
    ("2025-11-06", "09:00", "reject"),
    ("2025-11-05", "9:00", "reject"),
    ("2025-11-05", "09:00:00", "reject"),
    ("2025-11-05", "09.00", "reject"),
    ("2025-11-05", "9 am", "reject"),
    ("2025-11-05", "24:00", "reject"),
    ("2025-11-05", "09:60", "reject"),
    ("2025-11-05", " 09:00", "reject"),
    ("2025-11-05", "", "reject"),
    ("2025-11-05", None, "reject"),
    ("2025-11-05", 900, "reject"),
    ("05-11-2025", "09:00", "reject"),
    ("2025/11/05", "09:00", "reject"),
    ("Wednesday", "09:00", "reject"),
    ("2025-11-31", "09:00", "reject"),
    ("2025-W45-3", "09:00", "reject"),
    ("20251105", "09:00", "reject"),
    ("2025-11-05Z", "09:00", "reject"),
    (None, "09:00", "reject"),
):
    add(f"book {day!r} {time!r}", *KNOWN, may(accept, BOOK, date=day, time=time))
    taken = day == "2025-11-05" and time == "09:00"
    add(
        f"move to {day!r} {time!r}",
        *KNOWN,
        SHOWN,
        may("allow" if taken else accept, MOVE, new_date=day, new_time=time),
    )
for answer, accept in (
    (provider("- Wednesday: 10:00"), "allow"),
    (provider("- Wednesday: "), "reject"),
    (provider(""), "reject"),
    (provider("- wednesday: 10:00"), "reject or ask"),
    (provider("- Wednesday: 10:00, 10:30\n- Wednesday: 11:00"), "allow or reject or ask"),
    (f"Provider with ID {BERG} not found.", "reject"),
    ("Error: 502 Bad Gateway", "ask"),
    ("Unavailable", "ask"),
    ({"result": provider()}, "allow"),
):
    add(
        f"the provider's details are {str(answer)[-40:]!r}",
        HELLO,
        ME,
        doctor(answer),
        may(accept, BOOK),
    )
add("the provider unread", HELLO, ME, may("ask", BOOK))
HOLM = "dr_holm_cardiology"
add(
    "another provider read",
    HELLO,
    ME,
    doctor(provider().replace(BERG, HOLM), HOLM),
    may("ask", BOOK),
)
for name in (BERG.upper(), f"{BERG} ", "", None, ["x"]):
    add(f"provider {name!r}", *KNOWN, may("reject or ask", BOOK, provider_id=name))
for value, accept in (
    (True, "allow"),
    (False, "allow"),
    ("true", "reject"),
    (1, "reject"),
    ("", "reject"),
):
    add(f"bill_insurance {value!r}", *KNOWN, may(accept, BOOK, bill_insurance=value))

policy("check provider availability before scheduling: a schedule in other words tells nothing")
for week in (
    "- Wednesday: 09:00 AM, 10:00 AM",
    "- Wednesday: 09:00-11:00",
    "- Wednesday: 9:00, 10:00",
    "- Wednesday: by appointment",
    "- Wednesday: 09:00\n- Wednesday: 10:00",
    "- wednesday: 09:00, 10:00",
):
    add(f"schedule {week!r}", HELLO, ME, doctor(provider(week)), may("ask", BOOK))
