"""The three conversations: same start, the verdicts that part them, and what the databases say."""

from __future__ import annotations

import pytest

from ledgeragent.demo.play import Played, SceneCall, Speech, play_guarded, play_plain, shared
from ledgeragent.demo.scenarios import SCENARIOS, Clerk, Scenario
from ledgeragent.demo.screen import Show, is_right
from ledgeragent.packs import load_domain
from ledgeragent.types import Json, UserMessage
from ledgeragent.verdict import Decision, Kind, Verdict

SHOP = load_domain("shop")


def both(scenario: Scenario) -> tuple[Played, Played]:
    return play_plain(scenario), play_guarded(scenario, SHOP)


def verdicts(played: Played) -> list[Verdict]:
    found = [event.verdict for event in played.events if isinstance(event, SceneCall)]
    return [v for v in found if v is not None and SHOP.guard(v.call.name).predicates]  # type: ignore[union-attr]


def after(played: Played) -> dict[str, Json]:
    return {change.path: change.after for change in played.changes}


def test_a_violating_write_is_blocked() -> None:
    plain, guarded = both(SCENARIOS[0])
    [verdict] = verdicts(guarded)
    [finding] = verdict.findings
    assert verdict.decision is Decision.BLOCK
    assert finding.predicate == "shop/cancel-open"
    assert [(f.path, f.value) for f in finding.evidence] == [("orders.G-1007.status", "packed")]
    assert str(finding.evidence[0].source) == 'get_order(order_id="G-1007")'
    assert guarded.changes == ()
    assert after(plain)["orders.G-1007.status"] == "cancelled"
    assert after(plain)["orders.G-1007.refunded"] == 64.0
    assert guarded.events[-1] == Speech(speaker="agent", text=f"I can't do that: {finding.reason}.")


def test_a_wrong_argument_is_revised_and_then_accepted() -> None:
    plain, guarded = both(SCENARIOS[1])
    first, second = verdicts(guarded)
    [finding] = first.findings
    assert (first.decision, finding.kind) == (Decision.REVISE, Kind.VIOLATION)
    assert finding.predicate == "shop/price-paid"
    assert finding.evidence[-1].path == "orders.G-1012.lines.secateurs.unit_price"
    assert "24.50" in first.feedback and "29.00" in first.feedback
    assert second.allowed and second.call.arguments["amount"] == 24.5
    assert after(plain)["orders.G-1012.refunded"] == 29.0
    assert after(guarded)["orders.G-1012.refunded"] == 24.5


def test_a_changed_record_is_read_again() -> None:
    plain, guarded = both(SCENARIOS[2])
    change, first, second = verdicts(guarded)
    assert change.allowed
    [finding] = first.findings
    assert (first.decision, finding.kind) == (Decision.REVISE, Kind.EVIDENCE)
    assert [str(read) for read in finding.reads] == ['get_order(order_id="G-1020")']
    assert second.allowed and second.call.arguments["amount"] == 33.0
    assert after(plain)["orders.G-1020.due"] == -36.0
    assert after(guarded)["orders.G-1020.due"] == 0.0
    assert after(guarded)["vouchers.WREN-80.balance"] == 47.0


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.number)
def test_the_runs_part_at_the_first_rejected_call(scenario: Scenario) -> None:
    plain, guarded = both(scenario)
    parting = guarded.events[shared(plain, guarded)]
    assert isinstance(parting, SceneCall)
    assert parting.verdict is not None and not parting.verdict.allowed
    assert parting.returned is None
    assert plain.events[shared(plain, guarded)].call == parting.call  # type: ignore[union-attr]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.number)
def test_only_the_guarded_run_ends_as_the_policy_wants_it(scenario: Scenario) -> None:
    plain, guarded = both(scenario)
    show = Show(scenario=scenario, plain=plain, guarded=guarded)
    assert not is_right(show, plain)
    assert is_right(show, guarded)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.number)
def test_every_allowed_call_ran_and_no_other(scenario: Scenario) -> None:
    guarded = play_guarded(scenario, SHOP)
    for event in guarded.events:
        if isinstance(event, SceneCall) and event.verdict is not None:
            assert (event.returned is not None) == event.verdict.allowed


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.number)
def test_the_plain_agent_never_sees_a_tool_refuse(scenario: Scenario) -> None:
    calls = [e for e in play_plain(scenario).events if isinstance(e, SceneCall)]
    assert all(call.returned is not None and not call.returned.failed for call in calls)


def test_generations_are_counted_alike() -> None:
    counts = [(p.generations, g.generations) for p, g in map(both, SCENARIOS)]
    assert counts == [(4, 3), (6, 7), (7, 9)]


def test_playing_twice_gives_the_same() -> None:
    assert [both(scenario) for scenario in SCENARIOS] == [both(s) for s in SCENARIOS]


def test_the_clerk_follows_its_plan_until_it_hears_of_a_rejection() -> None:
    turn = SCENARIOS[1].turns[0]
    clerk = Clerk(SCENARIOS[1].turns)
    history = [UserMessage(text=turn.says)]
    assert clerk.generate(history, "", "") is turn.plan[0]
    assert clerk.generate([*history, turn.plan[0]], "", "") is turn.plan[1]
    assert clerk.generate(history, "", "not that") is turn.mended[0]
