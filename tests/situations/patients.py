"""Conflicts, patients and prescriptions of the clinic, from the policy's text alone."""

from __future__ import annotations

from tests.packs.telehealth.talk import ANA, details, record, rescheduled, scheduled

from .clinic_world import (
    BOOK,
    CANCEL,
    DOCTOR,
    GONE,
    HAND,
    HELLO,
    KIM,
    KNOWN,
    LEO,
    ME,
    MOVE,
    NOBODY,
    NOTE,
    RECORDS,
    SHOWN,
    SUPPLIERS,
    SUPPLY,
    find,
    named,
    patient,
    shown,
)
from .rows import Rows, Step, done, may

ROWS = Rows("telehealth", "patient")
add, policy = ROWS.add, ROWS.policy

policy("check for conflicts with other appointments")
AT_TEN = details("APPT901").replace("Time: 09:00", "Time: 10:00")
for word, accept in (
    ("Scheduled", "reject"),
    ("Pending Approval", "reject"),
    ("Cancelled", "allow"),
    ("Completed", "allow or reject"),
    ("Confirmed", "reject or ask"),
    ("No Show", "allow or reject or ask"),
):
    at_ten = AT_TEN.replace("Status: Scheduled", f"Status: {word}")
    add(f"the slot is {word}", *KNOWN, shown(at_ten, "APPT901"), may(accept, BOOK))
add("booked, the same again", *KNOWN, done(BOOK, scheduled()), may("reject or ask", BOOK))
add("booked in words of its own, again", *KNOWN, done(BOOK, "Done."), may("reject or ask", BOOK))
add("booked, the next slot", *KNOWN, done(BOOK, scheduled()), may("allow", BOOK, time="09:00"))
add("booking refused, again", *KNOWN, done(BOOK, "Error: busy"), may("allow", BOOK))
add("booking lost, again", *KNOWN, done(BOOK, "Error: timeout"), may("reject or ask", BOOK))
add("booking twice", *KNOWN, may("allow", BOOK), may("reject or ask", BOOK), not_all=True)
add("two slots", *KNOWN, may("allow", BOOK), may("allow or ask", BOOK, time="09:00"))
add(
    "moved there, then booked",
    *KNOWN,
    SHOWN,
    done(MOVE, rescheduled("2025-11-07", "09:00")),
    may("reject or ask", BOOK, date="2025-11-07", time="09:00"),
)
add(
    "cancelled, its slot booked",
    *KNOWN,
    SHOWN,
    done(CANCEL, GONE),
    may("allow or ask", BOOK, time="09:00"),
)
add(
    "cancel, and book its slot",
    *KNOWN,
    SHOWN,
    may("allow", CANCEL),
    may("allow or reject or ask", BOOK, time="09:00"),
)
add(
    "move and book where it was",
    *KNOWN,
    SHOWN,
    may("allow", MOVE),
    may("allow or reject or ask", BOOK, time="09:00"),
)
add(
    "move and book where it goes",
    *KNOWN,
    SHOWN,
    may("allow", MOVE),
    may("reject or ask", BOOK, date="2025-11-07", time="09:00"),
    not_all=True,
)

policy("you can only help one patient per conversation, unless for aged parents or kids")
add(
    "a friend's booking",
    *KNOWN,
    named(KIM),
    patient(KIM, "Kim Stone", "Jo Stone (Spouse)"),
    may("reject", BOOK, patient_id=KIM),
)
add("a friend's booking, unread", *KNOWN, may("ask or reject", BOOK, patient_id=KIM))
add(
    "a child's booking",
    *KNOWN,
    patient(ANA),
    named(),
    patient(LEO, "Leo Lopez", "Ana Lopez (Mother)"),
    may("allow", BOOK, patient_id=LEO),
)
add(
    "a parent's booking",
    *KNOWN,
    patient(ANA),
    named(),
    patient(LEO, "Leo Lopez", "Ana Lopez (Daughter)"),
    may("allow", BOOK, patient_id=LEO),
)
add(
    "a brother's booking",
    *KNOWN,
    patient(ANA),
    named(),
    patient(LEO, "Leo Lopez", "Ana Lopez (Sister)"),
    may("reject", BOOK, patient_id=LEO),
)
add(
    "a namesake's child",
    *KNOWN,
    patient(ANA),
    named(),
    patient(LEO, "Leo Lopez", "Anna Lopez (Mother)"),
    may("reject", BOOK, patient_id=LEO),
)
add("a stranger's appointment", *KNOWN, shown(details(patient_id=KIM)), may("reject", CANCEL))
add("a stranger's appointment moved", *KNOWN, shown(details(patient_id=KIM)), may("reject", MOVE))
add(
    "a stranger's record",
    *KNOWN,
    ("get_medical_record", {"record_id": "REC900"}, record().replace(ANA, KIM)),
    may("reject", NOTE),
)
add(
    "a friend located later",
    HELLO,
    ME,
    named(KIM),
    shown(details(patient_id=KIM)),
    may("reject", CANCEL),
)
add("own, after a friend was located", HELLO, ME, named(KIM), SHOWN, may("allow", CANCEL))
add("own id in capitals", *KNOWN, may("reject or ask", BOOK, patient_id=ANA.upper()))
add(
    "mistyped, corrected",
    HELLO,
    named(KIM, first_name="An"),
    "No, Ana",
    named(ANA, first_name="Ana"),
    SHOWN,
    may("allow", CANCEL),
)
add(
    "mistyped, corrected: the stranger's appointment",
    HELLO,
    named(KIM, first_name="An"),
    "No, Ana",
    named(ANA, first_name="Ana"),
    shown(details(patient_id=KIM)),
    may("reject", CANCEL),
)

policy("update_prescription_supplier: a medication of the record, an entry of the catalog")
SET: tuple[Step, ...] = (HELLO, ME, RECORDS, SUPPLIERS)
for field, value, accept in (
    ("medication", "Sertraline", "allow"),
    ("medication", "sertraline", "allow"),
    ("medication", "Aspirin", "reject"),
    ("medication", "", "reject"),
    ("medication", None, "reject"),
    ("price_usd", "3.20", "allow"),
    ("price_usd", 3.21, "reject"),
    ("price_usd", -3.2, "reject"),
    ("price_usd", "cheap", "reject"),
    ("price_usd", None, "reject"),
    ("brand_name", "Sertrafjord", "reject"),
    ("brand_name", "", "reject"),
    ("supplier_company", "Delta Labs (Norway)", "reject"),
    ("supplier_company", "Delta", "reject"),
    ("supplier_company", "", "reject"),
    ("currency", "EUR", "reject"),
    ("currency", "USD", "allow"),
    ("record_id", "REC901", "ask or reject"),
    ("record_id", "rec900", "ask or reject"),
    ("record_id", None, "ask or reject"),
):
    add(f"{field} {value!r}", *SET, may(accept, SUPPLY, **{field: value}))
add("the record unread", HELLO, ME, SUPPLIERS, may("ask", SUPPLY))
add("the catalog unread", HELLO, ME, RECORDS, may("ask", SUPPLY))
add(
    "the catalog failed", HELLO, ME, RECORDS, (*SUPPLIERS[:2], "Error: timeout"), may("ask", SUPPLY)
)
add(
    "two suppliers for one medication",
    *SET,
    may("allow", SUPPLY),
    may(
        "allow or reject or ask",
        SUPPLY,
        supplier_company="Fjord Pharma",
        brand_name="Sertrafjord",
        price_usd=4.1,
    ),
    not_all=True,
)
add("a note on one's own record", HELLO, ME, RECORDS, may("allow", NOTE))
add(
    "two notes",
    HELLO,
    ME,
    RECORDS,
    may("allow", NOTE),
    may("allow or ask", NOTE, note="and mailed"),
)
add("a note, the record unread", HELLO, ME, may("ask", NOTE))

policy("transfer only what cannot be handled; technical issues are transferred")
for steps in ((), (ME,), (ME, DOCTOR), (find(NOBODY),)):
    add(f"after {len(steps)} reads", HELLO, *steps, may("allow", HAND))
