"""The helpers of IRMA and FAMA, with a scripted model."""

from __future__ import annotations

import pytest

from ledgeragent.bench.arms.helpers import (
    CONDENSED,
    CONSTRAINTS,
    HELPERS,
    PLANNER,
    REFORMULATED,
    SUGGESTIONS,
    VERIFIER,
    Helper,
    HelperView,
    ToolText,
    memory,
)

TOOLS = (
    ToolText(name="look", description="Looks.\nMore.", parameters=("id",)),
    ToolText(name="act", description="Acts."),
)


def view(*requests: str, latest: str = "", whole: bool = False, pending: str = "") -> HelperView:
    return HelperView(
        policy="Be fair.",
        tools=TOOLS,
        whole=whole,
        requests=list(requests),
        calls=['look {"id": 1}'],
        latest_return=latest,
        pending=pending,
    )


def never(instructions: str, question: str) -> str:
    raise AssertionError("no model call is needed here")


def test_memory_keeps_the_last_requests_without_a_model() -> None:
    assert memory(2).build(view("a", "b", "c"), never) == "1. b\n2. c"
    assert memory().build(view("a", "b"), never) == "1. a\n2. b"


def test_a_condensed_memory_takes_a_call() -> None:
    assert CONDENSED.build(view("a"), lambda i, q: "wants a") == "wants a"


def test_constraints_are_a_short_list_or_nothing() -> None:
    asked: list[str] = []

    def ask(instructions: str, question: str) -> str:
        asked.append(question)
        return "\n".join(f"rule {n}" for n in range(12))

    assert CONSTRAINTS.build(view("cancel it"), ask).count("\n") == 7
    assert "Be fair." in asked[0]
    assert "1. cancel it" in asked[0]
    assert CONSTRAINTS.build(view("hi"), lambda i, q: "None.") == ""


@pytest.mark.parametrize("helper", [CONSTRAINTS, SUGGESTIONS, PLANNER])
def test_only_a_whole_view_tells_of_calls_and_returns(helper: Helper) -> None:
    asked: list[str] = []

    def ask(instructions: str, question: str) -> str:
        asked.append(question)
        return ""

    helper.build(view("x", latest="found"), ask)
    helper.build(view("x", latest="found", whole=True), ask)
    assert ["look {" in text and "found" in text for text in asked] == [False, True]


def test_suggested_tools_exist() -> None:
    text = "1. look(id) - first\n- `act` - then\ninvented - never"
    assert SUGGESTIONS.build(view("x"), lambda i, q: text) == "1. look(id) - first\n- `act` - then"


def test_a_tool_is_shown_by_its_first_line() -> None:
    assert str(TOOLS[0]) == "look(id): Looks."


def test_output_and_plan() -> None:
    assert REFORMULATED.build(view(), never) == ""
    assert REFORMULATED.build(view(latest="{}"), lambda i, q: f" {q} ") == "{}"
    assert PLANNER.build(view("x"), lambda i, q: "one\ntwo") == "one\ntwo"


def test_the_verifier_is_shown_what_is_pending_and_may_have_nothing_against_it() -> None:
    pending = 'act {"id": 2}'
    assert VERIFIER.build(view("x", pending=pending), lambda i, q: "None") == ""
    asked: list[str] = []

    def ask(instructions: str, question: str) -> str:
        asked.append(question)
        return "a\nb\nc\nd"

    assert VERIFIER.build(view("x", pending=pending), ask) == "a\nb\nc"
    assert asked[0].endswith(f"The agent is about to:\n{pending}")


def test_the_pool_has_six_that_say_what_they_are_for() -> None:
    assert list(HELPERS) == ["memory", "constraints", "tools", "output", "planner", "verifier"]
    assert len({helper.does for helper in HELPERS.values()}) == 6
