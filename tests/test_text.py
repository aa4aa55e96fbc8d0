"""Text from outside: what is escaped, what is cut, and how a value is spoken."""

from __future__ import annotations

import json

import pytest

from ledgeragent.text import LONGEST_FACT, Sentence, spoken, visible
from ledgeragent.types import Json


def test_visible_leaves_plain_text_alone() -> None:
    text = "nothing to hide"
    assert visible(text) is text


INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u180e\u200b\u202e\u2060\u3164\ufe0f\ufeff\ufff9\U000e0041\U000e0100"
)


def code_point(character: str) -> str:
    return f"U+{ord(character):04X}"


@pytest.mark.parametrize("hidden", ["\n", "\x1b", "<", ">", "\ud800", *INVISIBLE], ids=code_point)
def test_visible_escapes_what_hides_or_ends_a_block(hidden: str) -> None:
    shown = visible(f"a{hidden}b")
    assert shown.isascii() and shown.isprintable() and hidden not in shown
    assert json.loads(f'"{shown}"') == f"a{hidden}b"


def test_a_sentence_says_some_facts_in_other_words() -> None:
    sentence = Sentence("{who} owes {sum}", {"who": "card 7", "sum": "2"}, {"who": "<you>"})
    assert str(sentence) == "\\u003cyou\\u003e owes 2"


def test_a_sentence_is_written_out_with_facts_that_cannot_end_its_line() -> None:
    sentence = Sentence("{who} owes {sum:.2f}", {"who": "Ada\n<b>", "sum": 2.5}, {})
    assert str(sentence) == "Ada\\u000a\\u003cb\\u003e owes 2.50"


def test_visible_leaves_what_can_be_seen() -> None:
    text = "Grüße, 東京, प्रणाम, 😀"
    assert visible(text) == text


def test_a_character_beyond_the_first_plane_is_escaped_as_json_does() -> None:
    assert visible("a\U000e0041b") == "a\\udb40\\udc41b"


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([], "nothing"),
        (["in"], "in"),
        (["in", "out"], "in or out"),
        (("in", "out", 3), "in, out or 3"),
        ({"b", "a", "c"}, "a, b or c"),
        (frozenset({2, 1}), "1 or 2"),
        ("in", "in"),
        (7.5, 7.5),
        (None, None),
    ],
)
def test_a_value_is_spoken_as_a_sentence_has_it(value: Json, sentence: Json) -> None:
    before = value.copy() if isinstance(value, list) else value
    assert spoken(value) == sentence
    assert value == before


@pytest.mark.parametrize("length", [LONGEST_FACT - 1, LONGEST_FACT, LONGEST_FACT + 1])
def test_text_that_would_drown_its_sentence_is_cut(length: int) -> None:
    text = "x" * length
    shown = text if length <= LONGEST_FACT else "x" * LONGEST_FACT + "..."
    assert spoken(text) == spoken([text]) == shown
    assert spoken([text, "y"]) == f"{shown} or y"
