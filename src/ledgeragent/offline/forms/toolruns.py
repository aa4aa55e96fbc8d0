"""Runs of tools that a tracer recorded on their own: they answer the calls that end a conversation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ledgeragent.offline.forms.scribe import Scribe
from ledgeragent.types import Json, Reply, ToolCall, ToolReturn, canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """A call that a tool ran: what it was given, what it gave back; `key` is the call's id, if known."""

    name: str
    arguments: Json
    result: Json
    error: bool = False
    key: str | None = None

    def answers(self, call: ToolCall) -> bool:
        """True if it is this call that ran: by its id, else by its name and arguments."""
        if self.key is not None:
            return self.key == call.id
        return self.name == call.name and canonical(self.arguments) == canonical(call.arguments)


def answer_last(threads: Iterable[Scribe], runs: Iterable[ToolRun]) -> None:
    """Adds the returns that no later request to the model repeats: those of each last reply."""
    left = [*runs]
    for thread in threads:
        replies = [n for n, m in enumerate(thread.messages) if isinstance(m, Reply)]
        last = thread.messages[replies[-1]] if replies else None
        if not isinstance(last, Reply):
            continue
        after = thread.messages[replies[-1] + 1 :]
        present = {m.call_id for m in after if isinstance(m, ToolReturn)}
        for call in last.calls:
            # The last run is meant: an equal call before it was answered where it stands.
            run = next((r for r in reversed(left) if r.answers(call)), None)
            if call.id in present or run is None:
                continue
            left.remove(run)
            content = run.result if run.result is not None else ""
            thread.messages.append(ToolReturn(call_id=call.id, content=content, error=run.error))
