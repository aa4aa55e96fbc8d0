"""Folds messages into a memory, and tells the journal and the operator of each on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ledgeragent.absorb import Absorption
from ledgeragent.gateway.journaling import GatewayJournal
from ledgeragent.gateway.notices import Notices
from ledgeragent.gateway.releases import restated
from ledgeragent.journal.recorder import Recorder as AnyRecorder
from ledgeragent.state import State
from ledgeragent.stores.memory import Memory, weight
from ledgeragent.types import Message, Reply, ToolReturn


class Folding(NamedTuple):
    """A memory after messages of a client, and the `claims` in them that it does not rest on."""

    memory: Memory
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecorder(AnyRecorder):
    """The recorder of every way in, which knows what the gateway keeps of a conversation."""

    notices: Notices

    def fold(self, memory: Memory, messages: Iterable[Message]) -> Memory:
        """The memory after these messages, each of them recorded."""
        for message in messages:
            if isinstance(message, Reply):
                memory = memory.past_reply(_restated(memory.state, message))
            memory = self._observed(memory, message)
        return memory

    def fold_released(self, memory: Memory, messages: Iterable[Message]) -> Folding:
        """The memory after messages of a conversation that the gateway keeps itself.

        Replies in them are the client's word only: nothing new was released with them.
        """
        claims: list[str] = []
        for message in messages:
            if isinstance(message, Reply):
                state, unreleased = restated(memory.state, message, self.domain)
                memory = memory._replace(state=state)
                claims += unreleased
            else:
                memory = self._observed(memory, message)
        self.notices.claimed(memory.session, claims)
        return Folding(memory, tuple(claims))

    async def written(self, memory: Memory) -> None:
        """Returns once all that was recorded of a conversation is written; StoreError if it is not."""
        if isinstance(self.journal, GatewayJournal):
            await self.journal.written(memory.session)

    async def is_written(self, memory: Memory) -> bool:
        """Whether all that was recorded of a conversation is written, once that is known."""
        if isinstance(self.journal, GatewayJournal):
            return await self.journal.is_written(memory.session)
        return True

    def _observed(self, memory: Memory, message: Message) -> Memory:
        after = memory.state.observe(message, self.domain)
        self.note(memory.session, message, memory.state, after)
        if isinstance(message, ToolReturn):
            self._answered_to(memory.session, after.last)
        size = memory.size + weight(message, listens=self.domain.listens)
        return memory.after(after, size)

    def _answered_to(self, session: str, absorption: Absorption | None) -> None:
        if absorption is not None and absorption.call is not None:
            self.notices.answered(session, absorption.call.name, absorption)


def _restated(state: State, reply: Reply) -> State:
    """The state in which what a reply calls again, by the same id, is not taken for unanswered.

    A client that gives a reply back with other words in it has not made its calls twice.
    """
    if not state.pending or not reply.calls:
        return state
    again = {(call.id, call.intent) for call in reply.calls}
    open_calls = (call for call in state.pending if (call.id, call.intent) not in again)
    return state._replace(pending=tuple(open_calls))
