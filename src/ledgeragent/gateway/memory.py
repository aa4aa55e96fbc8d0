"""What the gateway knows of a conversation, found again by the history that the client sends.

A history is folded once: the state after each prefix is kept under the prefix's digest, so a turn
costs only its new messages. The digest covers our own replies, so two conversations that happen to
begin alike never share more than what follows from the messages they share.
"""

from __future__ import annotations

import hashlib
import marshal
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ledgeragent.domain import Domain
from ledgeragent.state import State
from ledgeragent.types import Message, Reply, ToolReturn, UserMessage, canonical

Digest = bytes
ROOT: Digest = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The state after some history, and what the model must still be told of rejected calls."""

    state: State = field(default_factory=State)
    feedback: str = ""

    def after(self, message: Message, domain: Domain) -> Memory:
        """This memory one message of the history later. Feedback lasts until the next reply."""
        feedback = "" if isinstance(message, Reply) else self.feedback
        return replace(self, state=self.state.observe(message, domain), feedback=feedback)


def digest(previous: Digest, message: Message) -> Digest:
    """The digest of a history one message longer."""
    return hashlib.blake2b(previous + marshal.dumps(_parts(message), 2), digest_size=16).digest()


def _parts(message: Message) -> Any:
    match message:
        case UserMessage():
            return ("user", message.text)
        case ToolReturn():
            content = message.content
            text = content if isinstance(content, str) else canonical(content)
            return ("tool", message.call_id, text, message.error)
        case Reply():
            calls = [(call.id, *call.intent) for call in message.calls]
            return ("reply", message.text, calls)


class Memories:
    """The memories of recent histories, the least recently used dropped past `limit`.

    Dropping one costs time, not correctness: its history is folded again when it comes back.
    """

    def __init__(self, limit: int = 20_000) -> None:
        self._limit = limit
        self._known: OrderedDict[Digest, Memory] = OrderedDict()

    def recall(
        self, key: Digest, memory: Memory, messages: Sequence[Message], domain: Domain
    ) -> tuple[Digest, Memory, Iterator[Message]]:
        """The digest and memory after `messages`, which follow the history of `key`.

        The third value are the messages that had not been seen before, oldest first.
        """
        keys = [key]
        for message in messages:
            keys.append(digest(keys[-1], message))
        known = next((n for n in range(len(keys) - 1, 0, -1) if keys[n] in self._known), 0)
        if known:
            memory = self._known[keys[known]]
        for message in messages[known:]:
            memory = memory.after(message, domain)
        self.keep(keys[-1], memory)
        return keys[-1], memory, iter(messages[known:])

    def keep(self, key: Digest, memory: Memory) -> None:
        """Remembers what is known after the history of `key`."""
        self._known[key] = memory
        self._known.move_to_end(key)
        while len(self._known) > self._limit:
            self._known.popitem(last=False)

    def __len__(self) -> int:
        return len(self._known)
