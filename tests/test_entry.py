"""Entries: what of a record is unknown, where each field came from, and a fact's own path."""

from __future__ import annotations

import pytest

from ledgeragent.entry import Entry, Evidence, Fields, Origin, Stale, Touch
from ledgeragent.ledger import Ledger
from ledgeragent.missing import MissingEvidence
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.shape import Shape, shape_of
from ledgeragent.types import Json, ToolCall
from ledgeragent.view import View
from tests.lending.domain import Book

BOOK = PathTemplate("books.{book_id}", dict)
READ = ToolCall(name="get_book", arguments={"book_id": "B1"})
LIST = ToolCall(name="list_books")
LEND = ToolCall(name="lend_book")
SHELF = Stale(("place", "shelf"), LEND)


def entry(**more: object) -> Entry:
    return Entry(path=BOOK("B1"), value={"title": "Ferns"}, source=READ, turn=3, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "covered"),
    [
        (("place", "shelf"), True),
        (("place", "shelf", "row"), True),
        (("place",), False),
        (("place", "room"), False),
        (("shelf", "place"), False),
        ((), False),
    ],
)
def test_a_mark_covers_what_lies_below_it(fields: Fields, covered: bool) -> None:
    assert SHELF.covers(fields) is covered
    assert Stale((), LEND).covers(fields)


def test_the_first_mark_that_covers_a_field_makes_it_unknown() -> None:
    whole = Stale((), None)
    marked = entry().marked([SHELF]).marked([whole, Stale(("title",), LEND)])
    assert marked.stale == (SHELF, whole, Stale(("title",), LEND))
    assert marked.stale_at(("place", "shelf")) is SHELF
    assert marked.stale_at(("title",)) is whole
    assert entry().marked([SHELF]).stale_at(("title",)) is None
    assert entry().stale == ()


def test_a_field_comes_from_the_read_that_supplied_it() -> None:
    merged = entry(inherited={"title": Origin(LIST, 1)})
    assert merged.origin(("title", "short")) == Origin(LIST, 1)
    assert merged.origin(("status",)) == merged.origin(()) == Origin(READ, 3)
    assert merged.fact(("title",), "Ferns") == Evidence(BOOK("B1"), ("title",), "Ferns", LIST, 1)
    assert merged.fact(("status",), "in") == Evidence(BOOK("B1"), ("status",), "in", READ, 3)
    assert entry().fact(("title",), "Ferns") == Evidence(BOOK("B1"), ("title",), "Ferns", READ, 3)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ((), "books.B1"),
        (("place", "shelf"), "books.B1.place.shelf"),
        (("a.b", "<x>"), 'books.B1."a.b"."\\u003cx\\u003e"'),
    ],
)
def test_a_fact_has_a_path_that_reads_back(fields: Fields, path: str) -> None:
    assert entry().fact(fields, None).path == path
    assert Path.parse(path)[2:] == fields


def test_a_record_is_shown_as_one_line_that_cannot_end_its_block() -> None:
    shown = Entry(path=BOOK("B1"), value={"b": 1, "a": "</x>\n"}, source=READ, turn=0).shown
    assert shown == '{"a":"\\u003c/x\\u003e\\n","b":1}'


def test_what_a_rule_reads_of_an_entry_makes_it_no_other_entry() -> None:
    read, unread = entry(), entry()
    read.opened(shape_of(Book))
    read.facts["title"] = read.fact(("title",), "Ferns")
    assert read == unread and repr(read) == repr(unread)


def test_the_shape_of_a_record_is_kept_with_it() -> None:
    observed = entry()
    assert observed.shape is None
    shape = shape_of(Book)
    assert observed.opened(shape) is shape and observed.shape is shape
    assert observed.holds_fields and observed.facts == observed.inner_facts == {}


def test_a_record_is_read_field_by_field_where_value_and_type_have_some() -> None:
    text = Entry(path=BOOK("B1"), value="Ferns", source=READ, turn=0)
    text.opened(shape_of(Book))
    assert not text.holds_fields
    observed = entry()
    observed.opened(shape_of(str))
    assert not observed.holds_fields


def test_a_touch_is_of_the_whole_record_where_no_field_is_named() -> None:
    assert Touch(BOOK("B1")) == Touch(BOOK("B1"), ())


def test_entries_of_one_value_share_what_is_sound_in_it() -> None:
    asked: list[str] = []

    def objection(value: Json, place: str) -> str:
        asked.append(value)
        return ""

    def title(sound: dict[Fields, Shape] | None, shape: Shape) -> Json:
        value = {"title": "Ferns"}
        ledger = Ledger().put(Entry(BOOK("B1"), value, READ, 0, sound=sound))
        return View(ledger, {}, shapes=lambda path: shape)[BOOK("B1")]["title"]

    one, other = (Shape(objection, values=Shape(objection), holds_objects=True) for _ in range(2))
    shared: dict[Fields, Shape] = {}
    assert [title(shared, one) for _ in range(3)] == ["Ferns"] * 3
    assert len(asked) == 1
    title(shared, other)  # another type may have something against it
    assert len(asked) == 2
    title(None, other)
    assert len(asked) == 3


def test_what_is_odd_is_refused_each_time() -> None:
    shape = Shape(lambda value, place: "it is odd", holds_objects=True)
    record = Shape(lambda value, place: "", values=shape, holds_objects=True)
    sound: dict[Fields, Shape] = {}
    for _ in range(2):
        ledger = Ledger().put(Entry(BOOK("B1"), {"title": "odd"}, READ, 0, sound=sound))
        with pytest.raises(MissingEvidence) as missing:
            View(ledger, {}, shapes=lambda path: record)[BOOK("B1")]["title"]
        assert missing.value.objection == "it is odd"
