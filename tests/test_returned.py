"""What a tool returned, out of its wrapping: hosts and servers pack the same value in several ways."""

from __future__ import annotations

import json
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.absorb import absorb
from ledgeragent.domain import Domain
from ledgeragent.effects import Read, matching, structured, text
from ledgeragent.ledger import Ledger
from ledgeragent.paths import PathTemplate
from ledgeragent.returned import Content, parse_literal, parse_return, shortened, unwrapped
from ledgeragent.types import Json, ToolCall, ToolReturn, is_error
from tests.lending.domain import Book

WHO = PathTemplate("who", str)
NAME = PathTemplate("name", str)
BOOK = PathTemplate("books.{book_id}", Book)
DOMAIN = Domain(
    name="wrapped",
    version="1",
    tools=(
        Read(tool="who", to=WHO, parse=matching(r"[a-z]+_\d+", "an id such as ada_7")),
        Read(tool="name", to=NAME, parse=text),
        Read(tool="get_book", to=BOOK, parameters=("book_id",)),
        Read(tool="list_books", to=BOOK, records=lambda value, _: list(value)),
    ),
)
RECORD = {"book_id": "B1", "title": "Ferns", "status": "in"}


def stored(tool: str, content: Json) -> list[Json]:
    call = ToolCall(name=tool, arguments={"book_id": "B1"}, id="1")
    ledger = absorb(Ledger(), call, ToolReturn(call_id="1", content=content), DOMAIN).ledger
    return [entry.value for entry in ledger if entry.typed]


@pytest.mark.parametrize(
    "content",
    [
        "ada_7",
        " ada_7\n",
        '"ada_7"',
        '{"result": "ada_7"}',
        {"result": "ada_7"},
        "{'result': 'ada_7'}",
        [{"type": "text", "text": "ada_7"}],
        [{"type": "text", "text": '{"result": "ada_7"}'}],
        json.dumps(json.dumps("ada_7")),
    ],
)
def test_an_id_is_read_out_of_every_wrapping(content: Json) -> None:
    assert stored("who", content) == ["ada_7"]


@pytest.mark.parametrize("content", ["Unavailable", "ADA_7", "ada_7 or ada_8", "", None, 7, []])
def test_what_is_no_id_is_evidence_of_nothing(content: Json) -> None:
    assert stored("who", content) == []


@pytest.mark.parametrize(
    "content",
    [
        RECORD,
        json.dumps(RECORD),
        repr(RECORD),
        json.dumps(json.dumps(RECORD)),
        {"result": RECORD},
        json.dumps({"result": RECORD}),
        json.dumps({"result": json.dumps(RECORD)}),
        repr({"result": RECORD}),
        [{"type": "text", "text": json.dumps(RECORD)}],
        [{"type": "text", "text": repr(RECORD)}],
    ],
)
def test_a_record_is_read_out_of_every_wrapping(content: Json) -> None:
    assert stored("get_book", content) == [RECORD]


class Score(TypedDict):
    """A record with fields that are called as hosts call their wrappings."""

    result: str
    content: NotRequired[list[Json]]


SCORE = PathTemplate("scores.{game}", Score)
OWN = Domain(
    name="own",
    version="1",
    tools=(
        Read(tool="score", to=SCORE, parameters=("game",)),
        Read(
            tool="scores",
            to=SCORE,
            parameters=("game",),
            records=lambda value, _: value["result"],
            envelope=("result",),
        ),
    ),
)


@pytest.mark.parametrize("write", [json.dumps, repr, lambda value: value])
@pytest.mark.parametrize(
    "record",
    [{"result": "2:1"}, {"result": "2:1", "content": [{"type": "text", "text": "late"}]}],
)
def test_a_field_of_the_record_is_no_wrapping(write: Any, record: Json) -> None:
    assert _scores("score", write(record)) == [record]
    assert _scores("score", write({"output": record})) == [record]


@pytest.mark.parametrize("write", [json.dumps, repr, lambda value: value])
def test_a_field_around_the_records_is_no_wrapping(write: Any) -> None:
    several = {"result": [{"result": "2:1"}]}
    assert _scores("scores", write(several)) == [{"result": "2:1"}]


def _scores(tool: str, content: Json) -> list[Json]:
    call = ToolCall(name=tool, arguments={"game": "g"}, id="1")
    ledger = absorb(Ledger(), call, ToolReturn(call_id="1", content=content), OWN).ledger
    return [entry.value for entry in ledger if entry.typed]


@pytest.mark.parametrize(
    "content",
    [
        {"customer": "ada_7"},
        '{"customer": "ada_7"}',
        "{'customer': Decimal('7')}",
        "[{'customer': 'ada_7'}]",
        [{"type": "text", "text": "Customer:"}, {"type": "text", "text": "ada_7"}],
    ],
)
def test_what_is_no_plain_text_never_becomes_one(content: Json) -> None:
    """An object stored as somebody's id would belong to nobody: each rule over it would be broken."""
    assert stored("name", content) == []


def test_blocks_that_each_hold_a_record_are_a_list_of_them() -> None:
    texts = [{"type": "text", "text": json.dumps({**RECORD, "book_id": f"B{n}"})} for n in (1, 2)]
    image = {"type": "image", "data": "", "mimeType": "image/png"}
    assert [r["book_id"] for r in stored("list_books", [*texts, image])] == ["B1", "B2"]


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{'a':" * 5_000 + "1", "-" * 200_000 + "1", "1" + "+1j" * 50_000, '"' * 9],
)
def test_no_text_is_too_odd_to_be_unread(text: str) -> None:
    for content in (text, json.dumps({"result": text}), f"['{text}"):
        assert stored("get_book", content) == []


def test_an_error_inside_a_wrapping_is_one() -> None:
    assert stored("name", {"result": "Error: nobody is here"}) == []


@given(st.recursive(st.one_of(st.none(), st.integers(), st.text()), st.lists))
def test_what_is_not_wrapped_stays_as_it_is(value: Json) -> None:
    plain = {"result": value, "more": 1}
    assert unwrapped(plain) == plain
    assert unwrapped({"result": plain}) == plain


@pytest.mark.parametrize(
    "content", ["{1, 2}", "[b'x']", "{'a': float('nan')}", "(lambda: 1)()", "{'a'"]
)
def test_only_what_json_can_say_is_read_from_python(content: str) -> None:
    with pytest.raises(ValueError, match="Python"):
        structured(content)


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        ([{"type": "text", "text": "a"}, {"type": "output_text", "text": "b"}], "a\nb"),
        ([{"type": "input_text", "text": ""}], ""),
        ([{"type": "image", "text": "a"}], None),
        ([{"type": "text", "text": "a"}, {"type": "image"}], "a"),
        ([{"type": "text", "text": "a"}, {"type": "riddle"}], None),
        ([{"type": "text", "text": 7}], None),
        ([{"text": "a"}], None),
        (["text"], None),
        ([], None),
    ],
)
def test_blocks_of_text_are_one_text_and_other_lists_stay(blocks: Json, text: str | None) -> None:
    assert unwrapped(blocks) == (blocks if text is None else text)


@pytest.mark.parametrize(
    "content",
    ['{"result": 1, "more": 2}', '{"results": 1}', "[1]", "7", '"', '{"result"', "result", '""x'],
)
def test_text_that_wraps_nothing_stays_text(content: str) -> None:
    assert unwrapped(content) == content


@pytest.mark.parametrize("content", ['{"result": "x"}', ' {  "result": "x"}', '\n"x"'])
def test_text_that_wraps_a_value_is_opened_whatever_space_is_before(content: str) -> None:
    assert unwrapped(content) == "x"


def result(text: str = "a", **more: Json) -> Json:
    """A tool result as MCP has it."""
    return {"content": [{"type": "text", "text": text}], **more}


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (result(isError=False), "a"),
        (result(isError=False, structuredContent=None, _meta={}), "a"),
        (result(isError=True), "Error: a"),
        (result(is_error=True), "Error: a"),
        (result("Error 7", isError=True), "Error 7"),
        (result(structuredContent={"a": 1, "b": 2}), {"a": 1, "b": 2}),
        (result(isError=True, structuredContent={"a": 1, "b": 2}), "Error: a"),
    ],
)
def test_a_tool_result_of_mcp_is_opened(content: Json, value: Json) -> None:
    assert unwrapped(content) == unwrapped(json.dumps(content)) == value


@pytest.mark.parametrize(
    "content",
    [
        {"content": [], "isError": True},
        {"content": "", "is_error": True},
        {"content": None, "is_error": True},
        {"is_error": True},
        {"isError": True, "content": [{"type": "text", "text": ""}]},
        {"isError": True, "structuredContent": {}},
    ],
)
@pytest.mark.parametrize("write", [json.dumps, repr, lambda value: value])
def test_an_error_without_a_word_is_still_one(write: Any, content: Json) -> None:
    assert is_error(unwrapped(write(content)))
    assert stored("get_book", write(content)) == stored("name", write(content)) == []


TWICE = '{"book_id": "B1", "title": "Ferns", "status": "in", "status": "out"}'


@pytest.mark.parametrize(
    "content",
    [
        TWICE,
        TWICE.replace('"', "'"),
        json.dumps(TWICE),
        f'{{"result": {TWICE}}}',
        json.dumps({"result": TWICE}),
        [{"type": "text", "text": TWICE}],
        [{"type": "text", "text": json.dumps(RECORD)}, {"type": "text", "text": TWICE}],
        [{"type": "text", "text": json.dumps(RECORD)}, {"type": "text", "text": '{"book_id": "B'}],
        [{"type": "text", "text": "[1, "}, {"type": "text", "text": json.dumps(RECORD)}],
        '{"result": {"book_id": "B2"}, "result": ' + json.dumps(RECORD) + "}",
    ],
)
def test_what_can_be_read_in_two_ways_or_in_part_is_no_evidence(content: Json) -> None:
    call = ToolCall(name="get_book", arguments={"book_id": "B1"}, id="1")
    absorption = absorb(Ledger(), call, ToolReturn(call_id="1", content=content), DOMAIN)
    assert absorption.stored == () and absorption.problems != ()


def test_a_label_beside_a_record_is_no_hindrance() -> None:
    texts = [{"type": "text", "text": text} for text in ("Here it is:", json.dumps(RECORD))]
    assert stored("get_book", texts) == [RECORD]


@pytest.mark.parametrize(
    "content",
    [
        result(title="Ferns"),
        {"content": "a", "isError": False},
        {"CONTENT": [{"type": "text", "text": "a"}], "isError": False},
        {"blocks": [{"type": "text", "text": "a"}]},
    ],
)
def test_an_object_that_is_no_tool_result_stays(content: Json) -> None:
    assert unwrapped(content) == content


@pytest.mark.parametrize(
    ("own", "is_wrapping"),
    [({"type", "text"}, False), ({"type"}, True), ({"text"}, True), (set(), True)],
)
def test_a_list_of_records_that_look_like_blocks_is_no_text(
    own: set[str], is_wrapping: bool
) -> None:
    blocks = [{"type": "text", "text": "a"}]
    assert unwrapped(blocks, own=own) == ("a" if is_wrapping else blocks)


@pytest.mark.parametrize("content", [result(isError=False), result()])
def test_a_field_that_the_record_declares_is_no_wrapping(content: Json) -> None:
    assert unwrapped(content, own={"content"}) == content
    assert unwrapped({"result": "a"}, own={"result"}) == {"result": "a"}
    assert unwrapped({"result": "a"}, own={"content"}) == "a"


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("7", 7),
        ('["x"]', ["x"]),
        ('{"result": {"a": 1}}', {"a": 1}),
        ('{"result": {"a": 1}, "more": 2}', {"result": {"a": 1}, "more": 2}),
    ],
)
def test_a_parsed_value_is_unwrapped_only_where_it_is_an_object_of_one_field(
    content: str, value: Json
) -> None:
    assert parse_return(content, content, structured) == value


def test_wrappings_are_opened_so_often_and_no_more() -> None:
    value: Json = "x"
    for depth in range(1, 8):
        value = {"result": value}
        assert unwrapped(value) == ("x" if depth <= 6 else {"result": "x"})


def test_a_literal_is_read_as_json_would_have_it() -> None:
    assert parse_literal(" {'a': (1, None), 'b': True}\n") == {"a": [1, None], "b": True}
    with pytest.raises(ValueError, match=r"^neither JSON nor Python's text for a value: "):
        parse_literal("{'a': object()}")


@pytest.mark.parametrize(("length", "shown"), [(80, "x" * 80), (81, "x" * 80 + "...")])
def test_a_long_text_is_cut_in_a_message(length: int, shown: str) -> None:
    assert shortened("x" * length) == shown


def test_a_literal_that_is_too_long_is_not_tried() -> None:
    with pytest.raises(ValueError, match="short enough"):
        parse_literal("[" + "1," * 600_000 + "]")


@dataclass
class Taker:
    """A route, as far as an answer knows one."""

    parse: Callable[[str], Json]
    own: Container[str] = ()


def test_routes_with_one_parser_share_what_it_read() -> None:
    texts: list[str] = []

    def parse(text: str) -> Json:
        texts.append(text)
        return [text]

    answer = Content("x")
    assert answer.value(Taker(parse)) is answer.value(Taker(parse)) and texts == ["x"]
    assert answer.value(Taker(str.upper)) == "X"
    assert Content("").value(Taker(parse)) == [""] and texts == ["x", ""]


def test_what_is_an_own_field_to_one_route_is_a_wrapping_to_another() -> None:
    for raw in ({"result": "a"}, '{"result": "a"}'):
        answer = Content(raw)
        assert answer.value(Taker(structured, {"result"})) == {"result": "a"}
        assert answer.value(Taker(str.upper)) == "A"
    assert Content({"result": 7}).value(Taker(structured)) == 7
