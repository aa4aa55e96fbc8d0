"""The bank's answers as records: tables printed row by row, and a few sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ledgeragent.types import Json

_TABLE = re.compile(r"^Found (\d+) record\(s\) in '(\w+)':$", re.MULTILINE)
_ROW = re.compile(r"^\d+\. Record ID: .*$", re.MULTILINE)
_FIELD = re.compile(r"   (\w+): ?(.*)")
_NOTHING = re.compile(r"No [\w ]+ found\b", re.IGNORECASE)
_TIME = re.compile(r"The current time is (.+?)\.?", re.DOTALL)
_OPENED = re.compile(r"^  - ([A-Z]\w+(?: [A-Z]\w+)*): (.*)$", re.MULTILINE)
_ORDERED = re.compile(r"^Card ID: (\S+)$", re.MULTILINE)

MONEY = frozenset(
    (
        *("current_holdings", "current_balance", "transaction_amount", "amount"),
        *("credit_limit", "past_due_amount", "daily_atm_limit", "daily_purchase_limit"),
    )
)
"""The fields that hold sums of money."""


def money(printed: Json) -> Json:
    """A printed sum as a float; as it is where it is none."""
    try:
        return float(str(printed).replace("$", "").replace(",", ""))
    except ValueError:
        return printed


def tables(text: str) -> dict[str, list[dict[str, Json]]]:
    """The printed tables by name. ValueError where one has another number of rows than it says."""
    starts = list(_TABLE.finditer(text))
    ends = [*(match.start() for match in starts[1:]), len(text)]
    tables = {}
    for match, end in zip(starts, ends, strict=bool(starts)):
        rows = _rows(text[match.end() : end])
        if len(rows) != int(match[1]):
            raise ValueError(f"{match[2]} has {len(rows)} rows, not {match[1]}")
        tables[match[2]] = rows
    return tables


def _rows(text: str) -> list[dict[str, Json]]:
    rows: list[dict[str, Json]] = []
    for part in _ROW.split(text)[1:]:
        fields = [_FIELD.fullmatch(line) for line in part.strip("\n").split("\n\n")[0].split("\n")]
        if any(match is None for match in fields):
            raise ValueError("a row has a line that is no field")
        row = {match[1]: match[2] for match in fields if match is not None}
        rows.append({name: money(v) if name in MONEY else v for name, v in row.items()})
    return rows


def table(text: str, names: Sequence[str]) -> list[dict[str, Json]]:
    """The rows of the one table that is printed, [] where the answer says that there are none.

    ValueError for another table, and for an answer that is neither.
    """
    printed = tables(text)
    if not printed:
        if _NOTHING.search(text) is None:
            raise ValueError("there is no table")
        return []
    if len(printed) > 1 or not printed.keys() <= set(names):
        raise ValueError(f"a table of {', '.join(printed)}, not of {names[0]}")
    return next(iter(printed.values()))


def nobody(text: str) -> bool:
    """True for the answer that no such customer exists."""
    return text.strip() == "No records found in 'users'."


def customers(text: str) -> Json:
    """The customers that a lookup found."""
    return table(text, ("users",))


def accounts(text: str) -> Json:
    """The bank accounts and credit card accounts of a customer."""
    if "Bank Accounts:" not in text and "credit_card_accounts" not in text:
        raise ValueError("there are no accounts")
    printed = tables(text)
    return {
        "bank": printed.get("accounts", []),
        "cards": printed.get("credit_card_accounts", []),
        "whole": "Bank Accounts:" in text,
    }


def bank_transactions(text: str) -> Json:
    """The transactions of a bank account."""
    return table(text, ("bank_account_transaction_history",))


def purchases(text: str) -> Json:
    """The purchases of a customer with credit cards."""
    return table(text, ("credit_card_transaction_history",))


def any_rows(text: str) -> Json:
    """The rows of the one table there is, whatever it is called."""
    printed = tables(text)
    rows = table(text, list(printed)) if printed else table(text, ("rows",))
    return {"rows": [{name: str(value) for name, value in row.items()} for row in rows]}


def clock(text: str) -> Json:
    """The time that the clock told."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise ValueError("there is no time")
    return match[1]


def opened(text: str) -> Json:
    """The account that was opened, with nothing in it."""
    fields: dict[str, Any] = dict(_OPENED.findall(text))
    return {
        "account_id": fields["Account ID"],
        "user_id": fields["User ID"],
        "class": fields["Account Type"],
        "level": fields["Account Class"],
        "date_opened": fields["Date Opened"],
        "status": fields["Status"],
        "current_holdings": 0.0,
    }


def ordered(text: str) -> Json:
    """The id of the debit card that was ordered; it waits to be activated."""
    match = _ORDERED.search(text)
    if match is None:
        raise ValueError("there is no card")
    return {"card_id": match[1], "status": "PENDING"}
