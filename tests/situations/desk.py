"""The bank's situations, from what its pack says of its policy: a pack written as data, with a clock."""

from __future__ import annotations

from typing import Any

from ledgeragent.types import ToolCall

from .after import CLOSED, REFUSED, After, outcomes
from .rows import NEVER, Answered, Rows, Step, done, may

ROWS = Rows("bank", "desk")
NOW = "2025-03-10T12:00"
add, policy = ROWS.add, ROWS.policy
HELLO = "Hello, 0170 555 here"


def caller(**changes: Any) -> Answered:
    """Who was identified."""
    known = {"customer_id": "C-1", "level": "standard", "phone_verified": True, **changes}
    return "identify_customer", {"phone": "0170 555"}, known


def card(**changes: Any) -> Answered:
    """A card as read."""
    known = {
        "card_id": "K-1",
        "customer_id": "C-1",
        "status": "active",
        "expires_on": "2026-01-31",
        "daily_limit": 500,
        **changes,
    }
    return "get_card", {"card_id": known["card_id"]}, known


def account(balance: Any = 3000, **changes: Any) -> Answered:
    """An account as read."""
    known = {"account_id": "A-1", "customer_id": "C-1", "balance": balance, **changes}
    return "get_account", {"account_id": known["account_id"]}, known


def sent(*amounts: Any, account_id: str = "A-1", day: str = "2025-03-10") -> Answered:
    """What left an account, as read."""
    listed = [{"amount": amount, "sent_on": day} for amount in amounts]
    return "list_transfers", {"account_id": account_id}, listed


def payment(id: str = "T-1", **changes: Any) -> Answered:
    """A payment as read."""
    known = {"amount": 49.9, "booked_on": "2025-02-20", "status": "booked", **changes}
    return (
        "get_transaction",
        {"transaction_id": id},
        {"transaction_id": id, "account_id": "A-1", **known},
    )


def call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=tool, arguments=arguments)


def transfer(amount: Any, account_id: str = "A-1") -> ToolCall:
    return call("transfer", account_id=account_id, iban="DE02", amount=amount)


def dispute(*ids: str) -> ToolCall:
    return call("open_dispute", transaction_ids=list(ids), reason="fraud")


ME = caller()
DESK: tuple[Step, ...] = (HELLO, ME, account(), sent(800))
BLOCK, REPLACE = call("block_card", card_id="K-1"), call("replace_card", card_id="K-1")
RAISE = call("raise_limit", card_id="K-1", daily_limit=1000)

policy("what leaves an account in a day stays below 2000 for a standard customer, and is covered")
for amount, accept in (
    (1200, "allow"),
    (1200.01, "reject"),
    ("1200", "allow"),
    (0, "reject"),
    (-5, "reject"),
    ("a lot", "reject"),
    (True, "reject"),
    (None, "reject"),
    (float("nan"), "reject"),
):
    add(f"{amount!r} after 800", *DESK, may(accept, transfer(amount)))
add(
    "yesterday's do not count",
    HELLO,
    ME,
    account(),
    sent(1900, day="2025-03-09"),
    may("allow", transfer(1200)),
)
add(
    "a premium customer",
    HELLO,
    caller(level="premium"),
    account(),
    sent(1900),
    may("allow", transfer(2900)),
)
add(
    "a level that is none",
    HELLO,
    caller(level="gold"),
    account(),
    sent(),
    may("ask or reject", transfer(10)),
)
outcomes(
    ROWS,
    "700, then 500 more",
    DESK,
    transfer(700),
    transfer(500),
    After(
        "ask",
        "allow",
        seen=([account(2300), sent(800, 700)], "allow"),
        unseen=([account(), sent(800)], "allow"),
    ),
)
outcomes(
    ROWS,
    "700, then 501 more",
    DESK,
    transfer(700),
    transfer(501),
    After(
        CLOSED,
        "allow",
        unknown=CLOSED,
        seen=([account(2300), sent(800, 700)], "reject"),
        unseen=([account(), sent(800)], "allow"),
    ),
)
read_again = (account(2300), sent(800, 700))
add(
    "700 done, read again, 500 more",
    *DESK,
    done(transfer(700)),
    *read_again,
    may("allow", transfer(500)),
)
add(
    "700 done, read again, 501 more",
    *DESK,
    done(transfer(700)),
    *read_again,
    may("reject", transfer(501)),
)
two = (*DESK, account(400, account_id="A-2"), sent(account_id="A-2"))
add("one from each account", *two, may("allow", transfer(1200)), may("allow", transfer(400, "A-2")))
add("two from one account", *DESK, may("allow", transfer(700)), may("ask", transfer(500)))
add(
    "a stranger's account",
    HELLO,
    ME,
    account(customer_id="C-2"),
    sent(),
    may("reject", transfer(10)),
)

policy("a booked payment is disputed within 120 days, once")
PAYMENTS: tuple[Step, ...] = (HELLO, ME, account(), payment(), payment("T-2"))
for note, ids, accept in (
    ("both", ("T-1", "T-2"), "allow"),
    ("one twice", ("T-1", "T-1"), "allow or reject"),
    ("one unread", ("T-1", "T-3"), "ask"),
):
    add(f"disputed: {note}", *PAYMENTS, may(accept, dispute(*ids)))
outcomes(
    ROWS,
    "two disputed, then one of them",
    PAYMENTS,
    dispute("T-1", "T-2"),
    dispute("T-2"),
    After(
        CLOSED,
        "allow",
        unknown=CLOSED,
        seen=([payment("T-2", status="disputed")], CLOSED),
        unseen=([payment("T-2")], "allow or ask"),
    ),
)
add("apart", *PAYMENTS, may("allow", dispute("T-1")), may("allow", dispute("T-2")))
add("in common", *PAYMENTS, may("allow", dispute("T-1")), may(CLOSED, dispute("T-2", "T-1")))
for word, accept in (
    ("pending", "reject"),
    ("refunded", "reject"),
    ("Booked", "ask or allow"),
    ("booked?", "ask"),
    (None, "ask"),
    (["booked"], "ask"),
):
    add(f"a payment {word!r}", *PAYMENTS[:3], payment(status=word), may(accept, dispute("T-1")))
for day, accept in (
    ("2024-11-10", "allow"),
    ("2024-11-09", "reject"),
    ("2024-02-30", "ask or reject"),
    ("10.11.2024", "ask or reject"),
):
    add(f"booked on {day}", *PAYMENTS[:3], payment(booked_on=day), may(accept, dispute("T-1")))

policy("a card is replaced once it is blocked, and once")
BLOCKED = card(status="blocked")
KNOWN: tuple[Step, ...] = (HELLO, ME, card())
outcomes(
    ROWS,
    "blocked, then replaced",
    KNOWN,
    BLOCK,
    REPLACE,
    After("ask", "reject", seen=([BLOCKED], "allow"), unseen=([card()], "reject")),
)
add("both in one reply", *KNOWN, may("allow", BLOCK), may("ask", REPLACE))
outcomes(
    ROWS,
    "replaced, then again",
    (HELLO, ME, BLOCKED),
    REPLACE,
    REPLACE,
    After(CLOSED, "allow", unknown=CLOSED, unseen=([BLOCKED], "allow or ask")),
)
policy("a limit is raised by day, once in 30 days, to 5000")
outcomes(
    ROWS,
    "raised, then once more",
    KNOWN,
    RAISE,
    call("raise_limit", card_id="K-1", daily_limit=2000),
    After(
        "ask",
        "allow",
        seen=([card(daily_limit=1000, limit_raised_on="2025-03-10")], "reject"),
        unseen=([card()], "allow"),
    ),
)
for raised, accept in (
    ("2025-02-08", "allow"),
    ("2025-02-09", "reject"),
    ("soon", "ask or reject"),
    (None, "allow"),
):
    add(f"raised on {raised}", HELLO, ME, card(limit_raised_on=raised), may(accept, RAISE))
add(
    "another caller in between",
    *KNOWN,
    "And this is my wife",
    caller(customer_id="C-2"),
    may("reject or ask", RAISE),
)
add(
    "one of two refused, the other unheard of",
    *DESK,
    card(),
    [done(transfer(100), REFUSED), done(RAISE, NEVER)],
    "Go on.",
    may("allow", transfer(1200)),
    may("ask", RAISE),
)
