"""What is promised of a reply of several calls. Each function yields what is wrong, if anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, islice, permutations
from random import Random

from ledgeragent import Decision, Effect, ToolCall, Verdict

from .conversation import Conversation
from .judgement import Judgement
from .possible import Possible
from .properties import holds, next_read, spelled, unreadable
from .steps import Arrive, Look

ALL_ORDERS = 24
MOST_ROUNDS = 24
NO_WAY_ON = "nothing is left to do"
"""After a lost write that no read tells of, or without the tool that would tell: it stays refused."""


def broken_promises(
    talk: Conversation, verdicts: Sequence[Verdict], twins: Sequence[Possible]
) -> Iterator[str]:
    """What speaks against the verdicts on the calls of one reply, before any of them has run."""
    worlds = [*talk.worlds, *twins]
    writes = [v for v in verdicts if talk.domain.effect(v.call.name) is Effect.WRITE]
    allowed: list[ToolCall] = []
    for verdict in writes:
        yield from (f"{f.predicate} failed with {f.error}" for f in verdict.errors)
        yield from _impossible(talk, verdict)
        yield from _overstated(talk, verdict, worlds, allowed)
        if verdict.allowed:
            allowed.append(verdict.call)
    yield from _let_through(talk, allowed, worlds)


def _impossible(talk: Conversation, verdict: Verdict) -> Iterator[str]:
    """What is asked for exists in this run."""
    for problem in unreadable(verdict, talk.gate, talk.real.world):
        if not any(finding.waits_for or not finding.reads for finding in verdict.missing):
            yield problem
    for finding in verdict.missing:
        for read in finding.reads:
            if not talk.has(read):
                yield f"{finding.predicate} asks for {read}, a tool that this run has not"


def _overstated(
    talk: Conversation, verdict: Verdict, worlds: Sequence[Possible], earlier: Sequence[ToolCall]
) -> Iterator[str]:
    """A violation holds in every world that may be the case, whatever of the plan was done."""
    for finding in verdict.violations:
        if finding.predicate.startswith("gate/"):
            continue
        clause = finding.clause or finding.predicate
        if not all(_stands(clause, possible, verdict.call) for possible in worlds):
            yield f"rejected for {clause}, which what was read does not show"
        elif not all(
            _stands(clause, _after(possible, (*possible.open, *earlier)), verdict.call)
            for possible in talk.worlds
        ):
            yield f"rejected for {clause}, which an earlier call may change"


def _stands(clause: str, possible: Possible, call: ToolCall) -> bool:
    truth = possible.judge(call)
    return truth.ghost or holds(clause, truth, possible.world)


def _after(possible: Possible, calls: Iterable[ToolCall]) -> Possible:
    for call in calls:
        possible, _ = possible.does(call)
    return possible


def _let_through(
    talk: Conversation, allowed: Sequence[ToolCall], worlds: Sequence[Possible]
) -> Iterator[str]:
    """No order of the allowed calls, and of those on their way, breaks a clause.

    Where they run as listed, it is so whichever of them their tools refuse. (Of the other orders, some
    begin with any of them.)
    """
    if not allowed:
        return
    intents = [call.intent for call in allowed]
    if talk.gate.order == "any" and len(set(intents)) < len(intents):
        yield "allowed, although the same call stands twice"
    for possible in worlds:
        for order in _orders(talk, allowed, possible):
            if problem := _breach(possible, order):
                yield problem
                return


def _orders(
    talk: Conversation, allowed: Sequence[ToolCall], possible: Possible
) -> Iterator[tuple[ToolCall, ...]]:
    calls = (*possible.open, *allowed)
    if talk.gate.order == "any":
        return islice(permutations(calls), ALL_ORDERS)
    return chain.from_iterable(combinations(calls, size) for size in range(len(calls), 0, -1))


def _breach(possible: Possible, order: Sequence[ToolCall]) -> str:
    """What the first call of an order that breaks a clause, at its moment, breaks; "" if none does."""
    alone = {call.id: possible.judge(call) for call in order}
    for number, call in enumerate(order):
        truth = possible.judge(call) if number else alone[call.id]
        if truth.ghost:
            continue
        if against := _due(truth):
            kind = "it" if against <= _due(alone[call.id]) else "in another order it"
            return f"allowed, although {kind} breaks {spelled(against)}: {_told(order)}"
        if number + 1 < len(order):
            possible, _ = possible.does(call)
    return ""


def _due(truth: Judgement) -> set[str]:
    return truth.due | truth.ungrounded


def _told(order: Sequence[ToolCall]) -> str:
    return ", then ".join(str(call) for call in order)


def lacks_progress(talk: Conversation, call: ToolCall, rng: Random) -> str:
    """Why a call is held back for good although all it waits for has come; "" if it isn't.

    Each round does what the gate asks for: all of it, or one read of it, as an agent may.
    """
    later, done = talk.fork(), list[ToolCall]()
    whole = bool(rng.randrange(3))
    for _ in range(MOST_ROUNDS):
        for awaited, _ in later.late:
            later.arrive(Arrive(awaited.id))
        verdict = _asked_again(later, call)
        if not verdict.missing or verdict.violations or verdict.undecided:
            return _end(later, verdict)
        asked = [read for finding in verdict.missing for read in finding.reads]
        if later.real.judge(call).ghost or (any(map(later.domain.asked_of_user, asked)) and done):
            return ""  # nobody, or somebody else, whom a look-up would have to find
        if done and verdict.decision is Decision.BLOCK:
            pace = "all was read that was" if whole else "one read was made each time of those"
            return f"blocked by the loop guard though {pace} asked for: {verdict.objection}"
        read = next_read(rng, verdict.missing, later.real.world, done)
        if read is None:
            return _dead_end(later, verdict)
        while read is not None:
            later.look(Look(read))
            done.append(read)
            missing = verdict.missing[1:] if whole else ()
            verdict = verdict._replace(findings=missing)
            read = next_read(rng, missing, later.real.world, done)
    return f"asks without end: {_reasons(verdict)}"


def _asked_again(later: Conversation, call: ToolCall) -> Verdict:
    _, filtered = later.ask([ToolCall(name=call.name, arguments=call.arguments)])
    return filtered.verdicts[0]


def _end(later: Conversation, verdict: Verdict) -> str:
    """What is wrong with the verdict at last, on all the evidence that was asked for."""
    twins = later.twins(Random(0))
    problems = broken_promises(later, [verdict], twins)
    return next((f"after all was read, {problem}" for problem in problems), "")


def _dead_end(later: Conversation, verdict: Verdict) -> str:
    lacks_tools = later.domain.available is not None
    if lacks_tools or any(not finding.reads for finding in verdict.missing):
        return f"{NO_WAY_ON}: {_reasons(verdict)}"
    return f"asks without end: {_reasons(verdict)}"


def _reasons(verdict: Verdict) -> str:
    return "; ".join(f"{f.predicate} {f.reason}" for f in verdict.missing)
