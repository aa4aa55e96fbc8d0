"""Folds messages into a memory, and tells the journal and the operator of each on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ledgeragent.absorb import Absorption
from ledgeragent.gateway.notices import Notices
from ledgeragent.journal.recorder import Recorder as AnyRecorder
from ledgeragent.state import State
from ledgeragent.stores.memory import Memory, weight
from ledgeragent.types import Message, Reply, ToolReturn


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecorder(AnyRecorder):
    """The recorder of every way in, which knows what the gateway keeps of a conversation."""

    notices: Notices

    def fold(self, memory: Memory, messages: Iterable[Message]) -> Memory:
        """The memory after these messages, each of them recorded."""
        state, size = memory.state, memory.size
        for message in messages:
            if isinstance(message, Reply):
                state = _restated(state, message)
                memory = replace(memory, unsent=(), warnings=())
            after = state.observe(message, self.domain)
            self.note(memory.session, message, state, after)
            if isinstance(message, ToolReturn):
                self._answered_to(memory.session, after.last)
            state = after
            size += weight(message, listens=self.domain.listens)
        return replace(memory, state=state, size=size)

    def _answered_to(self, session: str, absorption: Absorption | None) -> None:
        if absorption is not None and absorption.call is not None:
            self.notices.answered(session, absorption.call.name, absorption)


def _restated(state: State, reply: Reply) -> State:
    """The state in which what a reply calls again, by the same id, is not taken for unanswered.

    A client that gives a reply back with other words in it has not made its calls twice.
    """
    again = {(call.id, call.intent) for call in reply.calls}
    open_calls = (c for c in state.pending if not again or (c.id, c.intent) not in again)
    return state._replace(pending=tuple(open_calls))
