"""What became of a write: asked once for each tool and text, and never of another's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ledgeragent.absorb import Outcome, outcome_of
from ledgeragent.effects import Write
from ledgeragent.offline.writeoutcomes import WriteOutcomes
from ledgeragent.types import Json, ToolReturn
from tests.lending.domain import Lend


def tool(failed: Callable[[str], bool]) -> Write:
    return Write(tool="lend_book", arguments=Lend, failed=failed)


def returned(content: Json = "sorry, no", **marks: bool) -> ToolReturn:
    return ToolReturn(call_id="c", content=content, **marks)


@pytest.mark.parametrize(("size", "times"), [(9, 1), (20_000, 3)])
def test_a_text_is_asked_about_once_unless_it_is_very_long(size: int, times: int) -> None:
    asked: list[str] = []

    def failed(answer: str) -> bool:
        asked.append(answer)
        return False

    outcomes, lend = WriteOutcomes(), tool(failed)
    for _ in range(3):
        assert outcomes.of(lend, returned("x" * size)) == "executed"
    assert len(asked) == times


@pytest.mark.parametrize(
    ("marks", "outcome"),
    [({}, "executed"), ({"error": True}, "refused"), ({"lost": True}, "lost")],
)
def test_the_same_text_says_another_thing_where_the_return_is_marked(
    marks: dict[str, Any], outcome: Outcome
) -> None:
    outcomes, lend = WriteOutcomes(), tool(lambda answer: False)
    for other in ({}, {"error": True}, {"lost": True}):
        outcomes.of(lend, returned(**other))
    assert outcomes.of(lend, returned(**marks)) == outcome


def test_the_same_text_says_another_thing_of_another_tool() -> None:
    outcomes = WriteOutcomes()
    assert outcomes.of(tool(lambda answer: "sorry" in answer), returned()) == "refused"
    assert outcomes.of(tool(lambda answer: False), returned()) == "executed"
    assert outcomes.of(None, returned()) == "executed"


@pytest.mark.parametrize("content", [{"ok": True}, 7, ["done"], None])
def test_what_is_no_text_is_asked_about_each_time(content: Json) -> None:
    outcomes, lend = WriteOutcomes(), tool(lambda answer: False)
    for _ in range(2):
        assert outcomes.of(lend, returned(content)) == outcome_of(lend, returned(content))
