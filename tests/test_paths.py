"""Paths and templates: written forms, keys, and what is refused."""

from __future__ import annotations

import re

import pytest

from ledgeragent.errors import PathError
from ledgeragent.paths import Path, PathTemplate, quote
from tests.lending.domain import Book

ORDER = PathTemplate("orders.{order_id}", dict)
ITEM = PathTemplate("orders.{order_id}.items.{item_id}", dict)
USER = PathTemplate("auth.user_id", str)


@pytest.mark.parametrize(
    ("segments", "written"),
    [
        (("orders", "#W1"), "orders.#W1"),
        (("users", "a.b@example.com"), 'users."a.b@example.com"'),
        (("x", 'say "hi"'), 'x."say \\"hi\\""'),
        (("x", "two\nlines"), 'x."two\\nlines"'),
        (("x", ""), 'x.""'),
        (("x", "Zoë"), 'x."Zo\\u00eb"'),
        (("x", "</ledger>"), 'x."\\u003c/ledger\\u003e"'),
    ],
)
def test_a_path_has_one_written_form(segments: tuple[str, ...], written: str) -> None:
    assert str(Path(segments)) == written
    assert Path.parse(written) == Path(segments)


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", 'a."b', 'a."b"c', 'a"b"'])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(PathError):
        Path.parse(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "cannot read path '' at character 0"),
        ("a.", "cannot read path 'a.' at character 2"),
        ("a..b", "cannot read path 'a..b' at character 2"),
        ('a"b"', "expected '.' at character 1 of path 'a\"b\"'"),
        ('a."b"c', "expected '.' at character 5 of path 'a.\"b\"c'"),
    ],
)
def test_a_path_that_cannot_be_read_is_shown_with_the_place(text: str, problem: str) -> None:
    with pytest.raises(PathError, match=f"^{re.escape(problem)}$"):
        Path.parse(text)


def test_a_template_says_whether_its_records_have_declared_fields() -> None:
    assert PathTemplate("books.{book_id}", Book).holds_objects
    assert not ORDER.holds_objects and not USER.holds_objects
    assert PathTemplate("books.{book_id}", Book).record is Book


def test_a_literal_inside_a_template_has_to_match() -> None:
    line = PathTemplate("orders.{order_id}.items.first", dict)
    assert line.match(line("#W1")) == {"order_id": "#W1"}
    assert not line.fits(Path(("orders", "#W1", "items", "last")))
    assert not line.fits(Path(("orders", "#W1", "parcels", "first")))
    assert not line.fits(Path(("carts", "#W1", "items", "first")))
    assert not line.fits(Path(("orders", "#W1", "items")))


def test_a_template_makes_and_matches_paths() -> None:
    path = ITEM("#W1", "7")
    assert path == ("orders", "#W1", "items", "7")
    assert ITEM.match(path) == {"order_id": "#W1", "item_id": "7"}
    assert ORDER.match(path) is None
    assert ITEM.match(Path(("orders", "#W1", "parcels", "7"))) is None
    assert ITEM.keys == ("order_id", "item_id")


def test_a_template_without_keys_is_one_path() -> None:
    assert USER() == Path.parse("auth.user_id")
    assert USER.match(USER()) == {}


@pytest.mark.parametrize("keys", [(), ("a", "b"), (1,), (None,)])
def test_keys_are_as_many_as_the_template_names_and_text(keys: tuple[str, ...]) -> None:
    with pytest.raises(PathError, match=r"orders\.\{order_id\}"):
        ORDER(*keys)


def test_a_wrong_number_of_keys_and_a_key_that_is_no_text_are_told_apart() -> None:
    with pytest.raises(PathError, match=r"^orders\.\{order_id\} takes 1 keys, got 2$"):
        ORDER("a", "b")
    with pytest.raises(PathError, match=r"^the keys of orders\.\{order_id\} are text, got \(1,\)$"):
        ORDER(1)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["{a}.b", "a..b", "", "a."])
def test_a_template_begins_with_a_literal_and_has_no_gaps(text: str) -> None:
    with pytest.raises(PathError, match=f"path template {text!r}"):
        PathTemplate(text, dict)


def test_a_template_that_made_very_many_paths_makes_the_right_ones() -> None:
    paths = [ORDER(str(n)) for n in range(3000)]
    assert paths == [Path(("orders", str(n))) for n in range(3000)]
    assert ORDER("1") == paths[1]


def test_templates_and_paths_show_themselves() -> None:
    assert repr(ORDER("#W1")) == "Path('orders.#W1')"
    assert repr(ORDER) == "PathTemplate('orders.{order_id}')"


def test_quote_keeps_usual_ids_bare() -> None:
    assert [quote(s) for s in ("#W1", "gift_card_7", "a/b", "2024-05-20T10:00")] == [
        "#W1",
        "gift_card_7",
        "a/b",
        "2024-05-20T10:00",
    ]
