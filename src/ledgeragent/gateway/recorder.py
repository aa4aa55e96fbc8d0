"""Folds messages into a memory, and tells the journal of each on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.gate import Filtered
from ledgeragent.gateway.memory import Memory
from ledgeragent.journal import Journal
from ledgeragent.state import State
from ledgeragent.types import Message, Reply, ToolReturn, UserMessage


@dataclass(frozen=True, slots=True)
class Recorder:
    """`journal` may be None: then nothing is recorded."""

    domain: Domain
    journal: Journal | None = None

    def fold(self, memory: Memory, messages: Iterable[Message]) -> Memory:
        """The memory after these messages, each of them recorded."""
        state, feedback = memory.state, memory.feedback
        for message in messages:
            after = state.observe(message, self.domain)
            if self.journal is not None:
                self._note(self.journal, memory.session, message, state, after)
            if isinstance(message, Reply):
                feedback = ""
            state = after
        return replace(memory, state=state, feedback=feedback)

    def judged(self, session: str, reply: Reply, filtered: Filtered, *, shadow: bool) -> None:
        """Records a reply and its verdicts; returns once they are with the operating system."""
        if self.journal is not None:
            self.journal.proposed(session, reply)
            self.journal.judged(session, filtered, shadow=shadow)

    def _note(
        self, journal: Journal, session: str, message: Message, before: State, after: State
    ) -> None:
        match message:
            case UserMessage():
                journal.heard(session, message)
            case Reply():
                journal.proposed(session, message)
            case ToolReturn():
                call = next((c for c in before.pending if c.id == message.call_id), None)
                if call is not None and after.last is not None:
                    read = self.domain.effect(call.name) is Effect.READ
                    tell = journal.observed if read else journal.executed
                    tell(session, call, message, after.last)
