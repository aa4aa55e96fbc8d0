"""Paths and templates: written forms, keys, and what is refused."""

from __future__ import annotations

import json

import pytest

from ledgeragent.errors import PathError
from ledgeragent.paths import Path, PathTemplate, quote
from ledgeragent.text import visible

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


@pytest.mark.parametrize("text", ["{a}.b", "a..b", "", "a."])
def test_a_template_begins_with_a_literal_and_has_no_gaps(text: str) -> None:
    with pytest.raises(PathError):
        PathTemplate(text, dict)


def test_a_template_that_made_very_many_paths_makes_the_right_ones() -> None:
    paths = [ORDER(str(n)) for n in range(3000)]
    assert paths == [Path(("orders", str(n))) for n in range(3000)]
    assert ORDER("1") == paths[1]


def test_templates_and_paths_show_themselves() -> None:
    assert repr(ORDER("#W1")) == "Path('orders.#W1')"
    assert repr(ORDER) == "PathTemplate('orders.{order_id}')"


def test_visible_leaves_plain_text_alone() -> None:
    text = "nothing to hide"
    assert visible(text) is text


INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u180e\u200b\u202e\u2060\u3164\ufe0f\ufeff\ufff9\U000e0041\U000e0100"
)


@pytest.mark.parametrize("hidden", ["\n", "\x1b", "<", ">", "\ud800", *INVISIBLE], ids=ascii)
def test_visible_escapes_what_hides_or_ends_a_block(hidden: str) -> None:
    shown = visible(f"a{hidden}b")
    assert shown.isascii() and shown.isprintable() and hidden not in shown
    assert json.loads(f'"{shown}"') == f"a{hidden}b"


def test_visible_leaves_what_can_be_seen() -> None:
    text = "Grüße, 東京, प्रणाम, 😀"
    assert visible(text) == text


def test_quote_keeps_usual_ids_bare() -> None:
    assert [quote(s) for s in ("#W1", "gift_card_7", "a/b", "2024-05-20T10:00")] == [
        "#W1",
        "gift_card_7",
        "a/b",
        "2024-05-20T10:00",
    ]
