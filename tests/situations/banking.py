"""The bank's situations, from its clauses alone, through the one tool that stands before the others."""

from __future__ import annotations

import json
from typing import Any

from ledgeragent.types import ToolCall
from tests.packs.banking_knowledge.talk import ACCOUNTS, CARDS, PERSON, USER, VERIFIED, through

from .rows import NEVER, Answered, Call, Parts, Rows, Step, done, may

ROWS = Rows("banking_knowledge", "all")
add, policy = ROWS.add, ROWS.policy
HELLO = "Hi, I'm Ada Lund"


def read(tool: str, answer: Any, **arguments: Any) -> Answered:
    return done(through(tool, **arguments), answer)


def accounts(answer: Any = ACCOUNTS, user: str = USER) -> Answered:
    return read("get_all_user_accounts_by_user_id_3847", answer, user_id=user)


def cards(**changes: Any) -> Answered:
    listed = [{**json.loads(CARDS)[0], **changes}]
    return read("get_debit_cards_by_account_id_7823", listed, account_id="chk_1")


def transfer(amount: Any, source: str = "chk_1", destination: str = "sav_1") -> ToolCall:
    tool = "transfer_funds_between_bank_accounts_7291"
    ids = {"source_account_id": source, "destination_account_id": destination}
    return through(tool, **ids, amount=amount)


def pin(number: Any, last: str = "4821") -> ToolCall:
    card = {"card_id": "dbc_1", "last_4_digits": last}
    return through("reset_debit_card_pin_6284", **card, new_pin=number)


FREEZE = through("freeze_debit_card_3892", card_id="dbc_1")
UNFREEZE = through("unfreeze_debit_card_3893", card_id="dbc_1")
VERIFY = done(VERIFIED, "Verification logged successfully.")
KNOWN: tuple[Step, ...] = (HELLO, VERIFY, accounts())
PROFILED: Answered = ("get_user_information_by_id", {"user_id": USER}, PERSON)
WITH_CARD: tuple[Step, ...] = (*KNOWN, cards())

policy("what moves is a positive amount that the source account has")
for amount, accept in (
    (1250.5, "allow"),
    (1250.51, "reject"),
    (0, "reject"),
    (-1, "reject"),
    (True, "reject"),
    (None, "reject"),
    ([1], "reject"),
    (1e300, "reject"),
    ("1,250.50", "reject"),
):
    add(f"{amount!r} of 1250.50", *KNOWN, may(accept, transfer(amount)))
poor = ACCOUNTS.replace("1,250.50", "5.00")
add("less at the second look", *KNOWN, accounts(poor), may("reject", transfer(100)))
add(
    "more at the second look",
    HELLO,
    VERIFY,
    accounts(poor),
    accounts(),
    may("allow", transfer(100)),
)
for text in ("-3.00", "plenty", ""):
    odd = accounts(ACCOUNTS.replace("1,250.50", text))
    add(f"it holds {text!r}", HELLO, VERIFY, odd, may("reject or ask", transfer(1)))

policy("money moves between two different open accounts of the customer")
add("to itself", *KNOWN, may("reject", transfer(1, destination="chk_1")))
add("to one never seen", *KNOWN, may("ask", transfer(1, destination="chk_9")))
closed = accounts(
    ACCOUNTS.replace(
        "status: OPEN\n   current_holdings: 1", "status: CLOSED\n   current_holdings: 1"
    )
)
add("from a closed one", HELLO, VERIFY, closed, may("reject", transfer(1)))
stranger = accounts(ACCOUNTS.replace(USER, "bob_2"), "bob_2")
add("a stranger's", HELLO, VERIFY, stranger, may("reject or ask", transfer(1)))
add(
    "a table with a row too few",
    HELLO,
    VERIFY,
    accounts(ACCOUNTS.replace("Found 2", "Found 3")),
    may("ask", transfer(1)),
)
add("in content parts", HELLO, VERIFY, accounts(Parts(ACCOUNTS)), may("allow", transfer(1)))
add("as a result", HELLO, VERIFY, accounts({"result": ACCOUNTS}), may("allow", transfer(1)))
add("behind an error", HELLO, VERIFY, accounts(f"Error: {ACCOUNTS}"), may("ask", transfer(1)))

policy("the customer is verified, and that is logged, before their records are changed")
add("not verified", HELLO, accounts(), may("reject or ask", transfer(1)))
add(
    "not logged",
    HELLO,
    done(VERIFIED, "Error: busy"),
    accounts(),
    may("reject or ask", transfer(1)),
)
add("perhaps logged", HELLO, done(VERIFIED, NEVER), accounts(), may("ask", transfer(1)))
add("verified, nothing read", HELLO, VERIFY, may("ask", transfer(1)))

policy("replies of several writes, and writes whose result is lost or failed")
add(
    "twice more than it holds",
    *KNOWN,
    may("allow", transfer(1000)),
    may("ask", transfer(1000)),
    not_all=True,
)
add("there and back", *KNOWN, may("allow", transfer(1)), may("ask", transfer(1, "sav_1", "chk_1")))
add("lost, again", *KNOWN, done(transfer(1000), NEVER), may("ask", transfer(1000)))
add("done, again", *KNOWN, done(transfer(1000), "Moved."), may("ask", transfer(1000)))
add(
    "refused, again",
    *KNOWN,
    done(transfer(1000), "Error: not unlocked"),
    may("allow", transfer(1000)),
)
add("frozen and unfrozen", *WITH_CARD, may("allow", FREEZE), may("reject or ask", UNFREEZE))
add("frozen twice", *WITH_CARD, may("allow", FREEZE), may("ask", FREEZE), not_all=True)
add("money and a card", *WITH_CARD, may("allow", transfer(1)), may("allow", FREEZE))

policy("what can be done with a card follows from its status")
for status, accept in (
    ("ACTIVE", "allow"),
    ("FROZEN", "reject"),
    ("PENDING", "reject"),
    ("CLOSED", "reject"),
    ("INACTIVE", "reject"),
    ("ACTIVE\u0000", "ask"),
    (None, "ask"),
    (["ACTIVE"], "ask"),
):
    add(f"freeze {status!r}", *KNOWN, cards(status=status), may(accept, FREEZE))
add("unfreeze a frozen one", *KNOWN, cards(status="FROZEN"), may("allow", UNFREEZE))
add("a stranger's card", *KNOWN, cards(user_id="bob_2"), may("reject", FREEZE))
for number, accept in (
    ("7294", "allow"),
    ("1234", "reject"),
    ("4321", "reject"),
    ("0000", "reject"),
    ("1990", "reject"),
    ("0412", "reject"),
    ("729", "reject"),
    ("72 94", "reject"),
    ("\uff17\uff12\uff19\uff14", "reject"),
    ("", "reject"),
    (None, "reject"),
    (7294, "reject"),
):
    add(f"PIN {number!r}", *WITH_CARD, PROFILED, may(accept, pin(number)))
add("the last digits of another card", *WITH_CARD, PROFILED, may("reject", pin("7294", "4812")))

policy("a call of a tool that stands before others names one of them, with its arguments")
DOOR = FREEZE.name
for arguments in ({"arguments": "{}"}, {"agent_tool_name": 3, "arguments": "{}"}, {}):
    add(f"no tool: {arguments}", *WITH_CARD, Call(DOOR, arguments, "reject"))
named = FREEZE.arguments["agent_tool_name"]
for carried in ("card dbc_1", "[]", '{"card_id": "dbc_1", "card_id": "dbc_2"}', 7):
    odd = {"agent_tool_name": named, "arguments": carried}
    add(f"arguments {carried!r}", *WITH_CARD, Call(DOOR, odd, "reject"))
as_object = {"agent_tool_name": named, "arguments": {"card_id": "dbc_1"}}
add("arguments as an object", *WITH_CARD, Call(DOOR, as_object, "allow"))
