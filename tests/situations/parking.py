"""The parking office's situations, from what its pack says of its policy: a pack written as data."""

from __future__ import annotations

from typing import Any

from ledgeragent.types import ToolCall

from .after import CLOSED, After, outcomes
from .rows import Answered, Call, Rows, Step, done, may

ROWS = Rows("parking", "all")
add, policy = ROWS.add, ROWS.policy
HELLO = "Hello, mo@example.com"


def permit(**changes: Any) -> dict[str, Any]:
    dated = {"status": "active", "valid_until": "2025-04-01"}
    return {"permit_id": "P-1", "resident_id": "R-1", "zone": "A", **dated, **changes}


def fine(**changes: Any) -> dict[str, Any]:
    owed = {"amount": 60.0, "issued_on": "2025-03-01", "status": "unpaid"}
    return {"fine_id": "F-1", "resident_id": "R-1", **owed, **changes}


def resident(**changes: Any) -> dict[str, Any]:
    return {"resident_id": "R-1", "name": "Mo", "home_zone": "A", "waivers_this_year": 0, **changes}


def find(answer: Any = None) -> Answered:
    return (
        "find_resident",
        {"email": "mo@example.com"},
        {"resident_id": "R-1"} if answer is None else answer,
    )


def read(record: dict[str, Any], answer: Any = None) -> Answered:
    """A permit, resident or zone as read."""
    key = next(key for key in ("permit_id", "resident_id", "zone") if key in record)
    return (
        f"get_{key.removesuffix('_id')}",
        {key: record[key]},
        record if answer is None else answer,
    )


def fines(*listed: Any) -> Answered:
    return "list_fines", {"resident_id": "R-1"}, list(listed)


def call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=tool, arguments=arguments)


RENEW = call("renew_permit", permit_id="P-1", months=6)
MOVE = call("move_permit", permit_id="P-1", zone="B")
WAIVE = call("waive_fine", fine_id="F-1", resident_id="R-1")
KNOWN: tuple[Step, ...] = (HELLO, find(), read(permit()))
FREE = read({"zone": "B", "free": 1})
WAIVABLE: tuple[Step, ...] = (HELLO, find(), read(resident()), fines(fine()))

policy("only what belongs to the resident is changed")
add("own permit", *KNOWN, fines(), may("allow", RENEW))
add("nobody was located", HELLO, read(permit()), fines(), may("ask", RENEW))
add("a stranger's permit", HELLO, find(), read(permit(resident_id="R-2")), may("reject", RENEW))
add("a stranger's fine", HELLO, find(), fines(fine(resident_id="R-2")), may("reject", WAIVE))
add("a stranger as resident", *WAIVABLE, may("reject", WAIVE, resident_id="R-2"))
for answer in ("Error: nobody", "Sorry", {}, {"resident_id": None}, []):
    add(
        f"the lookup answers {answer!r}",
        HELLO,
        find(answer),
        read(permit()),
        fines(),
        may("ask", RENEW),
    )
for name in ("p-1", "P-1 ", "", None, ["P-1"]):
    add(f"permit {name!r}", *KNOWN, fines(), may("reject or ask", RENEW, permit_id=name))

policy("a suspended permit is not renewed; renewed in its last 60 days, for 1 to 12 months")
for word, accept in (
    ("active", "allow"),
    ("expired", "allow"),
    ("suspended", "reject"),
    ("SUSPENDED", "ask or reject"),
    ("revoked", "ask or reject"),
    (None, "ask or reject"),
):
    add(f"status {word!r}", HELLO, find(), read(permit(status=word)), fines(), may(accept, RENEW))
for until, accept in (
    ("2025-05-09", "allow"),
    ("2025-05-10", "reject"),
    ("2025-02-30", "ask or reject"),
    ("next year", "ask or reject"),
    (None, "ask or reject"),
):
    add(
        f"valid until {until!r}",
        HELLO,
        find(),
        read(permit(valid_until=until)),
        fines(),
        may(accept, RENEW),
    )
for months, accept in (
    (1, "allow"),
    (12, "allow"),
    (13, "reject"),
    (0, "reject"),
    (-1, "reject"),
    ("6", "allow"),
    (6.5, "reject"),
    (True, "reject"),
    (None, "reject"),
):
    add(f"{months!r} months", *KNOWN, fines(), may(accept, RENEW, months=months))

policy("nobody with an unpaid fine renews a permit")
add("a fine unpaid", *KNOWN, fines(fine()), may("reject", RENEW))
add("a fine paid", *KNOWN, fines(fine(status="paid")), may("allow", RENEW))
add("a fine of another status", *KNOWN, fines(fine(status="late")), may("ask or reject", RENEW))
add("fines unread", *KNOWN, may("ask", RENEW))
add(
    "one waived in the same reply",
    *KNOWN,
    read(resident()),
    fines(fine()),
    may("allow", WAIVE),
    may("ask or reject", RENEW),
)
add(
    "renewed twice", *KNOWN, fines(), may("allow", RENEW), may("ask or reject", RENEW), not_all=True
)
add("renewed, again", *KNOWN, fines(), done(RENEW), may("ask or reject", RENEW))
add("renewal refused, again", *KNOWN, fines(), done(RENEW, "Error: closed"), may("allow", RENEW))
add(
    "renewal lost, again",
    *KNOWN,
    fines(),
    done(RENEW, "Error: timeout"),
    may("ask or reject", RENEW),
)

policy("a permit moves only to a zone that has a free space")
add("one free", *KNOWN, FREE, may("allow", MOVE))
add("none free", *KNOWN, read({"zone": "B", "free": 0}), may("reject", MOVE))
add("zone unread", *KNOWN, may("ask", MOVE))
add("free is text", *KNOWN, read({"zone": "B", "free": "many"}), may("ask or reject", MOVE))
add(
    "two permits to the last space",
    *KNOWN,
    read(permit(permit_id="P-2")),
    FREE,
    may("allow", MOVE),
    may("ask or reject", MOVE, permit_id="P-2"),
    not_all=True,
)
add("read and move in one reply", *KNOWN, Call(*FREE[:2], "allow"), may("ask", MOVE))

policy("one fine a year can be waived, in the 30 days after it was issued")
for on, accept in (
    ("2025-02-08", "allow"),
    ("2025-02-07", "reject"),
    ("08.02.2025", "ask or reject"),
):
    add(
        f"issued {on}",
        HELLO,
        find(),
        read(resident()),
        fines(fine(issued_on=on)),
        may(accept, WAIVE),
    )
add(
    "one waived this year",
    HELLO,
    find(),
    read(resident(waivers_this_year=1)),
    fines(fine()),
    may("reject", WAIVE),
)
add(
    "paid already",
    HELLO,
    find(),
    read(resident()),
    fines(fine(status="paid")),
    may("reject", WAIVE),
)
add(
    "two fines in one reply",
    HELLO,
    find(),
    read(resident()),
    fines(fine(), fine(fine_id="F-2")),
    may("allow", WAIVE),
    may("ask or reject", WAIVE, fine_id="F-2"),
    not_all=True,
)
add(
    "a second after the first",
    HELLO,
    find(),
    read(resident()),
    fines(fine(), fine(fine_id="F-2")),
    done(WAIVE),
    may("ask or reject", WAIVE, fine_id="F-2"),
)

policy("what became of a write decides the next one")
CLEAR: tuple[Step, ...] = (*KNOWN, fines())
LONGER = read(permit(valid_until="2025-10-01"))
outcomes(
    ROWS,
    "renewed, again",
    CLEAR,
    RENEW,
    RENEW,
    After(CLOSED, "allow", seen=([LONGER], "reject"), unseen=([read(permit())], "allow")),
)
TWO_FINES: tuple[Step, ...] = (
    *(HELLO, find(), read(permit()), read(resident())),
    fines(fine(), fine(fine_id="F-2")),
)
USED = (read(resident(waivers_this_year=1)), fines(fine(status="waived"), fine(fine_id="F-2")))
outcomes(
    ROWS,
    "one waived, then another",
    TWO_FINES,
    WAIVE,
    call("waive_fine", fine_id="F-2", resident_id="R-1"),
    After(CLOSED, "allow", unknown=CLOSED, seen=(USED, "reject"), unseen=(TWO_FINES[3:], "allow")),
)
ONE_FINE: tuple[Step, ...] = (HELLO, find(), read(permit()), read(resident()), fines(fine()))
outcomes(
    ROWS,
    "the only one waived, then renewed",
    ONE_FINE,
    WAIVE,
    RENEW,
    After(
        "ask",
        "reject",
        seen=([fines(fine(status="waived"))], "allow"),
        unseen=([fines(fine())], "reject"),
    ),
)
LAST_SPACE: tuple[Step, ...] = (*KNOWN, read(permit(permit_id="P-2")), FREE)
outcomes(
    ROWS,
    "one permit to the last space, then another",
    LAST_SPACE,
    MOVE,
    call("move_permit", permit_id="P-2", zone="B"),
    After(
        CLOSED, "allow", seen=([read({"zone": "B", "free": 0})], "reject"), unseen=([FREE], "allow")
    ),
)
