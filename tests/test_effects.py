"""Effects: what each parser takes, how a route finds its keys, and what a write marks."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from ledgeragent.effects import (
    Read,
    Route,
    Touches,
    Write,
    lost_on_the_way,
    matching,
    one_of,
    structured,
    text,
    touch,
)
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.types import Json, ToolCall

BOOK = PathTemplate("books.{book_id}", dict)
COPY = PathTemplate("books.{book_id}.copies.{number}", dict)


def scan(**more: Any) -> Read[Any]:
    """A read of a copy whose tool calls the book otherwise than the path."""
    rename = {"book_id": "isbn"}
    return Read(tool="scan", to=COPY, parameters=("isbn", "number"), rename=rename, **more)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ('{"a": [1, null]}', {"a": [1, None]}),
        ("{'a': [1, None]}", {"a": [1, None]}),
        ("  ['x']", ["x"]),
        ("(1, 2)", [1, 2]),
        ("7", 7),
        ("'x'", "x"),
    ],
)
def test_a_record_is_json_or_what_python_writes(content: str, value: Json) -> None:
    assert structured(content) == value


@pytest.mark.parametrize("content", ["None", "True", "Ferns", "", "{'a'"])
def test_other_text_is_no_record(content: str) -> None:
    with pytest.raises(ValueError):
        structured(content)


def test_plain_text_is_taken_without_the_space_around_it() -> None:
    assert text(" ada 7 \n") == "ada 7"


def test_an_answer_of_the_right_form_is_taken_without_the_space_around_it() -> None:
    form = matching(r"[a-z]+_\d+", "an id such as ada_7")
    assert form(" ada_7\n") == "ada_7"


@pytest.mark.parametrize("content", ["ADA_7", "xx ada_7", "ada_7 or ada_8"])
def test_an_answer_of_another_form_is_refused_with_what_was_expected(content: str) -> None:
    form = matching(r"[a-z]+_\d+", "an id such as ada_7")
    with pytest.raises(ValueError, match=f"^expected an id such as ada_7, got '{content}'$"):
        form(content)


def test_a_long_answer_of_another_form_is_cut_in_the_refusal() -> None:
    with pytest.raises(ValueError, match=r"^expected a word, got 'x{80}\.\.\.'$"):
        matching("[a-z]", "a word")("x" * 81)


def test_one_of_some_words_is_taken_to_the_letter() -> None:
    form = one_of("in", "on loan", "lost?")
    assert [form(word) for word in ("in", " on loan ", "lost?")] == ["in", "on loan", "lost?"]
    for other in ("lost", "los", "In", "in|on loan", "inon loan"):
        with pytest.raises(ValueError, match=r"^expected one of in, on loan, lost"):
            form(other)


@pytest.mark.parametrize(
    "answer",
    ["upstream TIMED OUT", "502 Bad Gateway", "ECONNRESET", "the connection was unexpectedly lost"],
)
@pytest.mark.parametrize("before", [0, 399, 10_000])
def test_a_failure_on_the_way_is_seen_at_both_ends(answer: str, before: int) -> None:
    padding = "." * (before - len(answer)) if before < 400 else "." * before
    assert lost_on_the_way(f"{padding} {answer}"[-max(before, 100) :])
    assert lost_on_the_way(f"{answer} {'.' * before}")


@pytest.mark.parametrize("answer", ["", "the book is lent", "no such book 5021", "x" * 1000])
def test_a_refusal_is_no_failure_on_the_way(answer: str) -> None:
    assert not lost_on_the_way(answer)


def test_what_stands_in_the_middle_of_a_long_answer_is_not_searched() -> None:
    assert not lost_on_the_way(f"{'.' * 500} ECONNRESET {'.' * 500}")
    assert lost_on_the_way(f"{'.' * 350} ECONNRESET {'.' * 1000}")
    assert lost_on_the_way(f"{'.' * 1000} ECONNRESET {'.' * 350}")


@pytest.mark.parametrize(
    ("record", "arguments", "key"),
    [
        ({"number": "3"}, {"number": "4"}, "3"),
        (MappingProxyType({"number": "3"}), {"number": "4"}, "3"),
        ({"number": None}, {"number": "4"}, "4"),
        ({}, {"number": 4}, "4"),
        ("text", {"number": "4"}, "4"),
        ({"number": 0}, {}, "0"),
        ({"number": ""}, {"number": "4"}, None),
        ({"number": True}, {}, None),
        ({"number": 3.0}, {}, None),
        ({"number": ["3"]}, {}, None),
        ({}, {}, None),
    ],
)
def test_a_key_comes_from_the_record_else_from_the_arguments(
    record: Json, arguments: dict[str, Json], key: str | None
) -> None:
    assert Route(to=COPY).key("number", record, arguments) == key


def test_a_renamed_key_comes_from_the_argument_of_that_name() -> None:
    route = Route(to=COPY, rename={"book_id": "isbn"})
    assert route.key("book_id", {}, {"isbn": "B1", "book_id": "B2"}) == "B1"
    assert route.key("book_id", {"book_id": "B3", "isbn": "B4"}, {"isbn": "B1"}) == "B3"
    assert route.key("number", {}, {"isbn": "B1", "number": "2"}) == "2"


def test_the_call_for_a_path_has_the_arguments_that_the_path_tells() -> None:
    read = scan()
    assert read.call_for(COPY("B1", "2")) == ToolCall(
        name="scan", arguments={"isbn": "B1", "number": "2"}
    )
    assert read.call_for(BOOK("B1")) is None


def test_an_argument_that_the_path_does_not_tell_is_left_out_of_the_call() -> None:
    read = replace(scan(), parameters=("isbn", "email"))
    assert read.call_for(COPY("B1", "2")) == ToolCall(name="scan", arguments={"isbn": "B1"})


def test_a_path_that_the_route_does_not_serve_has_no_call() -> None:
    read = scan(when=lambda arguments: arguments["isbn"].startswith("B"))
    assert read.call_for(COPY("B1", "2")) is not None
    assert read.call_for(COPY("A1", "2")) is None


@pytest.mark.parametrize(
    ("arguments", "complete"),
    [
        ({"isbn": "B1", "number": "2"}, True),
        ({"isbn": "B1", "number": "2", "more": 1}, True),
        ({"isbn": "B1"}, False),
        ({"book_id": "B1", "number": "2"}, False),
        ({}, False),
    ],
)
def test_a_call_is_complete_with_every_parameter_and_every_key(
    arguments: dict[str, Json], complete: bool
) -> None:
    assert scan().complete(ToolCall(name="scan", arguments=arguments)) is complete


def test_a_call_without_a_parameter_that_is_no_key_is_not_complete() -> None:
    read = replace(scan(), parameters=("isbn", "number", "branch"))
    keys = {"isbn": "B1", "number": "2"}
    assert not read.complete(ToolCall(name="scan", arguments=keys))
    assert read.complete(ToolCall(name="scan", arguments={**keys, "branch": "north"}))


def marks(touches: Touches, **arguments: Json) -> list[Touch]:
    return list(touches(arguments, Ledger()))


def test_a_write_marks_the_record_that_its_arguments_name() -> None:
    path: Path[Json] = Path(("books", "B1", "copies", "2"))
    assert marks(touch(COPY), book_id="B1", number=2) == [Touch(path, ())]
    assert marks(touch(COPY, "status", "place.shelf"), book_id="B1", number="2") == [
        Touch(path, ("status",)),
        Touch(path, ("place", "shelf")),
    ]


def test_a_write_that_names_no_record_marks_none() -> None:
    assert marks(touch(COPY), book_id="B1") == []


def test_marks_are_those_of_the_call_however_many_calls_came_before() -> None:
    touches = touch(BOOK, "status")
    for number in [*range(5000), 0, 1]:
        [mark] = marks(touches, book_id=number)
        assert mark == Touch(BOOK(str(number)), ("status",))


def test_a_write_is_lost_where_the_failure_is_one_of_the_transport() -> None:
    write = Write(tool="lend", arguments=dict)
    assert write.lost("504 Gateway Timeout") and not write.lost("no such book")
    assert not write.failed("no such book")
