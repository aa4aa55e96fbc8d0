"""Lookups that are put right, told from lookups of somebody else."""

from __future__ import annotations

import pytest

from ledgeragent.packs.lookups import are_alike, corrects
from ledgeragent.types import ToolCall


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("ada@example.com", "ada@example.com", True),
        ("ad@example.com", "ada@example.com", True),
        ("daa@example.com", "ada@example.com", True),
        ("ada.lund@example.com", "ada@example.com", False),
        ("bo@example.com", "ada@example.com", False),
        ("abc", "", False),
        ("ab", "", True),
        ("a" * 300, "a" * 300, False),
    ],
)
def test_texts_are_alike_that_differ_in_two_letters_at_most(
    one: str, other: str, alike: bool
) -> None:
    assert are_alike(one, other) is alike
    assert are_alike(other, one) is alike


def find(name: str = "find", **who: object) -> ToolCall:
    return ToolCall(name=name, arguments=who)


def test_a_correction_is_the_same_lookup_with_a_letter_changed() -> None:
    typed = find(first="Ada", last="Lund", zip="97301")
    assert corrects(find(first="Ada", last="Lund", zip="97310"), typed)
    assert corrects(find(first="Ida", last="Lund", zip="97301"), typed)
    assert not corrects(find(first="Ada", last="Lund", zip="10001"), typed)
    assert not corrects(find(first="Bo", last="Lund", zip="97301"), typed)
    assert not corrects(find(first="ada ", last="Lund", zip="97301"), typed)
    assert not corrects(find("other", first="Ida", last="Lund", zip="97301"), typed)
