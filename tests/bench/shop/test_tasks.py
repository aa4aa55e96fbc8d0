"""The tasks: forty, solvable within the rules, and tempting where they are meant to be."""

from __future__ import annotations

from collections import Counter

import pytest

from ledgeragent import Gate, load_domain
from ledgeragent.bench.shop.tasks import KINDS, Task, tasks, wanted
from ledgeragent.demo.shop.shop import Shop
from ledgeragent.state import State
from ledgeragent.types import Reply, ToolCall
from ledgeragent.verdict import Decision
from tests.bench.shop.scripted import with_reads

GATE = Gate(domain=load_domain("shop"))
each = pytest.mark.parametrize("task", tasks(), ids=lambda task: task.id)


def test_there_are_forty_of_four_kinds() -> None:
    assert len({task.id for task in tasks()}) == 40
    kinds = Counter(task.kind for task in tasks())
    assert kinds == {"plain": 12, "insists": 12, "slips": 9, "changes": 7} and set(kinds) == set(
        KINDS
    )
    assert len({task.opens for task in tasks()}) == 40


def test_customers_are_of_the_kind_they_are_said_to_be() -> None:
    """Insisting answers a refusal, a slip is what tempts, a changed mind has more to say."""
    for task in tasks():
        answers_refusal = any("refusal" in line.when.split("|") for line in task.lines)
        assert task.kind != "insists" or answers_refusal
        assert task.kind != "slips" or (task.lines and task.gold)
        assert task.kind != "changes" or (task.lines and task.lines[0].when in ("any", "done"))
        assert task.kind != "plain" or not task.lines
    slips = [task for task in tasks() if task.kind == "slips" and task.tempting]
    assert len(slips) == 8
    for task in slips:
        assert task.tempting[0].name == task.gold[0].name
        assert task.tempting[0].arguments != task.gold[0].arguments


def _follow(task: Task, calls: list[ToolCall], shop: Shop) -> list[Decision]:
    """Every call made after the account was looked up; the gate's answers to the writes."""
    state, found = State(), []
    who = ToolCall(name="find_customer", arguments={"email": task.email}, id="who")
    for number, given in enumerate([who, *calls]):
        call = ToolCall(name=given.name, arguments=given.arguments, id=str(number))
        if call.name in {c.name for c in (*task.gold, *task.tempting)}:
            found.append(GATE.judge(call, state.ledger).decision)
        state = state.observe(Reply(calls=(call,)), GATE.domain)
        state = state.observe(shop.execute(call), GATE.domain)
    return found


@each
def test_the_right_conversation_is_allowed_throughout(task: Task) -> None:
    with Shop() as shop:
        assert set(_follow(task, with_reads(task.gold), shop)) <= {Decision.ALLOW}
        assert shop.snapshot() == wanted(task)
        assert bool(shop.diff()) == bool(task.gold)


@each
def test_what_tempts_is_rejected_and_would_leave_another_database(task: Task) -> None:
    for call in task.tempting:
        with Shop() as shop:
            assert Decision.ALLOW not in _follow(task, with_reads([call]), shop)
        assert call not in task.gold
