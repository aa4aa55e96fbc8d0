"""Histories: messages of the past lead to the state, the tickets and the ids that they led to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ledgeragent.gate import NOT_EXECUTED
from ledgeragent.returned import unwrapped
from ledgeragent.session.ids import CallIds
from ledgeragent.session.live import LiveState
from ledgeragent.session.tickets import Tickets, final_rejections
from ledgeragent.types import Message, Reply, ToolReturn


@dataclass(frozen=True, slots=True)
class HistoryReader:
    """Reads messages of the past into a conversation that begins with them."""

    live: LiveState
    tickets: Tickets
    ids: CallIds

    def read(self, messages: Sequence[Message], old: int) -> None:
        """Takes in a history, of which the journal was told the `old` first messages before."""
        for number, message in enumerate(messages):
            self._read(message, new=number >= old)

    def _read(self, message: Message, *, new: bool) -> None:
        if not isinstance(message, ToolReturn):
            self.cut(new=new)
        if isinstance(message, Reply):
            self.ids.use(call.id for call in message.calls)
            _, filtered = self.live.foresee(message)
            tickets = self.tickets.issue(filtered)
            self.live.remember(final_rejections(self.live.state.rejections, filtered, tickets))
        # What a history shows as executed was executed, whatever the gate would say of it now.
        self.live.observe(message, new=new and not _is_refusal(message))

    def cut(self, *, new: bool) -> None:
        """Takes calls of a history that nobody answered for interrupted ones."""
        for call in self.live.state.pending:
            self.live.interrupt(call, new=new)


def _is_refusal(message: Message) -> bool:
    """True for an answer of ours to a call that was rejected, which is no execution."""
    return isinstance(message, ToolReturn) and _text(message).startswith(NOT_EXECUTED)


def _text(returned: ToolReturn) -> str:
    return str(unwrapped(returned.content))
