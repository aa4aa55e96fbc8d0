"""What an agent may send next: replies whose calls get into each other's way, or don't."""

from __future__ import annotations

from random import Random

from ledgeragent import Effect, ToolCall

from .conversation import Conversation
from .possible import Possible
from .steps import Arrive, Case, Fate, Look, Send, Turn
from .world import one_in
from .worlds import WORLDS, domain_of

TRIES = 12
_SURE = [Fate.DONE] * 6 + [Fate.REFUSED]
_LOST = [Fate.LOST_DONE, Fate.LOST_UNDONE, Fate.CUT_DONE, Fate.CUT_UNDONE]
_LATE = [Fate.LATE, Fate.SLOW, Fate.FORGOTTEN]


def some_case(world: str, seed: str) -> Case:
    """The beginning of a conversation: one in four hosts runs calls as listed, one in four lacks tools."""
    rng = Random(f"{seed}/tools")
    tools = None
    if one_in(rng, 4):
        reads = sorted(WORLDS[world].reads)
        gone = {rng.choice(reads) for _ in range(rng.randint(1, 3))}
        tools = frozenset(tool.tool for tool in domain_of(world).tools) - gone
    return Case(world, seed, "listed" if one_in(rng, 4) else "any", tools)


def opening(rng: Random, talk: Conversation) -> list[Look | Turn]:
    """What was read before the first reply: all that matters, or some of it."""
    tour = talk.real.world.tour()
    left_out = rng.choice([0, 0, 1, 2, len(tour) // 4, len(tour) // 2, len(tour)])
    kept = list(tour)
    for _ in range(left_out):
        kept.pop(rng.randrange(len(kept)))
    if kept[:1] != tour[:1] and not one_in(rng, 6):
        kept.insert(0, tour[0])
    odd = one_in(rng, 3)
    looks = [
        Look(call, rng.randrange(1000) if odd and one_in(rng, 8) else None)
        for call in kept
        if talk.has(call)
    ]
    return [Turn(rng.randrange(1000)), *looks]


def next_step(rng: Random, talk: Conversation, number: int) -> Send | Look | Turn | Arrive:
    """A reply as a rule; now and then a late result, a read, or a turn of the customer."""
    kind = rng.randrange(8)
    if talk.late and kind in (5, 6):
        return Arrive(rng.choice(talk.late)[0].id)
    if kind == 7:
        return Turn(rng.randrange(1000))
    if kind == 6:
        looks = [call for call in talk.real.world.tour() if talk.has(call)]
        if looks:
            return Look(rng.choice(looks), rng.randrange(1000) if one_in(rng, 4) else None)
    return _reply(rng, talk, number)


def _reply(rng: Random, talk: Conversation, number: int) -> Send:
    calls: list[ToolCall] = []
    ahead = talk.real
    for _ in range(rng.choice([1, 2, 2, 2, 3, 3, 4])):
        call = _another(rng, talk.real, ahead, calls)
        calls.append(call)
        ahead, _ = ahead.does(call)
    if one_in(rng, 4):
        looks = [call for call in talk.real.world.tour() if talk.has(call)]
        calls[rng.randrange(len(calls)) :][:0] = [rng.choice(looks)] if looks else []
    named = tuple(
        ToolCall(name=call.name, arguments=call.arguments, id=f"c{number}.{place}")
        for place, call in enumerate(calls)
    )
    listed = talk.gate.order == "listed"
    pool = [*_SURE, *_SURE, *_LOST, *([] if listed else _LATE)] if one_in(rng, 2) else _SURE
    fates = tuple(
        rng.choice(pool) if talk.domain.effect(call.name) is Effect.WRITE else Fate.DONE
        for call in named
    )
    return Send(named, fates, rng.randrange(1000))


def _another(rng: Random, now: Possible, ahead: Possible, calls: list[ToolCall]) -> ToolCall:
    """A call beside others: on the same records, the same again, what fits only after them, or any."""
    kind = rng.randrange(8) if calls else 7
    if kind == 0:
        return rng.choice(calls)
    if kind in (1, 2):
        return _sound(rng, ahead, calls)
    if kind in (3, 4, 5):
        return _sound(rng, now, calls)
    return now.world.propose(rng) if one_in(rng, 4) else _sound(rng, now, [])


def _sound(rng: Random, possible: Possible, near: list[ToolCall]) -> ToolCall:
    """A call that the policy allows, on a record that `near` ones name, if a few tries find one."""
    ids = {key for call in near for key in _ids(call)} - {possible.world.me}
    best = possible.world.propose(rng)
    for _ in range(TRIES):
        call = possible.world.propose(rng)
        if ids and not _ids(call) & ids:
            continue
        best = call
        truth = possible.judge(call)
        if not (truth.due or truth.ghost or truth.ungrounded):
            break
    return best


def _ids(call: ToolCall) -> set[str]:
    """The ids that a call names."""
    groups = [call.arguments, *call.arguments.get("payment_methods", [])]
    return {str(v) for given in groups for name, v in given.items() if name.endswith("_id")}
