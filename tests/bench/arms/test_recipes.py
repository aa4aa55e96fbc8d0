"""IRMA and FAMA: which helpers run, in which order, and where their words go."""

from __future__ import annotations

from typing import Any

import pytest

from ledgeragent.bench.arms.helpers import Ask, Helper, HelperView
from ledgeragent.bench.arms.recipes import FACT, FAMA_LAST, blocks, compose, fama, irma, objections
from ledgeragent.errors import UsageError


def view(*requests: str, pending: str = "") -> HelperView:
    return HelperView(policy="Be fair.", tools=(), requests=list(requests), pending=pending)


class Asking:
    """Answers every helper with its own name; keeps who asked."""

    def __init__(self, answer: str | None = None) -> None:
        self.answer = answer
        self.by: list[str] = []

    def __call__(self, helper: Helper) -> Ask:
        def ask(instructions: str, question: str) -> str:
            self.by.append(helper.name)
            return helper.name if self.answer is None else self.answer

        return ask


def test_irma_asks_two_helpers_and_puts_the_message_last() -> None:
    asking = Asking()
    shown = compose(blocks(irma(), view("do it"), asking), "do it")
    assert asking.by == ["constraints", "tools"]
    assert shown.startswith("Requests so far:\n1. do it\n\nRules to respect:\nconstraints")
    assert shown.endswith("The customer's message:\ndo it")
    assert compose("", "hi") == "hi"
    assert (irma().when, irma().instructions, irma().rewrites) == ("user_turn", FACT, True)


def test_irma_may_remember_by_a_call_and_run_at_every_step() -> None:
    asking = Asking()
    recipe = irma({"memory": "model", "when": "every_step", "keeps": True})
    assert blocks(recipe, view("do it"), asking).startswith("Requests so far:\nmemory")
    assert asking.by == ["memory", "constraints", "tools"]
    assert (recipe.when, recipe.keeps) == ("every_step", True)


@pytest.mark.parametrize("options", [{"when": "never"}, {"memory": "disk"}, {"more": 1}])
def test_irma_has_no_other_options(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="not options of IRMA"):
        irma(options)


def test_fama_takes_the_helpers_it_is_told_and_its_own_memory() -> None:
    retail = fama("retail")
    assert [helper.name for helper in retail.helpers] == ["memory", "constraints"]
    assert (retail.when, retail.verifier, retail.rewrites) == ("every_step", None, False)
    many = view(*map(str, range(9)))
    shown = blocks(fama("retail", ["memory"]), many, Asking())
    assert shown.count("\n") == FAMA_LAST["retail"]
    assert [h.name for h in fama("x", ["planner"]).helpers] == ["planner"]
    assert fama("x", ()).helpers == ()
    with pytest.raises(UsageError, match="no helper oracle"):
        fama("x", ["oracle"])


def test_the_verifier_speaks_after_the_draft_not_before_it() -> None:
    recipe, asking = fama("x", ["verifier", "memory"]), Asking("The amount is wrong.")
    asked = view("pay", pending="pay 5")
    assert "wrong" not in blocks(recipe, asked, asking) and asking.by == []
    told = objections(recipe, asked, asking)
    assert told == "Objections to what you were about to do (pay 5):\nThe amount is wrong."
    assert asking.by == ["verifier"]
    assert objections(recipe, asked, Asking("none")) == ""
    assert objections(fama("x"), asked, asking) == ""
