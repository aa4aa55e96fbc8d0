"""Folds messages into a memory, and tells the journal of each on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ledgeragent.gateway.memory import Memory, weight
from ledgeragent.journal.recorder import Recorder as AnyRecorder
from ledgeragent.types import Message, Reply


@dataclass(frozen=True, slots=True)
class MemoryRecorder(AnyRecorder):
    """The recorder of every way in, which knows what the gateway keeps of a conversation."""

    def fold(self, memory: Memory, messages: Iterable[Message]) -> Memory:
        """The memory after these messages, each of them recorded."""
        state, feedback, size = memory.state, memory.feedback, memory.size
        for message in messages:
            after = state.observe(message, self.domain)
            self.note(memory.session, message, state, after)
            if isinstance(message, Reply):
                feedback = ""
            state = after
            size += weight(message)
        return replace(memory, state=state, feedback=feedback, size=size)
