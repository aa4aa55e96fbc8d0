"""Gate and judge on random worlds: agreement where everything was read, no guesses where it was not.

`LEDGERAGENT_SOUNDNESS_CALLS=100000` judges that many calls per domain; without it a few thousand.
"""

from __future__ import annotations

import ast
import os
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ledgeragent import Domain, Enforcement, Gate, Write

from .listing import listing
from .properties import problems
from .run import run
from .scene import make_scene
from .worlds import WORLDS, domain_of

CALLS = int(os.environ.get("LEDGERAGENT_SOUNDNESS_CALLS", "2500"))

SUBSUMED = {
    "retail/order-observed",
    "retail/once-per-order",
    "airline/reservation-observed",
    "airline/compensation-delay-after-change",
    "telecom/customer-identified",
    "telecom/transfer-untried",
    "telehealth/transfer-untried",
}
"""Rules without which others still stop the call, or that no record alone can decide."""

every_domain = pytest.mark.parametrize("name", sorted(WORLDS))


def agree_on_one_call(name: str, domain: Domain, *, full: bool) -> None:
    """Raises AssertionError with a readable case where gate and judge disagree."""
    gate = Gate(domain=domain)

    @settings(
        max_examples=max(60, CALLS // 100),
        deadline=None,
        derandomize=True,
        database=None,
        report_multiple_bugs=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=False))
    def agree(rng: Random) -> None:
        scene = make_scene(rng, gate.domain, WORLDS[name], full=full)
        call = scene.propose(rng)
        found = problems(rng, gate, scene, call, full=full)
        assert not found, listing(gate, scene, call, found)

    agree()


@pytest.mark.parametrize("full", [True, False], ids=["observed", "partial"])
@every_domain
def test_gate_and_judge_agree(name: str, full: bool) -> None:
    agree_on_one_call(name, domain_of(name), full=full)


@every_domain
def test_gate_and_judge_agree_on_many_calls(name: str) -> None:
    tally = run(name, CALLS)
    assert tally.calls == CALLS
    assert not tally.disagreements, "\n\n".join(tally.examples.values())
    assert tally.broken["(none)"] > CALLS / 5, "too few sound calls to say anything"


@every_domain
def test_every_rule_is_put_to_the_test(name: str) -> None:
    """Calls break the clause of every enforced rule, so that the agreement says something of it."""
    domain = domain_of(name)
    broken = run(name, 3000, seed=1).broken
    rules = {r for r in domain.predicates if r.enforcement is Enforcement.ENFORCE}
    logged_in = f"{domain.name}/authenticated"
    assert {r.id for r in rules if not broken[r.clause]} <= SUBSUMED | {logged_in}


def without(domain: Domain, rule: str) -> Domain:
    assert any(r.id == rule for r in domain.predicates)
    return replace(domain, predicates=tuple(r for r in domain.predicates if r.id != rule))


@pytest.mark.parametrize(
    "rule",
    [
        "airline/bags-no-removal",
        "retail/refund-destination",
        "telecom/resume-bills-paid",
        "telehealth/cancel-status",
    ],
)
def test_a_rule_that_is_missing_is_noticed(rule: str) -> None:
    name = rule.partition("/")[0]
    tally = run(name, 800, domain=without(domain_of(name), rule))
    assert any(rule in problem for problem in tally.disagreements)


@every_domain
def test_a_write_that_leaves_no_mark_is_noticed(name: str) -> None:
    domain = domain_of(name)
    tools = (replace(t, touches=()) if isinstance(t, Write) else t for t in domain.tools)
    assert run(name, 1500, domain=replace(domain, tools=tuple(tools))).disagreements


OLDER, NEWER = domain_of("airline-tau"), domain_of("airline")


@pytest.mark.parametrize(
    "changed",
    [
        replace(OLDER, parameters=NEWER.parameters),
        replace(OLDER, parameters={**OLDER.parameters, "statuses_are_read": True}),
        replace(OLDER, tools=NEWER.tools).bind({tool.tool for tool in OLDER.tools}),
    ],
    ids=["free bags", "statuses", "reads"],
)
def test_an_older_version_with_something_of_the_newer_one_is_noticed(changed: Domain) -> None:
    assert run("airline-tau", 1000, domain=changed).disagreements


def test_bills_that_never_grow_old_are_noticed() -> None:
    domain = replace(domain_of("telecom"), shared=None)
    assert run("telecom", 1500, domain=domain).disagreements


def test_a_disagreement_shrinks_to_a_readable_case() -> None:
    with pytest.raises(AssertionError) as caught:
        agree_on_one_call("telecom", without(domain_of("telecom"), "telecom/refuel-max"), full=True)
    told = str(caught.value)
    assert "telecom: let through, although it breaks telecom/refuel-max" in told
    assert "refuel_data(" in told
    assert "gate: ALLOW" in told
    assert "broken: telecom/refuel-max" in told
    assert told.partition("proposed:")[0].count("\n") < 25


def test_judges_share_no_code_with_the_package() -> None:
    judges = sorted((Path(__file__).parent / "judges").glob("*.py"))
    assert {file.stem for file in judges} == {world.domain for world in WORLDS.values()} | {
        "__init__"
    }
    for file in judges:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        names = [
            n.name for node in ast.walk(tree) if isinstance(node, ast.Import) for n in node.names
        ]
        froms = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert not [n for n in (*names, *froms) if n and n.startswith("ledgeragent")], file
