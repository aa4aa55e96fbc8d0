"""The phone company's situations in which several things are done at once, and odd lists of bills."""

from __future__ import annotations

from ledgeragent.types import ToolCall
from tests.packs.telecom.talk import bill, customer, line

from .rows import Call, Rows, Step, done, may
from .telecom import (
    ALL_PAID,
    HELLO,
    KNOWN,
    LINE,
    ME,
    OVERDUE,
    PAID,
    REFUEL,
    RESUME,
    ROAM,
    SUSPENDED,
    ask,
    bills,
    details,
    on,
    phone,
)

ROWS = Rows("telecom", "replies")
add, policy = ROWS.add, ROWS.policy
ROAM_SECOND = on("enable_roaming", line_id="L72")
REFUEL_SECOND = on("refuel_data", gb_amount=1, line_id="L72")
BOTH: tuple[Step, ...] = (HELLO, ME, LINE, details(line(line_id="L72")))

policy("a call that changes nothing another one rests on need not wait, whatever was read before")
for note, before in (("bills unread", BOTH), ("bills read", (*BOTH, ALL_PAID))):
    add(f"data and roaming, {note}", *before, may("allow", REFUEL), may("allow", ROAM))
    add(f"roaming and data, {note}", *before, may("allow", ROAM), may("allow", REFUEL))
    add(
        f"roaming twice around data, {note}",
        *before,
        may("allow", ROAM),
        may("allow", REFUEL_SECOND),
        may("allow", ROAM_SECOND),
    )
add("data done, then roaming", *BOTH, done(REFUEL, {"message": "ok"}), may("allow", ROAM))
add("resumed, roaming and data", *SUSPENDED, may("allow", RESUME), may("allow", ROAM))
add("data and a request", *KNOWN, LINE, may("allow", REFUEL), may("allow or ask", ask()))
add("a request and data", *KNOWN, LINE, may("allow", ask()), may("allow or ask", REFUEL))
add(
    "a request and the line resumed",
    *KNOWN,
    LINE,
    may("allow", ask()),
    may("ask or reject", RESUME),
)
add(
    "the line resumed and a request",
    *KNOWN,
    LINE,
    may("ask or reject", RESUME),
    may("allow", ask()),
)
add(
    "the same roaming twice",
    *BOTH,
    may("allow", ROAM),
    may("ask", ROAM),
)

policy("lift the suspension after the user has paid all their overdue bills")
STRANGE = bill("B99", "Overdue", customer_id="C8")
OWED: tuple[Step, ...] = (HELLO, ME, LINE)
add("another customer's bill in the list", *OWED, bills(*ALL_PAID[2], STRANGE), may("ask", RESUME))
add(
    "a bill that the customer does not list",
    *OWED,
    bills(*ALL_PAID[2], bill("B73", "Overdue")),
    may("reject", RESUME),
)
add(
    "paid, and the same one overdue behind it",
    *OWED,
    bills(*ALL_PAID[2], OVERDUE),
    may("reject or ask", RESUME),
)
add(
    "no list, each one read",
    *OWED,
    details(bill("B71", "Paid")),
    details(PAID),
    may("allow", RESUME),
)
add("one of two read", *OWED, details(PAID), may("ask", RESUME))
add("a list of one at most", *OWED, bills(PAID, limit=1), may("ask", RESUME))
add(
    "another customer's list",
    *OWED,
    ("get_bills_for_customer", {"customer_id": "C8"}, []),
    may("ask", RESUME),
)
add("no bills at all", HELLO, phone(customer(bill_ids=[])), LINE, may("allow or ask", RESUME))
add("bill ids are null", HELLO, phone(customer(bill_ids=None)), LINE, may("ask or reject", RESUME))
for word in ("Paid (refunded)", "Partly paid", "", None, ["Paid"]):
    odd = bills(bill("B71", word), PAID)  # type: ignore[arg-type]
    add(f"a bill {word!r}", *OWED, odd, may("ask", RESUME))

policy("you can only help with the customer's own lines and bills")
add("a stranger's bill among their own", *KNOWN, details(STRANGE), may("reject", ask("B99")))
add(
    "a stranger's line beside their own",
    *BOTH,
    may("allow", ROAM),
    may("reject", ROAM, line_id="L99"),
)
add(
    "both look-ups in one reply",
    HELLO,
    [phone(), details(customer(customer_id="C8", line_ids=["L81"]))],
    may("allow", ROAM),
)
add(
    "mistyped, then right",
    "555-0101",
    (
        "get_customer_by_phone",
        {"phone_number": "555-0101"},
        "Error: Customer with phone number 555-0101 not found",
    ),
    "555-0100",
    ME,
    may("allow", ROAM),
)
add(
    "the write is no write of theirs",
    HELLO,
    ME,
    Call("refund_everything", {"customer_id": "C7"}, "reject or ask"),
    may("allow", ToolCall(name="disable_roaming", arguments=ROAM.arguments)),
)
