"""Recorder: tells a journal what happens in conversations, in the same records for every way in."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Literal, TypeAlias

from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.gate import Filtered
from ledgeragent.state import State
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

if TYPE_CHECKING:
    from ledgeragent.journal import Journal

Mode: TypeAlias = Literal["enforce", "shadow"]
"""`shadow` judges and records, and changes nothing."""

_PROCESS = os.urandom(6).hex()
_NUMBERS = count(1)


def new_session() -> str:
    """A name for a conversation in the journal, never used before."""
    return f"{_PROCESS}-{next(_NUMBERS)}"


def call_of(returned: ToolReturn, state: State) -> ToolCall | None:
    """The call that a return answers: an open one, else one whose result was given up for lost."""
    calls = (*state.pending, *(doubt.call for doubt in state.ledger.unconfirmed))
    return next((call for call in calls if call.id == returned.call_id), None)


@dataclass(frozen=True, slots=True)
class Recorder:
    """`journal` may be None: then nothing is recorded."""

    domain: Domain
    journal: Journal | None = None

    def note(self, session: str, message: Message, before: State, after: State) -> None:
        """Records a message that led from one state to the next. A reply is noted as proposed."""
        if self.journal is None:
            return
        match message:
            case UserMessage():
                self.journal.heard(session, message)
            case Reply():
                self.journal.proposed(session, message)
            case ToolReturn():
                self._answered(self.journal, session, message, before, after)

    def _answered(
        self, journal: Journal, session: str, message: ToolReturn, before: State, after: State
    ) -> None:
        call = call_of(message, before)
        if call is not None and after.last is not None:
            is_read = self.domain.effect(call.name) is Effect.READ
            tell = journal.observed if is_read else journal.executed
            tell(session, call, message, after.last)

    def judged(
        self, session: str, reply: Reply, filtered: Filtered, *, shadow: bool = False
    ) -> None:
        """Records a reply and its verdicts; returns once they are with the operating system."""
        if self.journal is not None:
            self.journal.proposed(session, reply)
            self.journal.judged(session, filtered, shadow=shadow)

    def judged_again(self, session: str, filtered: Filtered, *, shadow: bool = False) -> None:
        """Records new verdicts on a reply that was recorded before."""
        if self.journal is not None:
            self.journal.judged(session, filtered, shadow=shadow)
