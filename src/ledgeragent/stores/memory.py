"""What is known of a conversation between two requests of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ledgeragent.state import State
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage, canonical


class Unsent(NamedTuple):
    """A rejected call, which the client never saw.

    `note` is the loop guard's remark, `awaits` the calls of the same reply, in words, whose results had
    to come first. `behind` counts the calls of the same id that the client did
    see and that came before it; None where upstream has an answer to the call already.
    """

    call: ToolCall
    note: str
    awaits: str
    behind: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The state after some history, and what the model must still be told of the latest reply.

    `session` is the conversation's name in the journal. `unsent` are the rejected calls of that reply,
    `warnings` what was said of the others. `upstream` is upstream's name for it, for formats that
    continue a reply by name. `size` is about how many bytes it holds: the length of all that was
    taken in.
    """

    session: str
    state: State = field(default_factory=State)
    unsent: tuple[Unsent, ...] = ()
    warnings: tuple[str, ...] = ()
    upstream: str = ""
    size: int = 0


def weight(message: Message, *, listens: bool = False) -> int:
    """About how many bytes of a message stay: what tools returned, and what calls asked for.

    In domains that listen, also what was said.
    """
    match message:
        case ToolReturn(content=str(text)):
            return len(text)
        case ToolReturn():
            return len(canonical(message.content))
        case Reply():
            arguments = sum(len(call.intent[1]) for call in message.calls)
            return arguments + (len(message.text) if listens else 0)
        case UserMessage():
            return len(message.text) if listens else 0
