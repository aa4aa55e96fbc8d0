"""The gate: a pure function of call and ledger, to which each predicate can only add strictness."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.absorb import touched_by
from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger
from ledgeragent.predicates import Broken, Predicate, View, predicate, violation
from ledgeragent.render import render
from ledgeragent.types import Reply, ToolCall
from ledgeragent.verdict import Decision, Enforcement, Kind, Verdict

from .world import (
    DOMAIN,
    NOTE,
    PARCEL,
    USER,
    ParcelCall,
    ids,
    ledgers,
    mostly,
    searched,
    values,
    words,
)


@predicate("post/status-short", guards="ship")
def status_short(call: ParcelCall, ledger: View) -> Broken | None:
    """Reads a field that may be missing, stale, or odd."""
    status = ledger[PARCEL(call["parcel_id"])]["status"]
    return None if len(status) < 3 else violation("the status is {status}", status=status)


@predicate("post/address-known", guards="ship", decision=Decision.BLOCK)
def address_known(call: ParcelCall, ledger: View) -> Broken | None:
    """Reads an object inside a record."""
    city = ledger[PARCEL(call["parcel_id"])]["address"]["city"]
    return violation("no way leads to {city}", city=city) if "b" in city else None


@predicate("post/nobody-forgotten", guards="ship")
def nobody_forgotten(call: ParcelCall, ledger: View) -> Broken | None:
    """Looks at whatever was observed, and asks for nothing."""
    names = [user["name"] for _, user in ledger.glob(USER) if "name" in user]
    return violation("{names} would be forgotten", names=names) if len(names) > 1 else None


@predicate("post/no-note", guards="ship", enforcement=Enforcement.AUDIT)
def no_note(call: ParcelCall, ledger: View) -> Broken | None:
    """Reads a record that is a text; only recorded."""
    return violation("there is a note") if ledger[NOTE(call["parcel_id"])] else None


@predicate("post/fails", guards="ship")
def fails(call: ParcelCall, ledger: View) -> Broken | None:
    """Fails on some records."""
    address = ledger.get(PARCEL(call["parcel_id"]))
    return violation("far away") if address is not None and address["more"] > 3 else None


@predicate("post/no-repeat", guards="ship")
def no_repeat(call: ParcelCall, ledger: View) -> Broken | None:
    """Looks at the writes executed so far."""
    shipped = any(write.arguments.get("parcel_id") == call["parcel_id"] for write in ledger.writes)
    return violation("shipped already") if shipped else None


RULES = (status_short, address_known, nobody_forgotten, no_note, fails, no_repeat)

rules = st.lists(st.sampled_from(RULES), unique_by=lambda rule: rule.id)
enforcements = st.sampled_from(Enforcement)
shipments = st.builds(lambda key: ToolCall(name="ship", arguments={"parcel_id": key}), ids)
odd = st.one_of(
    st.builds(
        lambda name, given_: ToolCall(name=name, arguments=given_),
        st.sampled_from(["ship", "get_user", "think", "rename", "nothing"]),
        st.dictionaries(st.one_of(st.just("parcel_id"), words), values, max_size=2),
    ),
    st.builds(lambda raw: ToolCall.parse(name="ship", arguments=raw), words),
)
calls = mostly(shipments, odd)


def domain_of(chosen: list[Predicate]) -> Domain:
    return replace(DOMAIN, predicates=tuple(chosen))


def judge(chosen: list[Predicate], call: ToolCall, ledger: Ledger) -> Verdict:
    return Gate(domain=domain_of(chosen)).judge(call, ledger)


Told = tuple[str, Kind, str, tuple[str, ...]]


def told(verdict: Verdict) -> set[Told]:
    """What each predicate found, with the facts it read for it."""
    return {
        (f.predicate, f.kind, f.reason, tuple(fact.path for fact in f.evidence))
        for f in (*verdict.findings, *verdict.shadow)
    }


@searched
@given(rules, calls, ledgers)
def test_the_gate_is_pure(chosen: list[Predicate], call: ToolCall, ledger: Ledger) -> None:
    gate = Gate(domain=domain_of(chosen))
    before = render(ledger)
    first, second = gate.judge(call, ledger), gate.judge(call, ledger)
    assert first == second
    assert render(ledger) == before


@searched
@given(rules, calls, ledgers)
def test_without_a_rule_no_verdict_is_stricter(
    chosen: list[Predicate], call: ToolCall, ledger: Ledger
) -> None:
    decision = judge(chosen, call, ledger).decision
    for rule in chosen:
        fewer = [other for other in chosen if other is not rule]
        assert judge(fewer, call, ledger).decision <= decision


@searched
@given(st.permutations(RULES), calls, ledgers)
def test_the_order_of_rules_changes_nothing(
    ordered: list[Predicate], call: ToolCall, ledger: Ledger
) -> None:
    one, other = judge(list(RULES), call, ledger), judge(ordered, call, ledger)
    assert one.decision is other.decision
    assert told(one) == told(other)


@searched
@given(rules, calls, ledgers)
def test_rules_do_not_hear_of_each_other(
    chosen: list[Predicate], call: ToolCall, ledger: Ledger
) -> None:
    together = judge(chosen, call, ledger)
    alone = [judge([rule], call, ledger) for rule in chosen]
    assert told(together) == set[Told]().union(*map(told, alone), told(judge([], call, ledger)))


@searched
@given(rules, calls, ledgers, enforcements)
def test_a_rule_that_is_not_enforced_decides_nothing(
    chosen: list[Predicate], call: ToolCall, ledger: Ledger, enforcement: Enforcement
) -> None:
    quiet = [replace(rule, enforcement=enforcement) for rule in chosen]
    verdict = judge(quiet, call, ledger)
    if enforcement is not Enforcement.ENFORCE:
        assert verdict.decision is judge([], call, ledger).decision
    assert told(verdict) == told(judge(chosen, call, ledger))


@searched
@given(rules, calls, ledgers)
def test_a_rejection_says_why_on_one_line_a_reason(
    chosen: list[Predicate], call: ToolCall, ledger: Ledger
) -> None:
    verdict = judge(chosen, call, ledger)
    assert verdict.allowed == (not verdict.feedback)
    assert len(verdict.feedback.splitlines()) <= len(verdict.findings)
    assert "<" not in verdict.feedback
    assert verdict.feedback.encode("utf-8") is not None


@searched
@given(rules, calls, ledgers)
def test_what_is_unknown_neither_blocks_nor_goes_unnamed(
    chosen: list[Predicate], call: ToolCall, ledger: Ledger
) -> None:
    for finding in judge(chosen, call, ledger).missing:
        assert finding.decision is Decision.REVISE
        assert finding.reads
        for read in finding.reads:
            assert DOMAIN.routes(read.name)


@searched
@given(rules, st.lists(calls, max_size=4), ledgers)
def test_in_the_papers_reading_calls_of_one_reply_are_judged_as_if_alone(
    chosen: list[Predicate], proposed: list[ToolCall], ledger: Ledger
) -> None:
    gate = Gate(domain=domain_of(chosen), budget=1000, order="snapshot")
    filtered = gate.filter(Reply(calls=tuple(proposed)), ledger)
    alone = [gate.judge(call, ledger) for call in proposed]
    assert [v.decision for v in filtered.verdicts] == [v.decision for v in alone]
    assert filtered.execute == tuple(v.call for v in alone if v.allowed)
    assert filtered.reply.calls == filtered.execute


@searched
@given(rules, st.lists(calls, max_size=4), ledgers)
def test_calls_let_through_together_do_not_disturb_each_other(
    chosen: list[Predicate], proposed: list[ToolCall], ledger: Ledger
) -> None:
    domain = domain_of(chosen)
    filtered = Gate(domain=domain, budget=1000).filter(Reply(calls=tuple(proposed)), ledger)
    writes = [
        v for v in filtered.verdicts if v.allowed and domain.effect(v.call.name) is Effect.WRITE
    ]
    for one, other in permutations(writes, 2):
        touched = touched_by(ledger, other.call, domain)
        places = [(fact.record, fact.fields) for fact in one.evidence]
        places += [(t.path, t.fields) for t in touched_by(ledger, one.call, domain)]
        for touch in touched:
            for path, fields in places:
                shorter = min(len(fields), len(touch.fields))
                assert path != touch.path or fields[:shorter] != touch.fields[:shorter]


@searched
@given(rules, st.lists(calls, max_size=4), ledgers)
def test_a_plan_asserts_no_more_than_the_calls_alone(
    chosen: list[Predicate], proposed: list[ToolCall], ledger: Ledger
) -> None:
    gate = Gate(domain=domain_of(chosen), budget=1000)
    filtered = gate.filter(Reply(calls=tuple(proposed)), ledger)
    for verdict in filtered.verdicts:
        alone = {f.predicate for f in gate.judge(verdict.call, ledger).violations}
        assert {f.predicate for f in verdict.violations} <= alone
