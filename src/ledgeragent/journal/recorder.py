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
from ledgeragent.types import Message, Reply, ToolReturn, UserMessage

if TYPE_CHECKING:
    from ledgeragent.journal import Journal

Mode: TypeAlias = Literal["enforce", "shadow"]
"""`shadow` judges and records, and changes nothing."""

_PROCESS = os.urandom(6).hex()
_NUMBERS = count(1)


def new_session() -> str:
    """A name for a conversation in the journal, never used before."""
    return f"{_PROCESS}-{next(_NUMBERS)}"


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
                self._answered(self.journal, session, message, after)

    def _answered(self, journal: Journal, session: str, message: ToolReturn, after: State) -> None:
        absorption = after.last
        if absorption is not None and absorption.call is not None:
            is_read = self.domain.effect(absorption.call.name) is Effect.READ
            record = journal.observed if is_read else journal.executed
            record(session, absorption.call, message, absorption)

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
