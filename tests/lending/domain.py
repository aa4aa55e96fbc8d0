"""A lending library, small enough to read: the domain that the tests of the core share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NotRequired, TypedDict

from ledgeragent.absorb import absorb
from ledgeragent.domain import Domain
from ledgeragent.effects import Neutral, Read, Write, touch
from ledgeragent.ledger import Ledger
from ledgeragent.paths import PathTemplate
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.types import Arguments, Json, ToolCall, ToolReturn
from ledgeragent.verdict import Decision


class Address(TypedDict):
    """Where a member lives."""

    street: str
    city: str


class Member(TypedDict):
    """Somebody who borrows."""

    member_id: str
    name: str
    fines: float
    address: Address
    loans: list[str]


class Book(TypedDict):
    """Something to borrow; the catalogue leaves the shelf out."""

    book_id: str
    title: str
    status: str
    shelf: NotRequired[str]


class Lend(TypedDict):
    """Arguments of `lend_book`."""

    member_id: str
    book_id: str
    days: int


class Move(TypedDict):
    """Arguments of `move_member`."""

    member_id: str
    city: str


class Shelve(TypedDict):
    """Arguments of `shelve_book`."""

    book_id: str


class Note(TypedDict):
    """Arguments of `call_librarian`."""

    note: str


AUTH = PathTemplate("auth.member_id", str)
MEMBER = PathTemplate("members.{member_id}", Member)
BOOK = PathTemplate("books.{book_id}", Book)


def _each(found: Json, arguments: Arguments) -> Iterable[Json]:
    return list(found)


TOOLS = (
    Read(tool="find_member", to=AUTH, parameters=("email",)),
    Read(tool="get_member", to=MEMBER, parameters=("member_id",)),
    Read(
        tool="get_book",
        to=BOOK,
        parameters=("book_id",),
        unavailable=lambda answer: "withdrawn" in answer,
    ),
    Read(tool="list_books", to=BOOK, parameters=("word",), records=_each, merge=True),
    Write(
        tool="lend_book", arguments=Lend, touches=(touch(BOOK, "status"), touch(MEMBER, "loans"))
    ),
    Write(tool="move_member", arguments=Move, touches=(touch(MEMBER, "address.city"),)),
    Write(tool="shelve_book", arguments=Shelve, touches=(touch(BOOK),)),
    Neutral(tool="call_librarian", arguments=Note),
)


@predicate("lending/days", guards="lend_book")
def days(call: Lend, ledger: View) -> Broken | None:
    """A loan lasts no longer than the library allows."""
    longest = ledger.parameters["longest_loan"]
    if call["days"] <= longest:
        return None
    return violation(
        "a loan of {days} days is too long: {longest} at most", days=call["days"], longest=longest
    )


@predicate("lending/available", guards="lend_book")
def available(call: Lend, ledger: View) -> Broken | None:
    """A book that is out cannot be lent."""
    status = ledger[BOOK(call["book_id"])]["status"]
    if status == "in":
        return None
    return violation("book {book} is {status}", book=call["book_id"], status=status)


@predicate("lending/fines", guards="lend_book", decision=Decision.BLOCK)
def fines(call: Lend, ledger: View) -> Broken | None:
    """Nobody who owes borrows."""
    owed = ledger[MEMBER(call["member_id"])]["fines"]
    return violation("{owed:.2f} are owed", owed=owed) if owed else None


LIBRARY = Domain(
    name="lending",
    version="1",
    tools=TOOLS,
    predicates=(days, available, fines),
    parameters={"longest_loan": 28},
)

ADA = {
    "member_id": "M1",
    "name": "Ada",
    "fines": 0.0,
    "address": {"street": "Dam 1", "city": "Delft"},
    "loans": ["B9"],
}
BOOK_IN = {"book_id": "B1", "title": "Ferns", "status": "in", "shelf": "C4"}
BOOK_OUT = {**BOOK_IN, "status": "out"}


def call(name: str, id: str = "", **arguments: Json) -> ToolCall:
    """A call of one of the library's tools."""
    return ToolCall(name=name, arguments=arguments, id=id or name)


GET_MEMBER = call("get_member", member_id="M1")
GET_BOOK = call("get_book", book_id="B1")
LEND = call("lend_book", member_id="M1", book_id="B1", days=14)


def answer(to: ToolCall, content: Json, error: bool = False) -> ToolReturn:
    """What a tool answers, as text."""
    text = content if isinstance(content, str) and error else json.dumps(content)
    return ToolReturn(call_id=to.id, content=text, error=error)


def read(*answers: tuple[ToolCall, Json], domain: Domain = LIBRARY) -> Ledger:
    """The ledger after these calls were answered."""
    ledger = Ledger()
    for to, content in answers:
        ledger = absorb(ledger, to, answer(to, content), domain).ledger
    return ledger


BOTH_READ = read((GET_MEMBER, ADA), (GET_BOOK, BOOK_IN))
