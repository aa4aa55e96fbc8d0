"""Absorb: which returns become records, which do not, and why."""

from __future__ import annotations

import json
from typing import Any, TypedDict

import pytest

from ledgeragent.absorb import Absorption, absorb
from ledgeragent.domain import Domain
from ledgeragent.effects import Read, Untyped, Write, text, touch
from ledgeragent.gate import MALFORMED, Gate
from ledgeragent.ledger import Ledger
from ledgeragent.paths import PathTemplate
from ledgeragent.render import render
from ledgeragent.types import Json, Reply, ToolCall, ToolReturn
from ledgeragent.verdict import Decision
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
    answer,
    call,
    read,
)

LIST = call("list_books", word="fern")
FIND = call("find_member", email="ada@example.org")
B1 = BOOK("B1")
LIST_BOOKS = call("list_books", word="fern")


def taken(to: ToolCall, content: Json, *, error: bool = False, ledger: Ledger | None = None) -> Any:
    """What a return of exactly this content does to a ledger (an empty one by default)."""
    returned = ToolReturn(call_id=to.id, content=content, error=error)
    return absorb(ledger or Ledger(), to, returned, LIBRARY)


def skipped(absorption: Absorption) -> str:
    """Why nothing was stored; fails if something was."""
    assert absorption.stored == ()
    assert absorption.skipped is not None
    return absorption.skipped


def test_a_read_is_stored_whole_at_its_path_with_its_source() -> None:
    absorption = taken(GET_BOOK, json.dumps(BOOK_IN))
    entry = absorption.ledger.get(B1)
    assert absorption.stored == (B1,)
    assert (entry.value, entry.source, entry.typed) == (BOOK_IN, GET_BOOK, True)


def test_a_decoded_return_is_as_good_as_text() -> None:
    assert taken(GET_BOOK, BOOK_IN).ledger == taken(GET_BOOK, json.dumps(BOOK_IN)).ledger


def test_text_that_begins_with_error_is_a_failure_whatever_its_flag_says() -> None:
    absorption = taken(FIND, "Error: user not found")
    assert skipped(absorption) == "the read failed"
    assert absorption.ledger.get(AUTH()) is None


def test_the_error_flag_is_a_failure_whatever_the_text_says() -> None:
    assert skipped(taken(GET_BOOK, json.dumps(BOOK_IN), error=True)) == "the read failed"


def test_json_inside_a_failed_read_is_no_record() -> None:
    absorption = taken(GET_BOOK, f"Error: not now {json.dumps(BOOK_IN)}")
    assert skipped(absorption) == "the read failed"


def test_a_failure_leaves_the_earlier_observation() -> None:
    again = taken(GET_BOOK, "Error: try later", ledger=BOTH_READ)
    assert again.ledger == BOTH_READ


def test_a_failure_that_will_not_mend_is_remembered_as_such() -> None:
    gone = taken(GET_BOOK, "Error: the book was withdrawn").ledger
    later = taken(GET_BOOK, "Error: try later").ledger
    assert gone.unavailable == {GET_BOOK.intent: "Error: the book was withdrawn"}
    assert later.unavailable == {}


@pytest.mark.parametrize(
    "content",
    ["", "not json", "{", '"text"', "[1, 2]", "null", "7", '{"book_id": NaN}', "[" * 100_000],
)
def test_what_is_no_record_is_noted_as_text_that_says_nothing(content: str) -> None:
    absorption = taken(GET_BOOK, content)
    assert skipped(absorption) and absorption.problems
    [entry] = absorption.ledger
    assert (entry.path, entry.typed, entry.value) == (B1, False, content)


def test_an_answer_that_says_nothing_leaves_what_another_read_observed() -> None:
    listed = taken(LIST_BOOKS, json.dumps([BOOK_IN])).ledger
    assert taken(GET_BOOK, "not json", ledger=listed).ledger == listed
    own = taken(GET_BOOK, json.dumps(BOOK_IN)).ledger
    assert [e.typed for e in taken(GET_BOOK, "not json", ledger=own).ledger] == [False]


def test_the_key_of_a_path_comes_from_the_record_else_from_the_arguments() -> None:
    nameless = {name: value for name, value in BOOK_IN.items() if name != "book_id"}
    assert taken(GET_BOOK, json.dumps(nameless)).stored == (B1,)
    other = {**BOOK_IN, "book_id": "B2"}
    assert taken(GET_BOOK, json.dumps(other)).stored == (BOOK("B2"),)


@pytest.mark.parametrize("key", [None, True, 1.5, ["B1"], ""])
def test_a_record_without_a_usable_key_has_no_path(key: Json) -> None:
    to = ToolCall(name="get_book", arguments={"book_id": key})
    reason = skipped(taken(to, json.dumps({"title": "Ferns"})))
    assert "book_id" in reason


def test_a_number_as_key_is_the_same_key_as_its_text() -> None:
    to = ToolCall(name="get_book", arguments={"book_id": 17})
    assert taken(to, json.dumps({"title": "Ferns"})).stored == (BOOK("17"),)


def test_a_list_is_fanned_out_to_one_path_an_item() -> None:
    books = [{"book_id": "B1", "title": "Ferns"}, {"book_id": "B2", "title": "Moss"}]
    assert taken(LIST, json.dumps(books)).stored == (B1, BOOK("B2"))


def test_a_list_with_an_item_that_is_no_record_is_not_stored_in_part() -> None:
    absorption = taken(LIST, json.dumps([{"book_id": "B1", "title": "Ferns"}, "Moss"]))
    assert skipped(absorption)
    assert len(absorption.ledger) == 0


def test_an_empty_list_stores_nothing_and_is_no_problem() -> None:
    absorption = taken(LIST, "[]")
    assert (absorption.stored, absorption.skipped) == ((), None)


def test_a_list_merges_with_the_details_read_before() -> None:
    short = [{"book_id": "B1", "title": "Ferns", "status": "out"}]
    entry = taken(LIST, json.dumps(short), ledger=BOTH_READ).ledger.get(B1)
    assert entry.value == {**BOOK_IN, "status": "out"}
    assert (entry.origin(("status",)).source, entry.origin(("shelf",)).source) == (LIST, GET_BOOK)


def test_an_answer_that_says_nothing_leaves_a_merged_record_as_it_was() -> None:
    seen = PathTemplate("seen", dict[str, str])
    route = Read(tool="find", to=seen, parse=text, merge=True, records=_one_word)
    domain = Domain(name="d", version="1", tools=(route,))
    find = call("find", email="ada@example.org")
    first = absorb(Ledger(), find, ToolReturn(call_id=find.id, content="ada"), domain).ledger
    again = absorb(first, find, ToolReturn(call_id=find.id, content="not today"), domain)
    assert again.skipped is not None
    assert again.ledger.get(seen()) == first.get(seen())


def _one_word(value: Json, arguments: Any) -> list[Json]:
    if " " in value:
        raise ValueError("a sentence is no id")
    return [{value: "found"}]


def test_a_return_of_a_megabyte_is_stored_whole() -> None:
    long = {**BOOK_IN, "title": "x" * 1_000_000}
    entry = taken(GET_BOOK, json.dumps(long)).ledger.get(B1)
    assert entry.value == long


@pytest.mark.parametrize(
    "key", ["a.b", "#1", 'say "hi"', "line\nbreak", "</ledger>", "ünï", " ", "0" * 10_000]
)
def test_odd_ids_are_paths_of_their_own(key: str) -> None:
    to = ToolCall(name="get_book", arguments={"book_id": key})
    absorption = taken(to, json.dumps({**BOOK_IN, "book_id": key}), ledger=BOTH_READ)
    assert absorption.stored == (BOOK(key),)
    assert absorption.ledger.get(B1) == BOTH_READ.get(B1)


def test_ids_that_look_alike_are_different_records() -> None:
    latin, cyrillic = "BA1", "BА1"
    ledger = read(
        (call("get_book", book_id=latin), {**BOOK_IN, "book_id": latin}),
        (call("get_book", book_id=cyrillic), {**BOOK_IN, "book_id": cyrillic, "status": "out"}),
    )
    assert [ledger.get(BOOK(key)).value["status"] for key in (latin, cyrillic)] == ["in", "out"]  # type: ignore[union-attr]


@pytest.mark.parametrize("levels", [250, 900, 5_000])
def test_a_return_that_is_nested_deep_stops_nobody(levels: int) -> None:
    absorption = taken(GET_BOOK, f'{{"book_id": "B1", "status": "in", "shelf": {tower(levels)}}}')
    assert render(absorption.ledger).endswith("</ledger>")
    # Between the two, how deep JSON may be is the Python's to say: 3.12 reads less than the others.
    if levels != 900:
        assert bool(absorption.stored) == (levels == 250)


def test_arguments_that_are_nested_too_deep_are_sent_back_however_they_come() -> None:
    deep = ToolCall.parse(name="lend_book", arguments=json.loads(nested(500)), id="1")
    filtered = Gate(domain=LIBRARY).filter(Reply(calls=(deep,)), BOTH_READ)
    assert filtered.verdicts[0].findings[0].predicate == MALFORMED


def test_malformed_arguments_of_a_read_store_nothing() -> None:
    to = ToolCall.parse(name="get_book", arguments='{"book_id": ', id="1")
    assert skipped(taken(to, json.dumps(BOOK_IN))) == "the arguments of the call were not an object"


def tower(levels: int) -> str:
    return "[" * levels + "]" * levels


def nested(levels: int) -> str:
    return f'{{"book_id": {tower(levels)}}}'


@pytest.mark.parametrize(
    "arguments",
    [
        '{"days": NaN}',
        "[1]",
        "null",
        '"text"',
        "{",
        "1",
        *(pytest.param(nested(n), id=f"{n} levels") for n in (250, 900, 5_000)),
    ],
)
def test_arguments_that_are_no_json_object_are_kept_as_they_came_and_sent_back(
    arguments: str,
) -> None:
    to = ToolCall.parse(name="lend_book", arguments=arguments, id="1")
    assert to.arguments == {} and to.malformed in (arguments, "arguments that are nested too deep")
    verdict = Gate(domain=LIBRARY).judge(to, BOTH_READ)
    assert verdict.decision is Decision.REVISE
    assert verdict.findings[0].predicate == MALFORMED


def test_a_number_that_arrives_as_text_is_that_number() -> None:
    gate = Gate(domain=LIBRARY)
    long, short = (call("lend_book", member_id="M1", book_id="B1", days=d) for d in ("29", "14"))
    decisions = [gate.judge(c, BOTH_READ).decision for c in (long, short)]
    assert decisions == [Decision.REVISE, Decision.ALLOW]


def test_an_executed_write_is_remembered_and_marks_the_fields_it_changes() -> None:
    ledger = taken(LEND, json.dumps({**BOOK_IN, "status": "out"}), ledger=BOTH_READ).ledger
    book, member = ledger.get(B1), ledger.get(MEMBER("M1"))
    assert ledger.writes == (LEND,)
    assert [mark.fields for mark in (*book.stale, *member.stale)] == [("status",), ("loans",)]


def test_what_a_write_returns_is_no_observation() -> None:
    ledger = taken(LEND, json.dumps({**BOOK_IN, "status": "lost"}), ledger=BOTH_READ).ledger
    assert ledger.get(B1).value == BOOK_IN


@pytest.mark.parametrize(("content", "error"), [("Error: no", False), ("done", True)])
def test_a_failed_write_changes_nothing(content: str, error: bool) -> None:
    absorption = taken(LEND, content, error=error, ledger=BOTH_READ)
    assert absorption.ledger == BOTH_READ
    assert skipped(absorption) == "the write failed and changed nothing"


def test_an_unknown_tool_counts_as_a_write_that_touches_nothing_known() -> None:
    burn = call("burn_book", book_id="B1")
    ledger = taken(burn, "done", ledger=BOTH_READ).ledger
    assert ledger.writes == (burn,)
    assert ledger.get(B1) == BOTH_READ.get(B1)


def test_a_neutral_tool_changes_nothing() -> None:
    absorption = taken(call("call_librarian", note="help"), "coming", ledger=BOTH_READ)
    assert absorption.ledger == BOTH_READ


def test_reading_again_after_a_write_makes_known_again() -> None:
    lent = taken(LEND, "done", ledger=BOTH_READ).ledger
    fresh = absorb(lent, GET_BOOK, answer(GET_BOOK, BOOK_IN), LIBRARY).ledger
    assert fresh.get(B1).stale == ()  # type: ignore[union-attr]
    assert fresh.get(MEMBER("M1")).stale != ()  # type: ignore[union-attr]


def test_reading_somebody_else_leaves_who_was_found_first() -> None:
    ledger = read((FIND, "M1"), (GET_MEMBER, ADA))
    friend = {**ADA, "member_id": "M2", "name": "Bo"}
    to = call("get_member", member_id="M2")
    ledger = absorb(ledger, to, answer(to, friend), LIBRARY).ledger
    assert ledger.get(AUTH()).value == "M1"  # type: ignore[union-attr]
    assert {str(entry.path) for entry in ledger} == {"auth.member_id", "members.M1", "members.M2"}


class Slip(TypedDict):
    """A record printed as text."""

    slip_id: str
    due: str


class Extend(TypedDict):
    """Arguments of `extend_slip`."""

    slip_id: str


SLIP = PathTemplate("slips.{slip_id}", Slip)


def _slip(content: str) -> Json:
    title, _, rest = content.partition("\n")
    if not title.startswith("Slip "):
        raise ValueError("no slip")
    if not rest.startswith("Due: "):
        return Untyped(content)
    return {"slip_id": title.removeprefix("Slip "), "due": rest.removeprefix("Due: ")}


PRINTED = Domain(
    name="printed",
    version="1",
    tools=(
        Read(
            tool="get_slip",
            to=SLIP,
            parameters=("slip_id",),
            parse=_slip,
            failed=lambda answer: answer.endswith("not found."),
        ),
        Read(tool="whoami", to=AUTH, parse=text),
        Write(
            tool="extend_slip",
            arguments=Extend,
            touches=(touch(SLIP, "due"),),
            failed=lambda answer: answer.endswith("not found."),
        ),
    ),
)
GET_SLIP = call("get_slip", slip_id="S1")
EXTEND = call("extend_slip", slip_id="S1")


def printed(to: ToolCall, content: str, ledger: Ledger = Ledger()) -> Absorption:  # noqa: B008
    """What a text answer of the printing library does."""
    returned = ToolReturn(call_id=to.id, content=content)
    return absorb(ledger, to, returned, PRINTED)


def test_a_parser_makes_a_record_of_text() -> None:
    entry = printed(GET_SLIP, "Slip S1\nDue: 2024-05-01").ledger.get(SLIP("S1"))
    assert entry is not None
    assert (entry.value, entry.typed) == ({"slip_id": "S1", "due": "2024-05-01"}, True)


def test_text_that_the_parser_cannot_turn_into_a_record_is_kept_and_known_to_be_untyped() -> None:
    entry = printed(GET_SLIP, "Slip S1\n(smudged)", Ledger().heard()).ledger.get(SLIP("S1"))
    assert entry is not None
    assert (entry.value, entry.typed, entry.turn) == ("Slip S1\n(smudged)", False, 1)


def test_text_that_is_something_else_stores_nothing_and_says_what_the_parser_said() -> None:
    assert skipped(printed(GET_SLIP, "closed today")) == "no slip"


def test_a_failure_in_ordinary_words_is_one_where_the_route_knows_the_words() -> None:
    assert skipped(printed(GET_SLIP, "Slip S1 not found.")) == "the read failed"
    ledger = printed(GET_SLIP, "Slip S1\nDue: 2024-05-01").ledger
    assert printed(EXTEND, "Slip S1 not found.", ledger).ledger == ledger
    assert printed(EXTEND, "extended", ledger).ledger.writes == (EXTEND,)


def test_a_tool_that_answers_with_an_id_is_stored_as_that_text() -> None:
    entry = printed(call("whoami"), "M1").ledger.get(AUTH())
    assert entry is not None
    assert entry.value == "M1"
