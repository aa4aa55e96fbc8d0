"""Paths: whatever a segment holds, the written form names it, on one line, and reads back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.paths import Path, PathTemplate

from .world import searched, words

ANY = PathTemplate("family.{one}.fixed.{two}", dict)


@searched
@given(st.lists(words, min_size=1, max_size=4))
def test_the_written_form_reads_back(segments: list[str]) -> None:
    path: Path[object] = Path(segments)
    assert Path.parse(str(path)) == path


@searched
@given(st.lists(words, min_size=1, max_size=4), st.lists(words, min_size=1, max_size=4))
def test_two_paths_never_share_a_written_form(one: list[str], other: list[str]) -> None:
    assert (str(Path(one)) == str(Path(other))) == (one == other)


@searched
@given(st.lists(words, min_size=1, max_size=4))
def test_the_written_form_is_one_line_that_ends_no_block(segments: list[str]) -> None:
    text = str(Path(segments))
    assert text.isascii()
    assert text.isprintable()
    assert "<" not in text
    assert ">" not in text


@searched
@given(words, words)
def test_a_template_finds_the_keys_it_was_filled_with(one: str, two: str) -> None:
    path = ANY(one, two)
    assert ANY.match(path) == {"one": one, "two": two}
