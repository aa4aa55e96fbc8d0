"""How gate and judge must agree. Each function returns what is wrong, nothing if all is well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from ledgeragent import Decision, Effect, Finding, Gate, ToolCall, Verdict

from .judgement import Judgement
from .scene import Scene
from .world import World

MOST_READS = 24


def problems(rng: Random, gate: Gate, scene: Scene, call: ToolCall, *, full: bool) -> list[str]:
    """Everything that speaks against the gate's verdict on one call."""
    verdict = gate.judge(call, scene.ledger)
    found = [f"{f.predicate} failed with {f.error}" for f in verdict.errors]
    if found:
        return found
    found += _guesses(verdict, scene, call)
    found += unreadable(verdict, gate, scene.world)
    if full:
        found += _disagreements(verdict, scene, call, full=True)
        found += _asks_again(verdict, scene)
    if not verdict.violations and not found:
        found += _after_reading(rng, gate, scene, call)
    return found


def _disagreements(verdict: Verdict, scene: Scene, call: ToolCall, *, full: bool) -> Iterator[str]:
    """Everything observed and fresh: gate and judge say the same, and if `full` of the same clauses."""
    truth = scene.world.judge(scene.talk, call)
    if truth.ghost:
        return
    rejected = {f.clause or f.predicate for f in verdict.violations}
    broken = _groups(truth.broken, scene.world)
    named = _groups(rejected, scene.world)
    if truth.due and not rejected and not verdict.missing:
        yield f"let through, although it breaks {spelled(truth.due)}"
    for clause in sorted(rejected):
        if not holds(clause, truth, scene.world):
            yield f"rejected for {clause}, which the judge finds kept"
    # A clause that is presumed broken is as good a reason: it is one where the other follows.
    reasons = broken | _groups(truth.presumed, scene.world)
    if full and truth.due and rejected and not reasons & named:
        yield f"rejected for {spelled(rejected)}, but it breaks {spelled(truth.broken)}"


def _asks_again(verdict: Verdict, scene: Scene) -> Iterator[str]:
    """Where everything was read, nothing that was read is asked for."""
    done = scene.world.tour()
    for finding in verdict.missing:
        meant = [call for read in finding.reads for call in scene.world.complete(read)]
        if not verdict.violations and all(call in done for call in meant):
            yield f"everything was read, and still {finding.predicate} asks: {finding.reason}"


def _guesses(verdict: Verdict, scene: Scene, call: ToolCall) -> Iterator[str]:
    """No verdict rests on what is not known: it is right in every world that looks the same."""
    worlds = (scene.world, *scene.twins)
    for finding in verdict.violations:
        clause = finding.clause or finding.predicate
        truths = [(world, world.judge(scene.talk, call)) for world in worlds]
        real = [(world, truth) for world, truth in truths if not truth.ghost]
        if not all(holds(clause, truth, world) for world, truth in real):
            yield f"rejected for {clause}, which what was read does not show"
        elif finding.decision is Decision.BLOCK and not all(t.broken | t.presumed for _, t in real):
            yield f"blocked for {clause}, which what was read does not settle"
    if verdict.allowed:
        yield from _waved_through(worlds, scene, call)


def _waved_through(worlds: Iterable[World], scene: Scene, call: ToolCall) -> Iterator[str]:
    for world in worlds:
        truth = world.judge(scene.talk, call)
        if truth.ghost:
            continue
        against = truth.due | truth.ungrounded
        if against:
            yield f"allowed, although what was read leaves open whether it breaks {spelled(against)}"
            return


def unreadable(verdict: Verdict, gate: Gate, world: World) -> Iterator[str]:
    """A request for evidence names reads that exist."""
    for finding in verdict.missing:
        if not finding.reads:
            yield f"{finding.predicate} asks for evidence and names no read"
        for read in finding.reads:
            if read.name not in world.reads or gate.domain.effect(read.name) is not Effect.READ:
                yield f"{finding.predicate} asks for {read}, which is no read of {world.domain}"


def _after_reading(rng: Random, gate: Gate, scene: Scene, call: ToolCall) -> Iterator[str]:
    """Doing the reads that are asked for leads to the verdict of the fully observed world."""
    later = scene.fork()
    verdict = gate.judge(call, later.ledger)
    done: list[ToolCall] = []
    while verdict.missing:
        read = next_read(rng, verdict.missing, later.world, done)
        if read is None or len(done) >= MOST_READS:
            if not (verdict.violations or later.world.judge(later.talk, call).ghost):
                asked = "; ".join(f.reason for f in verdict.missing)
                yield f"asks without end, after {', '.join(map(str, done))}: {asked}"
                return
            break
        later.read(read)
        done.append(read)
        verdict = gate.judge(call, later.ledger)
    for problem in _disagreements(verdict, later, call, full=False):
        yield f"after {', '.join(map(str, done)) or 'no more reads'}: {problem}"


def next_read(
    rng: Random, missing: Iterable[Finding], world: World, done: list[ToolCall]
) -> ToolCall | None:
    """One of the reads asked for, any of them, not done so far."""
    for finding in missing:
        meant = [call for read in finding.reads for call in world.complete(read)]
        fresh = [call for call in meant if call not in done]
        if fresh:
            return rng.choice(fresh)
    return None


def holds(clause: str, truth: Judgement, world: World) -> bool:
    """True if the judge finds the clause broken, under whatever name, or open."""
    return bool(
        _groups({clause}, world) & _groups(truth.broken | truth.may | truth.presumed, world)
    )


def _groups(clauses: Iterable[str], world: World) -> set[str]:
    """The clauses with all their synonyms."""
    out = set(clauses)
    for group in world.same:
        if out & group:
            out |= group
    return out


def spelled(clauses: Iterable[str]) -> str:
    return ", ".join(sorted(clauses))
