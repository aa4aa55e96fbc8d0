"""Offers: a list of tools is read once, and never taken for another."""

from __future__ import annotations

from typing import Any

import pytest

from ledgeragent.gateway import wirejson
from ledgeragent.gateway.dialects import offering
from ledgeragent.gateway.dialects.base import OfferedTool
from ledgeragent.gateway.dialects.offering import offered_tools
from ledgeragent.gateway.errors import BadRequestError


def listing(*names: Any) -> dict[str, Any]:
    return {"tools": [{"name": name} for name in names]}


class Reader:
    """Reads names, and counts what it was asked to read."""

    def __init__(self) -> None:
        self.read = 0

    def __call__(self, tool: Any, number: int) -> OfferedTool | None:
        self.read += 1
        if tool["name"] is None:
            raise BadRequestError(f"tools[{number}]: should have a name")
        return OfferedTool(str(tool["name"])) if tool["name"] else None


def names(body: dict[str, Any], reader: Reader) -> list[str]:
    return [tool.name for tool in offered_tools(body, reader)]


@pytest.fixture(autouse=True)
def nothing_read_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offering, "_OFFERED", {})


def test_a_list_that_was_read_is_not_read_again() -> None:
    pytest.importorskip("orjson")
    reader = Reader()
    assert names(listing("a", "", "b"), reader) == ["a", "b"]
    assert names(listing("a", "", "b"), reader) == ["a", "b"] and reader.read == 3


@pytest.mark.parametrize("other", [("b", "a"), ("a",), ("a", "b", "c"), (1, True), ("1", "True")])
def test_another_list_is_another(other: tuple[Any, ...]) -> None:
    reader = Reader()
    names(listing("a", "b"), reader)
    names(listing(1.0, 1), reader)
    assert names(listing(*other), reader) == [str(name) for name in other]


def test_another_reader_reads_it_itself() -> None:
    one, other = Reader(), Reader()
    names(listing("a"), one)
    names(listing("a"), other)
    assert one.read == other.read == 1


def test_one_that_is_refused_is_refused_again() -> None:
    reader = Reader()
    for _ in range(2):
        with pytest.raises(BadRequestError, match=r"tools\[1\]"):
            names(listing("a", None), reader)
    assert reader.read == 4


def test_it_is_read_each_time_where_nobody_can_tell_it_from_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader = Reader()
    assert names(listing("\ud800"), reader) == names(listing("\ud800"), reader)
    monkeypatch.setattr(wirejson, "orjson", None)
    assert names(listing("a"), reader) == names(listing("a"), reader)
    assert reader.read == 4


def test_few_are_kept_and_none_that_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("orjson")
    monkeypatch.setattr(offering, "_MOST_LISTINGS", 3)
    monkeypatch.setattr(offering, "_LONGEST_LISTING", 100)
    reader = Reader()
    for number in range(10):
        names(listing(f"tool {number}"), reader)
        assert len(offering._OFFERED) <= 3
    before = dict(offering._OFFERED)
    names(listing("a" * 100), reader)
    assert before == offering._OFFERED
