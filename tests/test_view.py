"""A rule's view: what is noted, under which path, and what is refused with which words."""

from __future__ import annotations

from typing import Any

import pytest

from ledgeragent.entry import Evidence, Stale
from ledgeragent.ledger import Ledger, Touch, Unconfirmed, UnconfirmedGround
from ledgeragent.missing import MissingEvidence
from ledgeragent.paths import Path
from ledgeragent.types import Json, ToolCall
from ledgeragent.view import Record, View
from tests.lending.domain import (
    ADA,
    AUTH,
    BOOK,
    BOOK_IN,
    BOTH_READ,
    GET_BOOK,
    GET_MEMBER,
    LEND,
    LIBRARY,
    MEMBER,
    call,
    read,
)

M1, B1 = MEMBER("M1"), BOOK("B1")


def view(ledger: Ledger = BOTH_READ) -> View:
    return View(ledger, LIBRARY.parameters, shapes=LIBRARY.shape)


def record(seen: View, path: Path[Any] = M1) -> Record:
    opened = seen[path]
    assert isinstance(opened, Record)
    return opened


def touched(*fields: str) -> Ledger:
    """Both read, then these fields of the member written."""
    return BOTH_READ.wrote(LEND, [Touch(M1, tuple(f.split("."))) for f in fields])


def refused(look: Any) -> MissingEvidence:
    """What a look at something asks for."""
    with pytest.raises(MissingEvidence) as missing:
        look()
    return missing.value


def facts(seen: View) -> list[tuple[str, Json]]:
    return [(fact.path, fact.value) for fact in seen.evidence]


def test_a_field_is_noted_under_its_own_path_however_often_its_name_occurs() -> None:
    odd = {**ADA, "address": {"street": "Dam 1", "city": "Delft", "name": "Home"}}
    seen = view(read((GET_MEMBER, odd)))
    for _ in range(2):
        member = record(seen)
        assert (member["name"], member["address"]["name"], member["name"]) == ("Ada", "Home", "Ada")
    noted = [("members.M1.name", "Ada"), ("members.M1.address.name", "Home")]
    assert facts(seen) == [*noted, noted[0]] * 2


def test_a_field_that_the_type_demands_and_the_record_lacks_is_told() -> None:
    lacking = view(read((GET_BOOK, {"book_id": "B1", "title": "Ferns"})))
    missing = refused(lambda: record(lacking, B1)["status"])
    assert (missing.path, missing.fields) == (B1, ("status",))
    assert missing.objection == "its answer has no `status`"
    assert refused(lambda: record(lacking, B1)["shelf"]).objection == ""


def test_a_field_that_the_record_lacks_may_have_come_since_it_was_read() -> None:
    stale = view(touched("nickname"))
    missing = refused(lambda: record(stale)["nickname"])
    assert missing.stale == Stale(("nickname",), LEND)
    assert refused(lambda: record(view(touched("name")))["nickname"]).stale is None


def test_the_fields_of_a_record_are_known_though_one_of_them_has_changed() -> None:
    member = record(view(touched("fines", "address.city")))
    assert list(member) == list(ADA) and len(member) == len(ADA) and "fines" in member


@pytest.mark.parametrize("ledger", [BOTH_READ, touched("address.street")])
def test_which_fields_a_record_has_is_one_fact_however_often_it_is_asked(ledger: Ledger) -> None:
    seen = view(ledger)
    for _ in range(3):
        assert "city" in record(seen)["address"]
    assert len(seen.evidence) == 3 and len({id(fact) for fact in seen.evidence}) == 1


def test_an_object_at_once_is_one_fact() -> None:
    seen = view()
    for _ in range(2):
        assert record(seen).at_once("address") == ADA["address"]
    assert facts(seen) == [("members.M1.address", ADA["address"])] * 2
    assert type(record(seen).at_once("address")) is dict
    assert record(seen).at_once("name") == "Ada"
    assert seen.evidence[-1] == Evidence(M1, ("name",), "Ada", GET_MEMBER, 0)


def test_an_object_at_once_that_has_changed_in_part_is_a_record() -> None:
    seen = view(touched("address.city"))
    address = record(seen).at_once("address")
    assert isinstance(address, Record) and address["street"] == "Dam 1"
    assert refused(lambda: address["city"]).stale is not None


def test_an_object_at_once_that_is_not_what_its_type_declares_is_refused() -> None:
    odd = view(read((GET_MEMBER, {**ADA, "address": {"street": "Dam 1", "city": 7}})))
    missing = refused(lambda: record(odd).at_once("address"))
    assert missing.objection == "address.city should be text, not 7"
    assert missing.fields == ("address",) and odd.evidence == []
    assert refused(lambda: record(odd)["address"]["city"]).objection == missing.objection


def test_a_record_that_lacks_a_field_lacks_it_at_once_too() -> None:
    assert refused(lambda: record(view()).at_once("nickname")).fields == ("nickname",)


def test_a_plain_value_is_noted_each_time_and_refused_where_it_is_odd() -> None:
    who = read((call("find_member", email="ada@example.com"), "M1"))
    seen = view(who)
    assert seen[AUTH()] == seen[AUTH()] == "M1"
    assert facts(seen) == [("auth.member_id", "M1")] * 2
    odd = read((call("find_member", email="ada@example.com"), 7))
    assert AUTH() not in view(odd) and view(odd).get(AUTH()) is None


@pytest.mark.parametrize("look", [lambda r: r.plain(), lambda r: dict(r), lambda r: r["title"]])
def test_a_record_that_was_written_is_refused_whatever_is_asked_of_it(look: Any) -> None:
    seen = view(BOTH_READ.wrote(LEND, [Touch(B1)]))
    missing = refused(lambda: look(record(seen, B1)))
    assert missing.path == B1 and missing.stale == Stale((), LEND)
    assert seen.evidence == []


def test_what_is_said_is_heard_by_speaker() -> None:
    ledger = Ledger().uttered("agent", "Hello").uttered("user", "Ferns?").uttered("user", "Now.")
    assert view(ledger).said("user") == ("Ferns?", "Now.")
    assert view(ledger).said("agent") == ("Hello",)


def test_writes_in_doubt_count_among_the_writes_and_a_look_at_them_is_noted() -> None:
    move = ToolCall(name="move_member")
    seen = view(BOTH_READ.wrote(LEND, []).doubted(move, [], running=True))
    assert not seen.looked_back
    assert seen.writes == (LEND, move) and seen.looked_back


def test_ground_that_is_not_sure_names_the_writes_in_doubt() -> None:
    doubts = (Unconfirmed(LEND, running=True),)
    assert UnconfirmedGround(doubts).doubts == doubts


def test_evidence_is_asked_for_by_a_path() -> None:
    with pytest.raises(TypeError, match=r"is no Path; its PathTemplate makes one"):
        MissingEvidence(("books", "B1"))  # type: ignore[arg-type]


def test_a_family_is_given_with_its_paths() -> None:
    seen = view(read((GET_BOOK, BOOK_IN)))
    assert [(path, book["status"]) for path, book in seen.glob(BOOK)] == [(B1, "in")]
    assert facts(seen) == [("books.B1.status", "in")]
