"""The helpers of IRMA and FAMA, with a scripted model."""

from __future__ import annotations

from ledgeragent.bench.helpers import (
    CONSTRAINTS,
    FAMA_LAST,
    HELPERS,
    IRMA,
    PLANNER,
    REFORMULATED,
    SUGGESTIONS,
    Tool,
    View,
    blocks,
    compose,
    fama,
    memory,
)

TOOLS = (
    Tool(name="look", description="Looks.\nMore.", parameters=("id",)),
    Tool(name="act", description="Acts."),
)


def view(*requests: str, latest: str = "") -> View:
    return View(policy="Be fair.", tools=TOOLS, requests=list(requests), latest_return=latest)


def never(instructions: str, question: str) -> str:
    raise AssertionError("no model call is needed here")


def test_memory_keeps_the_last_requests_without_a_model() -> None:
    assert memory(2).build(view("a", "b", "c"), never) == "1. b\n2. c"
    assert memory().build(view("a", "b"), never) == "1. a\n2. b"
    assert not memory().needs_model


def test_constraints_are_a_short_list_or_nothing() -> None:
    asked: list[str] = []

    def ask(instructions: str, question: str) -> str:
        asked.append(question)
        return "\n".join(f"rule {n}" for n in range(12))

    assert CONSTRAINTS.build(view("cancel it"), ask).count("\n") == 7
    assert "Be fair." in asked[0]
    assert "1. cancel it" in asked[0]
    assert CONSTRAINTS.build(view("hi"), lambda i, q: "None.") == ""


def test_suggested_tools_exist() -> None:
    text = "1. look(id) - first\n- `act` - then\ninvented - never"
    assert SUGGESTIONS.build(view("x"), lambda i, q: text) == "1. look(id) - first\n- `act` - then"


def test_a_tool_is_shown_by_its_first_line() -> None:
    assert str(TOOLS[0]) == "look(id): Looks."


def test_output_and_plan() -> None:
    assert REFORMULATED.build(view(), never) == ""
    assert REFORMULATED.build(view(latest="{}"), lambda i, q: f" {q} ") == "{}"
    assert PLANNER.build(view("x"), lambda i, q: "one\ntwo") == "one\ntwo"


def test_irma_puts_the_message_last() -> None:
    helped = blocks(IRMA, view("do it"), lambda i, q: "look - why")
    shown = compose(helped, "do it")
    assert shown.startswith("Requests so far:\n1. do it\n\nRules to respect:\n")
    assert shown.endswith("The customer's message:\ndo it")
    assert compose("", "hi") == "hi"


def test_fama_takes_the_helpers_it_is_told_and_its_own_memory() -> None:
    retail = fama("retail")
    assert [helper.name for helper in retail.helpers] == ["memory", "constraints"]
    assert retail.when == "every_step"
    many = view(*map(str, range(9)))
    assert retail.helpers[0].build(many, never).count("\n") == FAMA_LAST["retail"] - 1
    assert [h.name for h in fama("x", ["planner"]).helpers] == ["planner"]
    assert set(HELPERS) == {"memory", "constraints", "tools", "output", "planner"}
