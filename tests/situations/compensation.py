"""Compensation of the airline, from the policy's text alone; replies that hold cancellations too."""

from __future__ import annotations

from tests.packs.airline.talk import (
    ANA,
    BACK,
    BEN,
    CANCEL,
    UPGRADE,
    bags,
    booked,
    certificate,
    change,
    on,
    profile,
)

from .airline_world import (
    BUSINESS,
    CANCEL_SECOND,
    HELLO,
    ME,
    OLA,
    OTHERS,
    SECOND,
    SILVER,
    TRIP,
    status,
    trip,
    user,
)
from .rows import Rows, done, may

ROWS = Rows("airline", "compensation")
add, policy = ROWS.add, ROWS.policy

policy(
    "silver/gold, insured or business; cancelled: 100 x passengers; delayed: 50 x after a change"
)
gone = (HELLO, SILVER, TRIP, status("cancelled"))
for amount, answer in (
    (100, "allow"),
    ("100", "allow"),
    (100.0, "allow"),
    (100.4, "reject"),
    (50, "reject"),
    (200, "reject"),
    (0, "reject"),
    (-100, "reject"),
    (10**9, "reject"),
    ("$100", "reject"),
    ("one hundred", "reject"),
    (None, "reject"),
    (True, "reject"),
    ([100], "reject"),
):
    add(f"amount {amount!r}, one passenger", *gone, may(answer, certificate(amount)))
PAIR = trip(passengers=[ANA, BEN])
add("two travel: 200", HELLO, SILVER, PAIR, status("cancelled"), may("allow", certificate(200)))
add("two travel: 100", HELLO, SILVER, PAIR, status("cancelled"), may("reject", certificate(100)))
add("a regular member", HELLO, ME, TRIP, status("cancelled"), may("reject", certificate(100)))
add(
    "regular and insured",
    HELLO,
    ME,
    trip(insurance="yes"),
    status("cancelled"),
    may("allow", certificate(100)),
)
add("nobody read the status", HELLO, SILVER, TRIP, may("ask", certificate(100)))
add("on time", HELLO, SILVER, TRIP, status("on time"), may("reject", certificate(100)))
add(
    "status in a sentence",
    HELLO,
    SILVER,
    TRIP,
    status("It is cancelled"),
    may("ask", certificate(100)),
)
add("membership unread", HELLO, TRIP, status("cancelled"), may("ask", certificate(100)))
add(
    "membership nobody knows",
    HELLO,
    user(membership="platinum"),
    TRIP,
    status("cancelled"),
    may("reject or ask", certificate(100)),
)
add(
    "for a stranger",
    HELLO,
    ME,
    user(profile(OLA, membership="gold")),
    trip(**OTHERS),
    status("cancelled"),
    may("reject", certificate(100), user_id=OLA),
)
add(
    "a stranger's cancelled flight",
    HELLO,
    user(membership="gold"),
    TRIP,
    trip(**OTHERS, flights=[BACK]),
    status("cancelled", BACK["date"], "NV102"),
    may("reject or ask", certificate(100)),
)
add(
    "once more in a later turn",
    *gone,
    done(certificate(100)),
    "One more?",
    may("reject", certificate(100)),
)
add("once more, as text", *gone, done(certificate(100)), may("reject", certificate("100")))
add(
    "after a refusal of the tool",
    *gone,
    done(certificate(100), "Error: try again"),
    may("allow", certificate(100)),
)
for lost in ("Error: timeout", "504 Gateway Timeout", "Error: connection lost", ""):
    add(
        f"after {lost!r}",
        *gone,
        done(certificate(100), lost),
        may("reject or ask", certificate(100)),
    )
two = (*gone, trip(**SECOND), status("cancelled", BACK["date"], "NV102"))
add("one for each of two trips", *two, done(certificate(100)), may("allow", certificate(100)))
add(
    "a third for two trips",
    *two,
    done(certificate(100)),
    done(certificate(100)),
    may("reject", certificate(100)),
)
late = (HELLO, SILVER, TRIP, status("delayed"))
moved = booked(flights=[on("2024-05-21")])
NEXT = change(("NV101", "2024-05-21"))
add("delayed, nothing changed", *late, may("reject", certificate(50)))
add("delayed, moved", *late, done(NEXT, moved), may("allow", certificate(50)))
add("delayed, moved, the cancelled rate", *late, done(NEXT, moved), may("reject", certificate(100)))
add(
    "delayed, the move refused",
    *late,
    done(NEXT, "Error: no seats"),
    may("reject", certificate(50)),
)
add(
    "delayed, the move lost",
    *late,
    done(NEXT, "Error: timeout"),
    may("reject or ask", certificate(50)),
)
add(
    "cancelled by the customer only",
    HELLO,
    SILVER,
    BUSINESS,
    status("on time"),
    done(CANCEL, booked(cabin="business", status="cancelled")),
    may("reject", certificate(100)),
)

policy("replies of several calls")
add(
    "cancel, then the certificate for the delay",
    HELLO,
    SILVER,
    trip(insurance="yes"),
    status("delayed"),
    may("allow", CANCEL),
    may("allow or reject or ask", certificate(50)),
    not_all=True,
)
add(
    "the certificate for the delay, then cancel",
    HELLO,
    SILVER,
    trip(insurance="yes"),
    status("delayed"),
    may("reject or ask", certificate(50)),
    may("allow or ask", CANCEL),
)
add(
    "the certificate for a cancelled flight, then cancel",
    *gone,
    may("allow", certificate(100)),
    may("allow or ask", CANCEL),
)
add("upgrade, then cancel", HELLO, ME, TRIP, may("allow", UPGRADE), may("reject or ask", CANCEL))
add("cancel, then upgrade", HELLO, ME, TRIP, may("reject", CANCEL), may("allow or ask", UPGRADE))
add(
    "two cancellations",
    HELLO,
    ME,
    BUSINESS,
    trip(**SECOND, cabin="business"),
    may("allow", CANCEL),
    may("allow", CANCEL_SECOND),
)
add(
    "one of two may be cancelled",
    HELLO,
    ME,
    TRIP,
    trip(**SECOND, cabin="business"),
    may("reject", CANCEL),
    may("allow", CANCEL_SECOND),
)
add(
    "two certificates for two trips",
    *two,
    may("allow", certificate(100)),
    may("allow or ask", certificate(100)),
)
add(
    "three certificates for two trips",
    *two,
    *[may("allow or reject or ask", certificate(100))] * 3,
    not_all=True,
)
add(
    "two certificates, as number and text",
    *gone,
    may("allow", certificate(100)),
    may("reject or ask", certificate("100")),
    not_all=True,
)
add(
    "upgrade, then the certificate of business",
    HELLO,
    ME,
    TRIP,
    status("cancelled"),
    may("allow", UPGRADE),
    may("allow or reject or ask", certificate(100)),
    not_all=True,
)
add("bags, then cancel", HELLO, ME, BUSINESS, may("allow", bags(1, 0)), may("allow or ask", CANCEL))
add(
    "cancel, then cancel after the first was refused",
    HELLO,
    ME,
    BUSINESS,
    done(CANCEL, "Error: system busy"),
    may("allow", CANCEL),
)
add(
    "cancel, whose result was lost, again",
    HELLO,
    ME,
    BUSINESS,
    done(CANCEL, "502 Bad Gateway"),
    may("ask", CANCEL),
)
add(
    "cancel done, and again",
    HELLO,
    ME,
    BUSINESS,
    done(CANCEL, "cancelled"),
    may("ask or reject", CANCEL),
)
