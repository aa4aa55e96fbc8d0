"""The harness's evaluator, asked for what a task's reward is made of: with a judge where that needs one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import wraps
from typing import Any

from ledgeragent.adapters.tau2 import Wire, harness
from ledgeragent.errors import UsageError

JUDGE = "LEDGERAGENT_JUDGE_LLM"
JUDGE_ARGS = "LEDGERAGENT_JUDGE_LLM_ARGS"
"""The judge's model and its options as JSON, in the environment; the harness's own unless set."""

_JUDGED = "NL_ASSERTION"


def is_judged(task: Wire) -> bool:
    """True if a model has to judge part of the task's reward."""
    criteria = task.evaluation_criteria
    return criteria is not None and _in_basis(task) and bool(criteria.nl_assertions)


def _in_basis(task: Wire) -> bool:
    criteria = task.evaluation_criteria
    kinds = criteria.reward_basis if criteria is not None else ()
    return any(str(getattr(kind, "value", kind)) == _JUDGED for kind in kinds)


def score(
    domain: str,
    task: Wire,
    simulation: Wire,
    judge: bool = True,
    environment: Mapping[str, Any] | None = None,
) -> Wire:
    """The harness's reward; without `judge`, of a task that needs one, the part that needs none.

    `environment` are options of the domain's environment.
    """
    evaluator = harness("tau2.evaluator.evaluator")
    kind = evaluator.EvaluationType.ALL
    if is_judged(task) and not judge:
        task = _unjudged(task)
    elif _in_basis(task):
        kind = getattr(evaluator.EvaluationType, "ALL_WITH_NL_ASSERTIONS", kind)
    options = {"env_kwargs": dict(environment)} if environment else {}
    return evaluator.evaluate_simulation(
        domain=domain,
        task=task,
        simulation=simulation,
        evaluation_type=kind,
        solo_mode=False,
        **options,
    )


def _unjudged(task: Wire) -> Wire:
    criteria = task.evaluation_criteria
    basis = [k for k in criteria.reward_basis if str(getattr(k, "value", k)) != _JUDGED]
    less = criteria.model_copy(update={"reward_basis": basis, "nl_assertions": None})
    return task.model_copy(update={"evaluation_criteria": less})


def ask_the_judge() -> None:
    """Has judged tasks scored by the judge chosen, on the package's line too, whose runner refuses to."""
    _choose_judge()
    runs = harness("tau2.run")
    original = getattr(runs, "evaluate_simulation", None)
    kinds = harness("tau2.evaluator.evaluator").EvaluationType
    if original is None or not hasattr(kinds, "ALL_WITH_NL_ASSERTIONS"):
        return
    if hasattr(original, "__wrapped__"):
        return

    @wraps(original)
    def evaluate(*, task: Wire, evaluation_type: Wire, **options: Any) -> Wire:
        if evaluation_type == kinds.ALL and _in_basis(task):
            evaluation_type = kinds.ALL_WITH_NL_ASSERTIONS
        return original(task=task, evaluation_type=evaluation_type, **options)

    runs.evaluate_simulation = evaluate


def judge_with(model: str, options: Mapping[str, Any]) -> None:
    """Has this model judge, called with these options."""
    judge = harness("tau2.evaluator.evaluator_nl_assertions")
    judge.DEFAULT_LLM_NL_ASSERTIONS = model
    judge.DEFAULT_LLM_NL_ASSERTIONS_ARGS = dict(options)


def _choose_judge() -> None:
    judge = harness("tau2.evaluator.evaluator_nl_assertions")
    model = os.environ.get(JUDGE) or judge.DEFAULT_LLM_NL_ASSERTIONS
    options = judge.DEFAULT_LLM_NL_ASSERTIONS_ARGS
    if text := os.environ.get(JUDGE_ARGS):
        try:
            options = dict(json.loads(text))
        except (ValueError, TypeError) as error:
            raise UsageError(f"{JUDGE_ARGS} is no JSON object: {error}") from None
    judge_with(model, options)
