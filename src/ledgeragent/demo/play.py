"""Plays a scenario in a shop of its own: once as a plain tool-calling agent, once through LedgerAgent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ledgeragent.agent import LedgerAgent
from ledgeragent.demo.scenarios import Clerk, Scenario
from ledgeragent.demo.shop.shop import Shop, ShopChange
from ledgeragent.domain import Domain
from ledgeragent.gate import Gate
from ledgeragent.ledger import Entry, Ledger, Stale
from ledgeragent.types import Message, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """Words of the customer or of the agent."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneCall:
    """A call of the model, with what the gate made of it and what the tool answered.

    `learned` are the records that the answer put into the ledger, `staled` the marks it left.
    """

    call: ToolCall
    verdict: Verdict | None = None
    returned: ToolReturn | None = None
    learned: tuple[Entry, ...] = ()
    staled: tuple[tuple[Entry, Stale], ...] = ()


SceneEvent = Speech | SceneCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A scenario as it went: what happened, what it did to the database, how often the model ran."""

    events: tuple[SceneEvent, ...]
    changes: tuple[ShopChange, ...]
    generations: int
    ledger: Ledger | None = None


def play_plain(scenario: Scenario) -> Played:
    """The conversation with no ledger and no gate: every call runs."""
    model = Clerk(scenario.turns)
    history: list[Message] = []
    events: list[SceneEvent] = []
    generations = 0
    with Shop() as shop:
        for turn in scenario.turns:
            history.append(UserMessage(text=turn.says))
            events.append(Speech(speaker="customer", text=turn.says))
            calls = True
            while calls:
                reply = model.generate(history, "", "")
                generations += 1
                history.append(reply)
                for call in reply.calls:
                    returned = shop.execute(call)
                    history.append(returned)
                    events.append(SceneCall(call=call, returned=returned))
                calls = bool(reply.calls)
            events.append(Speech(speaker="agent", text=reply.text))
        return Played(events=tuple(events), changes=shop.diff(), generations=generations)


def play_guarded(scenario: Scenario, domain: Domain) -> Played:
    """The same conversation through `LedgerAgent.step`."""
    agent = LedgerAgent(gate=Gate(domain=domain), model=Clerk(scenario.turns))
    events: list[SceneEvent] = []
    with Shop() as shop:
        for turn in scenario.turns:
            events.append(Speech(speaker="customer", text=turn.says))
            events += _answer(agent, UserMessage(text=turn.says), shop)
        return Played(
            events=tuple(events),
            changes=shop.diff(),
            generations=agent.generations,
            ledger=agent.state.ledger,
        )


def _answer(agent: LedgerAgent, message: Message, shop: Shop) -> Iterator[SceneEvent]:
    """Everything until the agent speaks. The clerk makes one call at a time."""
    start = len(agent.verdicts)
    reply = agent.step(message)
    while True:
        verdicts = [v for filtered in agent.verdicts[start:] for v in filtered.verdicts]
        yield from (SceneCall(call=v.call, verdict=v) for v in verdicts if not v.allowed)
        if not reply.calls:
            yield Speech(speaker="agent", text=reply.text)
            return
        start = len(agent.verdicts)
        returned = shop.execute(reply.calls[0])
        before = agent.state.ledger
        following = agent.step(returned)
        yield _called(verdicts[-1], returned, before, agent.state.ledger)
        reply = following


def _called(verdict: Verdict, returned: ToolReturn, before: Ledger, after: Ledger) -> SceneCall:
    changed = [entry for entry in after if before.get(entry.path) is not entry]
    return SceneCall(
        call=verdict.call,
        verdict=verdict,
        returned=returned,
        learned=tuple(entry for entry in changed if entry.source is verdict.call),
        staled=tuple(
            (entry, mark) for entry in changed for mark in entry.stale if mark.by is verdict.call
        ),
    )


def shared(plain: Played, guarded: Played) -> int:
    """How many events both runs begin with: they are the same until the gate steps in."""
    count = 0
    for one, other in zip(plain.events, guarded.events, strict=False):
        if _essence(one) != _essence(other):
            break
        count += 1
    return count


def _essence(event: SceneEvent) -> object:
    return event if isinstance(event, Speech) else (event.call, event.returned)
