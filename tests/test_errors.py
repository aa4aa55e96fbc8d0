"""Errors: where the mistake is, and the line that mends it."""

from __future__ import annotations

from ledgeragent.errors import DataError, MissingExtraError


def test_a_file_that_cannot_be_used_is_named_with_the_line() -> None:
    error = DataError("no object", file="runs.jsonl", line=0)
    assert str(error) == "runs.jsonl:0: no object"
    assert (error.problem, error.file, error.line) == ("no object", "runs.jsonl", 0)


def test_a_mistake_of_a_whole_file_has_no_line() -> None:
    error = DataError("it is empty", file="runs.jsonl")
    assert str(error) == "runs.jsonl: it is empty" and error.line is None


def test_a_library_that_is_missing_is_named_with_the_command_that_installs_it() -> None:
    assert str(MissingExtraError("aiohttp", "gateway")) == (
        "aiohttp is not installed; run: pip install 'ledgeragent[gateway]' "
        "(in a checkout: pip install '.[gateway]')"
    )
