"""What the gateway knows of a conversation, found again by the history that the client sends.

A history is folded once: what is known after it is kept under its digest, so a turn costs only its
new messages. The digest covers our own replies. Conversations that happen to begin alike share what
follows from the messages they share, and nothing else.
"""

from __future__ import annotations

import hashlib
import marshal
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ledgeragent.gateway.readhistory import ReadHistory
from ledgeragent.journal.recorder import new_session
from ledgeragent.persistent import PersistentMap
from ledgeragent.rejections import Rejections
from ledgeragent.stores.memory import NOT_REFUSED, Memory, beginning
from ledgeragent.types import Message, Reply, ToolReturn, UserMessage, canonical

Digest = bytes
ROOT: Digest = b""

_PIECE = 1 << 18
# A named tuple's own constructor costs three times as much.
_tuple = tuple.__new__


def digest(previous: Digest, message: Message) -> Digest:
    """The digest of a history one message longer.

    Spaces in what was said don't count: clients trim and join text, and no rule should rest on them.
    """
    return hashlib.blake2b(previous + marshal.dumps(_parts(message), 2), digest_size=16).digest()


def _parts(message: Message) -> Any:
    # By type and not by pattern, which would look at each class three times as long.
    if isinstance(message, UserMessage):
        return ("user", _unspaced(message.text))
    if isinstance(message, ToolReturn):
        content = message.content
        text = content if isinstance(content, str) else canonical(content)
        marks = (message.error, "lost") if message.lost else (message.error,)
        return ("tool", message.call_id, text, *marks)
    calls = [(call.id, *call.intent) for call in message.calls]
    return ("reply", _unspaced(message.text), calls)


def _unspaced(text: str) -> str:
    """The text without its spaces, put together in pieces: others get a turn between two of them."""
    if len(text) <= _PIECE:
        return "".join(text.split())
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    return "".join(["".join(piece.split()) for piece in pieces])


@dataclass(slots=True)
class KnownHistory:
    """One remembered history, `size` bytes of JSON long.

    `is_continued` once a request has gone on from it.
    """

    memory: Memory
    parent: Digest
    size: int
    is_continued: bool = False


class Match(NamedTuple):
    """Where a history picks up: `memory` holds all but `new`, its last messages.

    `branched` says that another conversation has gone on from here, so that `memory` carries a
    session of its own, which has not been told anything yet. `replied` is the history up to its last
    reply, where that is among the new messages: known once, but not any more.
    """

    memory: Memory
    new: Sequence[Message]
    branched: bool
    key: Digest
    parent: Digest
    replied: Digest = ROOT


class Histories:
    """The memories of recent histories, the least recently used dropped past `limit` bytes.

    A history counts with the size of the request it came in. Dropping one loses the loop guard's
    count; all else is folded again when it comes back.
    """

    def __init__(self, limit: int = 256 << 20) -> None:
        self._limit = limit
        self._size = 0
        self._known: OrderedDict[Digest, KnownHistory] = OrderedDict()

    def find(
        self, messages: Sequence[Message], scope: str = "", reading: ReadHistory | None = None
    ) -> Match:
        """The longest part of a history that is known in this scope, and the rest of it.

        What the reading has digests of is not digested again.
        """
        keys = [scope.encode()]
        if reading is not None and reading.digests and reading.digests[0] == keys[0]:
            keys = [*reading.digests]
        for message in messages[len(keys) - 1 :]:
            keys.append(digest(keys[-1], message))
        if reading is not None:
            reading.digests = keys
        at = len(messages)
        while at and keys[at] not in self._known:
            at -= 1
        place = len(messages)
        while place > at and not isinstance(messages[place - 1], Reply):
            place -= 1
        replied = keys[place] if place > at else ROOT
        if at == 0:
            return _tuple(
                Match, (beginning(new_session()), messages, False, keys[-1], ROOT, replied)
            )
        history = self._known[keys[at]]
        self._known.move_to_end(keys[at])
        branched = history.is_continued
        history.is_continued = True
        memory = history.memory
        if branched:
            memory = memory._replace(session=new_session())
        # A retry finds its own history; it goes on from where that one went on.
        parent = keys[at] if at < len(messages) else history.parent
        return _tuple(Match, (memory, messages[at:], branched, keys[-1], parent, replied))

    def begin(self, match: Match, memory: Memory, size: int) -> None:
        """Remembers the history of a request that is under way."""
        history = self._known.get(match.key)
        if history is None:
            self._put(match.key, KnownHistory(memory, match.parent, size, is_continued=True))

    def release(self, key: Digest) -> None:
        """The request of this history came to nothing: the next one with it is its retry."""
        if key in self._known:
            self._known[key].is_continued = False

    def forget(self, match: Match) -> None:
        """The request came to nothing, and of its messages nothing is known: all are new to its retry."""
        if match.key != match.parent:
            self._drop(match.key)
        self.release(match.parent)

    def settle(self, history: Digest, key: Digest, memory: Memory, size: int) -> None:
        """Remembers, under `key`, what is known after a reply to a history.

        What led to the turn before the last is dropped.
        """
        twin = self._known.get(key)
        if twin is not None:
            twin.memory = shared(twin.memory, memory)
            return
        self._put(key, KnownHistory(memory, history, size))
        here = self._known.get(history)
        last = self._known.get(here.parent) if here is not None else None
        before = self._drop(last.parent) if last is not None else None
        if before is not None:
            self._drop(before.parent)

    def _put(self, key: Digest, history: KnownHistory) -> None:
        self._known[key] = history
        self._size += history.size
        while self._size > self._limit and len(self._known) > 1:
            self._drop(next(iter(self._known)))

    def _drop(self, key: Digest) -> KnownHistory | None:
        history = self._known.pop(key, None)
        if history is not None:
            self._size -= history.size
        return history

    def __len__(self) -> int:
        return len(self._known)


def shared(one: Memory, other: Memory) -> Memory:
    """What two conversations with the very same messages may both know: nothing of only one."""
    counts, others = one.state.rejections.counts, other.state.rejections.counts
    both = {
        intent: {key: min(n, others[intent][key]) for key, n in by.items() if key in others[intent]}
        for intent, by in counts.items()
        if intent in others
    }
    return one._replace(
        state=one.state._replace(rejections=Rejections(counts=PersistentMap(both))),
        unsent=one.unsent if one.unsent == other.unsent else (),
        warnings=one.warnings if one.warnings == other.warnings else (),
        refusals=one.refusals if one.refusals == other.refusals else NOT_REFUSED,
    )
