"""The phone company's situations, from the policy's text alone."""

from __future__ import annotations

from typing import Any

from ledgeragent.types import ToolCall
from tests.packs.telecom.talk import bill, customer, line

from .rows import Answered, Call, Rows, Step, done, may

ROWS = Rows("telecom", "all")
add, policy = ROWS.add, ROWS.policy
HELLO = "Hello, 555-0100 here"


def phone(answer: Any = None) -> Answered:
    record = answer or customer(phone_number="555-0100")
    return "get_customer_by_phone", {"phone_number": "555-0100"}, record


def details(record: Any, answer: Any = None) -> Answered:
    """A record read by its id, perhaps with another answer."""
    return (
        "get_details_by_id",
        {"id": next(iter(record.values()))},
        record if answer is None else answer,
    )


def bills(*listed: Any, **more: Any) -> Answered:
    return "get_bills_for_customer", {"customer_id": "C7", **more}, list(listed)


def on(tool: str, **more: Any) -> ToolCall:
    return ToolCall(name=tool, arguments={"customer_id": "C7", "line_id": "L71", **more})


def ask(bill_id: str = "B71", **more: Any) -> ToolCall:
    return ToolCall(
        name="send_payment_request", arguments={"customer_id": "C7", "bill_id": bill_id, **more}
    )


RESUME, ROAM, REFUEL = on("resume_line"), on("enable_roaming"), on("refuel_data", gb_amount=1)
OVERDUE, PAID = bill("B71", "Overdue"), bill("B72", "Paid")
ALL_PAID = bills(bill("B71", "Paid"), PAID)
ME, LINE = phone(), details(line())
KNOWN: tuple[Step, ...] = (HELLO, ME, bills(OVERDUE, PAID))
SUSPENDED: tuple[Step, ...] = (HELLO, ME, LINE, ALL_PAID)

policy("you must first identify the customer")
for answer, accept in (
    (customer(), "allow"),
    ({"result": customer()}, "allow"),
    ("Error: Customer with phone number 555-0100 not found", "ask"),
    ("Unavailable", "ask"),
    ({"customer_id": "C7"}, "ask"),
    ({**customer(), "line_ids": None}, "ask or reject"),
    ({**customer(), "line_ids": "L71"}, "ask or reject"),
    (customer(customer_id="C8"), "ask or reject"),
    (customer(line_ids=["L72"]), "reject"),
):
    add(f"the lookup answers {str(answer)[:50]!r}", HELLO, phone(answer), may(accept, ROAM))
add("by id", HELLO, ("get_customer_by_id", {"customer_id": "C7"}, customer()), may("allow", ROAM))
add(
    "by name",
    HELLO,
    ("get_customer_by_name", {"full_name": "Noor Haddad", "dob": "1990-01-01"}, [customer()]),
    may("allow", ROAM),
)
add(
    "by name: nobody",
    HELLO,
    ("get_customer_by_name", {"full_name": "Noor", "dob": "1990-01-01"}, []),
    may("ask", ROAM),
)
add("by details", HELLO, details(customer()), may("allow", ROAM))
add("no lookup", HELLO, LINE, may("ask", ROAM))
add("only bills", HELLO, bills(OVERDUE, PAID), may("ask", ROAM))
add("lookup and write in one reply", HELLO, Call(*ME[:2], "allow"), may("ask", ROAM))
for name in ("c7", "C7 ", " C7", "", None, 7, ["C7"]):
    add(f"customer {name!r}", HELLO, ME, LINE, may("reject or ask", ROAM, customer_id=name))
for name in ("l71", "L71 ", "L99", "B71", "", None, ["L71"]):
    add(f"line {name!r}", HELLO, ME, LINE, may("reject or ask", ROAM, line_id=name))
add(
    "a stranger's line that was read",
    HELLO,
    ME,
    details(line(line_id="L99")),
    may("reject", ROAM, line_id="L99"),
)
add(
    "a stranger's bill that was read",
    *KNOWN,
    details(bill("B99", "Overdue", customer_id="C9")),
    may("reject", ask("B99")),
)

policy("always check that the bill is overdue before sending a payment request")
for word, accept in (
    ("Overdue", "allow"),
    ("OVERDUE", "allow or reject or ask"),
    ("Paid", "reject"),
    ("Draft", "reject"),
    ("Issued", "reject"),
    ("Disputed", "reject"),
    ("Awaiting Payment", "reject"),
    ("AWAITING PAYMENT", "reject or ask"),
    ("awaiting_payment", "reject or ask"),
    ("Not overdue", "reject or ask"),
    ("", "reject or ask"),
    (None, "reject or ask"),
    (["Overdue"], "reject or ask"),
):
    add(f"bill {word!r}", HELLO, ME, bills(bill("B71", word), PAID), may(accept, ask()))
    add(
        f"bill {word!r}, by details",
        HELLO,
        ME,
        details(PAID),
        details(bill("B71", word)),
        may(accept, ask()),
    )
add("never read", HELLO, ME, may("ask", ask()))
add(
    "the read failed",
    HELLO,
    ME,
    details(OVERDUE, "Error: 503 Service Unavailable"),
    may("ask", ask()),
)
add("another bill answered", HELLO, ME, details(OVERDUE, bill("B72", "Overdue")), may("ask", ask()))
add("no bill with this id", *KNOWN, may("reject or ask", ask("B999")))
add("overdue, then paid", *KNOWN, details(bill("B71", "Paid")), may("reject", ask()))
for name in ("b71", "B71 ", "", None, 71, ["B71"]):
    add(f"bill id {name!r}", *KNOWN, may("reject or ask", ask(name)))

policy("a user can only have one bill in the AWAITING PAYMENT status at a time")
TWO: tuple[Step, ...] = (HELLO, ME, bills(OVERDUE, bill("B72", "Overdue")))
add("two overdue: the first", *TWO, may("allow", ask()))
add(
    "two requests in one reply",
    *TWO,
    may("allow", ask()),
    may("reject or ask", ask("B72")),
    not_all=True,
)
add("the same request twice", *TWO, may("allow", ask()), may("reject or ask", ask()), not_all=True)
add("the second after the first", *TWO, done(ask()), may("reject or ask", ask("B72")))
add("the first again", *TWO, done(ask()), may("reject or ask", ask()))
add(
    "the second after the first failed",
    *TWO,
    done(ask(), "Error: no such bill"),
    may("allow", ask("B72")),
)
add(
    "the second after the first was lost",
    *TWO,
    done(ask(), "Error: timeout"),
    may("ask or reject", ask("B72")),
)
add(
    "the second, the first awaiting",
    *TWO,
    done(ask()),
    details(bill("B71", "Awaiting Payment")),
    may("reject", ask("B72")),
)
add(
    "the second, the first paid",
    *TWO,
    done(ask()),
    "Paid!",
    details(bill("B71", "Paid")),
    may("allow", ask("B72")),
)
add(
    "the second, the first paid by word only",
    *TWO,
    done(ask()),
    "Paid!",
    may("ask or reject", ask("B72")),
)
add("the second bill unread", HELLO, ME, details(OVERDUE), may("ask or allow", ask()))
add(
    "three bills in one reply",
    HELLO,
    phone(customer(bill_ids=["B71", "B72", "B73"])),
    bills(OVERDUE, bill("B72", "Overdue"), bill("B73", "Overdue")),
    may("allow", ask()),
    may("reject or ask", ask("B72")),
    may("reject or ask", ask("B73")),
    not_all=True,
)

policy("lift the suspension after all overdue bills are paid; not if the contract end date is past")
for end, accept in (
    (None, "allow"),
    ("2025-02-25", "allow"),
    ("2025-02-26", "allow"),
    ("2025-02-24", "reject"),
    ("2025-02-24T23:59:59", "reject"),
    ("2025-02-25T00:00:00", "allow"),
    ("2025-02-24 12:00:00", "reject"),
    ("2026-01-01T00:00:00Z", "allow"),
    ("31/12/2024", "reject or ask"),
    ("soon", "reject or ask"),
    ("", "reject or ask"),
    (20240101, "reject or ask"),
):
    add(
        f"contract end {end!r}",
        HELLO,
        ME,
        details(line(contract_end_date=end)),
        ALL_PAID,
        may(accept, RESUME),
    )
for word, accept in (
    ("Suspended", "allow"),
    ("Active", "reject"),
    ("Pending Activation", "reject"),
    ("Closed", "reject"),
    ("suspended", "allow or ask"),
    ("Unknown", "reject or ask"),
    (None, "reject or ask"),
):
    add(f"line {word!r}", HELLO, ME, details(line(status=word)), ALL_PAID, may(accept, RESUME))
for word, accept in (
    ("Overdue", "reject"),
    ("Awaiting Payment", "reject"),
    ("Issued", "allow"),
    ("Draft", "allow"),
    ("Disputed", "allow"),
    ("Late", "reject or ask"),
):
    add(
        f"one bill is {word!r}",
        HELLO,
        ME,
        LINE,
        bills(bill("B71", word), PAID),
        may(accept, RESUME),
    )
add("one bill unread", HELLO, ME, LINE, details(PAID), may("ask", RESUME))
add("bills unread", HELLO, ME, LINE, may("ask", RESUME))
add("the line unread", HELLO, ME, ALL_PAID, may("ask", RESUME))
add("a list of one", HELLO, ME, LINE, bills(PAID, limit=1), may("ask", RESUME))
add(
    "resumed, again",
    *SUSPENDED,
    done(RESUME, line(status="Active")),
    may("reject or ask or allow", RESUME),
)
add(
    "resumed, read, again",
    *SUSPENDED,
    done(RESUME),
    details(line(status="Active")),
    may("reject", RESUME),
)
add(
    "resumed twice in one reply",
    *SUSPENDED,
    may("allow", RESUME),
    may("reject or ask", RESUME),
    not_all=True,
)
add(
    "a request and the line in one reply",
    HELLO,
    ME,
    LINE,
    bills(OVERDUE, PAID),
    may("allow", ask()),
    may("reject or ask", RESUME),
)
add(
    "requested, not read again",
    HELLO,
    ME,
    LINE,
    bills(OVERDUE, PAID),
    done(ask()),
    "Paid!",
    may("ask or reject", RESUME),
)
add(
    "requested, read as paid",
    HELLO,
    ME,
    LINE,
    bills(OVERDUE, PAID),
    done(ask()),
    "Paid!",
    details(bill("B71", "Paid")),
    may("allow", RESUME),
)
add("roaming and the line", *SUSPENDED, may("allow", RESUME), may("allow or ask", ROAM))

policy("the maximum amount of data that can be refueled is 2GB")
for amount, accept in (
    (2, "allow"),
    ("2", "allow"),
    ("1.5", "allow"),
    (0.5, "allow"),
    (2.0000001, "reject"),
    (2.1, "reject"),
    (0, "reject"),
    (-1, "reject"),
    ("-1", "reject"),
    ("2GB", "reject"),
    ("NaN", "reject"),
    ("inf", "reject"),
    ("1,5", "reject"),
    ("１", "reject"),
    ("0x1", "reject"),
    ("1_0", "reject"),
    (True, "reject"),
    (None, "reject"),
    ([1], "reject"),
    ({"gb": 1}, "reject"),
    (1e308, "reject"),
):
    add(f"{amount!r} GB", HELLO, ME, LINE, may(accept, REFUEL, gb_amount=amount))
add("1 and 1", HELLO, ME, LINE, may("allow", REFUEL), may("allow or ask", REFUEL))
add(
    "1.5 and 1",
    HELLO,
    ME,
    LINE,
    may("allow", REFUEL, gb_amount=1.5),
    may("reject or ask", REFUEL),
    not_all=True,
)
add(
    "2 on each of two lines",
    HELLO,
    ME,
    LINE,
    details(line(line_id="L72")),
    may("allow", REFUEL, gb_amount=2),
    may("allow or ask", REFUEL, gb_amount=2, line_id="L72"),
)
add("1, then 1.5", HELLO, ME, LINE, done(REFUEL), may("reject", REFUEL, gb_amount=1.5))
add("1, then 1", HELLO, ME, LINE, done(REFUEL), may("allow", REFUEL))
add(
    "2 refused, then 2",
    HELLO,
    ME,
    LINE,
    done(REFUEL, "Error: no such line", gb_amount=2),
    may("allow", REFUEL, gb_amount=2),
)
add(
    "2 lost, then 2",
    HELLO,
    ME,
    LINE,
    done(REFUEL, "Error: timeout", gb_amount=2),
    may("ask or reject", REFUEL, gb_amount=2),
)
add("2 as text, then 1", HELLO, ME, LINE, done(REFUEL, gb_amount="2"), may("reject", REFUEL))

policy("transfer only what cannot be handled; try your best before")
HAND = ToolCall(name="transfer_to_human_agents", arguments={"summary": "no service"})
LOCKED = ToolCall(name=HAND.name, arguments={"summary": "the SIM is locked, asks for its PIN"})
add("nothing read", HELLO, may("allow", HAND))
add(
    "suspended, bill overdue, no request",
    HELLO,
    ME,
    LINE,
    bills(OVERDUE, PAID),
    may("reject", HAND),
)
add(
    "suspended, the bill requested",
    HELLO,
    ME,
    LINE,
    bills(OVERDUE, PAID),
    done(ask()),
    may("allow", HAND),
)
add(
    "suspended, the contract ended",
    HELLO,
    ME,
    details(line(contract_end_date="2025-01-01")),
    bills(OVERDUE, PAID),
    may("allow", HAND),
)
add("suspended, a locked SIM", HELLO, ME, LINE, bills(OVERDUE, PAID), may("allow", LOCKED))
add("suspended, all paid", *SUSPENDED, may("reject", HAND))
