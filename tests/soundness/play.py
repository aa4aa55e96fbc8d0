"""Plays conversations: random ones step by step, written ones again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

from ledgeragent import Domain, Effect, ToolCall, Verdict

from .conversation import Conversation
from .promises import broken_promises, lacks_progress
from .replies import next_step, opening, some_case
from .steps import Arrive, Case, Look, Send, Step, Turn

ROUNDS = 5


@dataclass
class Played:
    """A conversation as it went: its steps, what was wrong and after which step, the verdicts."""

    case: Case
    problems: list[tuple[int, str]] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    fates: Counter[str] = field(default_factory=Counter)
    replies: int = 0
    together: int = 0


def played(world: str, seed: str, domain: Domain) -> Played:
    """A random conversation of a few replies."""
    case = some_case(world, seed)
    rng = Random(f"{seed}/steps")
    talk = Conversation(case, domain)
    out = Played(case)
    for step in opening(rng, talk):
        _take(talk, step, out)
    for number in range(ROUNDS):
        _take(talk, next_step(rng, talk, number), out)
    return out


def replayed(case: Case, domain: Domain) -> Played:
    """The same conversation again."""
    talk = Conversation(case, domain)
    out = Played(replace(case, steps=()))
    for step in case.steps:
        _take(talk, step, out)
    return out


def _take(talk: Conversation, step: Step, out: Played) -> None:
    out.case = replace(out.case, steps=(*out.case.steps, step))
    match step:
        case Turn():
            talk.turn(step)
        case Look():
            talk.look(step)
        case Arrive():
            talk.arrive(step)
        case Send():
            place = len(out.case.steps)
            out.problems += [(place, problem) for problem in _send(talk, step, out)]


def _send(talk: Conversation, step: Send, out: Played) -> Iterator[str]:
    rng = Random(step.seed)
    before, twins = talk.fork(), talk.twins(rng)
    _, filtered = talk.ask(step.calls)
    out.replies += 1
    allowed = [call for call in filtered.execute if _writes(talk, call)]
    out.together += len(allowed) > 1
    fates = {call.id: fate for call, fate in zip(step.calls, step.fates, strict=True)}
    out.fates.update(fates[call.id].value for call in allowed)
    out.verdicts.update(_kind(v) for v in filtered.verdicts if _writes(talk, v.call))
    yield from broken_promises(before, filtered.verdicts, twins)
    talk.execute(step, filtered.execute)
    held = [v.call for v in filtered.verdicts if v.missing and not v.violations]
    if held:
        problem = lacks_progress(talk, rng.choice(held), rng)
        yield from [problem] if problem else []


def _writes(talk: Conversation, call: ToolCall) -> bool:
    return talk.domain.effect(call.name) is Effect.WRITE


def _kind(verdict: Verdict) -> str:
    if verdict.violations:
        return f"{verdict.word} for a violation"
    waits = any(finding.waits_for for finding in verdict.missing)
    return f"{verdict.word} until another call has returned" if waits else verdict.word


def kind_of(problem: str) -> str:
    """A problem without the particulars of its case."""
    return problem.partition(": ")[0]
