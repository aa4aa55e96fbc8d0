"""Replies of several calls: each is right whichever of those that may run before it succeed."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgeragent.domain import Domain
from ledgeragent.effects import Write
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger
from ledgeragent.plan import Order
from ledgeragent.predicates import Broken, Predicate, View, predicate, violation
from ledgeragent.types import Reply, ToolCall
from ledgeragent.verdict import Decision

TOOLS = ("knit", "dye", "felt", "spin")
CALLS = tuple(ToolCall(name=name, id=name) for name in TOOLS)

MOST = 1 << (1 << len(TOOLS))

rules = st.fixed_dictionaries({tool: st.integers(0, MOST - 1) for tool in TOOLS})
"""For each tool, the sets of writes after which it may be used, as the bits of a number."""

listings = st.lists(st.sampled_from(CALLS), min_size=2, max_size=4, unique_by=lambda c: c.name)


def rule_of(tool: str, satisfied_after: int) -> Predicate:
    """A rule that a tool is used only after just these sets of writes were done."""

    @predicate(f"wool/{tool}", guards=tool)
    def after(arguments: object, ledger: View) -> Broken | None:
        done = sum(1 << TOOLS.index(name) for name in {write.name for write in ledger.writes})
        return None if satisfied_after >> done & 1 else violation("not now")

    return after


def mill(rules: dict[str, int]) -> Domain:
    return Domain(
        name="wool",
        version="1",
        tools=[Write(tool=name, arguments=dict) for name in TOOLS],
        predicates=[rule_of(tool, satisfied_after) for tool, satisfied_after in rules.items()],
    )


def subsets(calls: tuple[ToolCall, ...]) -> chain[tuple[ToolCall, ...]]:
    return chain.from_iterable(combinations(calls, size) for size in range(len(calls) + 1))


def assert_right(gate: Gate, listed: tuple[ToolCall, ...]) -> None:
    """Each call let through is allowed whichever of those that may run before it were done."""
    allowed = gate.filter(Reply(calls=listed), Ledger()).execute
    for place, call in enumerate(allowed):
        beside = () if gate.order == "listed" else allowed[place + 1 :]
        for done in subsets((*allowed[:place], *beside)):
            ledger = Ledger()
            for write in done:
                ledger = ledger.wrote(write, ())
            assert gate.judge(call, ledger).allowed, (call, done)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(rules, listings, st.sampled_from(("listed", "any")))
def test_what_is_let_through_is_right_whichever_calls_before_it_were_refused(
    rules: dict[str, int], listed: list[ToolCall], order: Order
) -> None:
    assert_right(Gate(domain=mill(rules), order=order), tuple(listed))


@pytest.mark.parametrize("order", ["listed", "any"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_of_three_calls_one_may_have_any_rule(order: Order, place: int) -> None:
    tool = TOOLS[place]
    for satisfied_after in range(1 << (1 << 3)):
        domain = mill({**dict.fromkeys(TOOLS, MOST - 1), tool: satisfied_after})
        assert_right(Gate(domain=domain, order=order), CALLS[:3])


@settings(deadline=None, derandomize=True, max_examples=150)
@given(rules, listings)
def test_what_is_objected_to_is_wrong_whichever_calls_before_it_were_refused(
    rules: dict[str, int], listed: list[ToolCall]
) -> None:
    gate = Gate(domain=mill(rules), order="listed")
    filtered = gate.filter(Reply(calls=tuple(listed)), Ledger())
    earlier: list[ToolCall] = []
    for verdict in filtered.verdicts:
        for done in subsets(tuple(earlier)) if verdict.violations else ():
            ledger = Ledger()
            for write in done:
                ledger = ledger.wrote(write, ())
            assert gate.judge(verdict.call, ledger).decision is not Decision.ALLOW
        if verdict.allowed:
            earlier.append(verdict.call)
