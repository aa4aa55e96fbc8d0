"""Releases: which calls of a client's history the gateway let out itself, and which are only claimed.

Where the gateway keeps a conversation, it knows what it sent. A call that it never sent was not
judged, and what answers it is no evidence, whatever the client's copy of the history says.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ledgeragent.absorb import touched_by
from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.state import State
from ledgeragent.types import Reply, ToolCall

UNRELEASED_HEADER = "x-ledgeragent-unreleased"

WORDS = "-words"
"""Stands, among the names of tools, for words of the agent that it was not heard to say."""


class Restatement(NamedTuple):
    """A reply as a client gives it back: `state` after it, and the tools of `claims` in it."""

    state: State
    claims: tuple[str, ...]


def restated(state: State, reply: Reply, domain: Domain) -> Restatement:
    """What a reply that the client sends says of a conversation that the gateway keeps.

    Calls that were released keep waiting, in the order of the reply, since results are paired with
    calls of one id by their order. A claimed write may have been made by somebody all the same, so
    that what it touches is unknown until it is read.
    """
    released, waiting, claimed = _parted(reply.calls, state.pending)
    ledger = state.ledger
    for call in claimed:
        if domain.effect(call.name) is Effect.WRITE:
            ledger = ledger.marked(touched_by(ledger, call, domain), call)
    claims = [call.name for call in claimed]
    if domain.listens and reply.text.strip():
        claims.append(WORDS)
    return Restatement(state._replace(ledger=ledger, pending=(*released, *waiting)), tuple(claims))


def _parted(
    calls: Iterable[ToolCall], pending: Sequence[ToolCall]
) -> tuple[list[ToolCall], list[ToolCall], list[ToolCall]]:
    """The calls among those that wait, those that wait beside them, and the calls that don't."""
    places: defaultdict[tuple[str, tuple[str, str]], deque[int]] = defaultdict(deque)
    waiting = dict(enumerate(pending))
    for place, call in waiting.items():
        places[call.id, call.intent].append(place)
    released: list[ToolCall] = []
    claimed: list[ToolCall] = []
    for call in calls:
        same = places.get((call.id, call.intent))
        if same:
            released.append(waiting.pop(same.popleft()))
        else:
            claimed.append(call)
    return released, list(waiting.values()), claimed
