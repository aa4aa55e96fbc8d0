"""The library's gate and the states that its tests judge in."""

from __future__ import annotations

from dataclasses import replace

from ledgeragent.domain import Domain
from ledgeragent.gate import Gate
from ledgeragent.predicates import (
    Broken,
    Predicate,
    View,
    predicate,
)
from ledgeragent.types import Json
from ledgeragent.verdict import Kind, Verdict
from tests.lending.domain import (
    ADA,
    BOOK,
    BOOK_OUT,
    GET_BOOK,
    GET_MEMBER,
    LIBRARY,
    call,
    read,
)

GATE = Gate(domain=LIBRARY)
OUT = read((GET_MEMBER, ADA), (GET_BOOK, BOOK_OUT))
OWING = read((GET_MEMBER, {**ADA, "fines": 2.5}), (GET_BOOK, BOOK_OUT))
LONG = call("lend_book", member_id="M1", book_id="B1", days=99)


def with_rules(*rules: Predicate) -> Domain:
    return replace(LIBRARY, predicates=(*LIBRARY.predicates, *rules))


def kinds(verdict: Verdict) -> list[tuple[str, Kind]]:
    return [(finding.predicate, finding.kind) for finding in verdict.findings]


def raising(error: BaseException) -> Predicate:
    def check(arguments: Json, ledger: View) -> Broken | None:
        assert ledger[BOOK("B1")]["status"]
        raise error

    return predicate("lending/broken", guards="lend_book")(check)
