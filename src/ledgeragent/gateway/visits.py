"""A visit: one request of a conversation, from what was known before it to what is known after.

A conversation is found by the history it sends, by a session's name, or by the reply it continues.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from ledgeragent.gateway.dialects.base import Request
from ledgeragent.gateway.errors import BadRequestError, ConflictError, StoreError
from ledgeragent.gateway.feedback import Feedback, tells
from ledgeragent.gateway.memory import ROOT, Digest, Histories, Match, digest
from ledgeragent.gateway.recorder import MemoryRecorder
from ledgeragent.gateway.references import keep
from ledgeragent.gateway.settlement import Settlement
from ledgeragent.gateway.storage import SessionStorage
from ledgeragent.journal.recorder import new_session
from ledgeragent.stores.base import SavedSession
from ledgeragent.stores.memory import Memory
from ledgeragent.types import Message, ToolReturn, UserMessage

_REMEMBERED = 32


class Visitor(NamedTuple):
    """Who asks: a session's `name` if the client gave one, the `scope` that names are unique in."""

    name: str | None
    scope: str
    size: int

    def session_key(self) -> str:
        """Where the session is kept."""
        return self._key("session", self.name or "")

    def reply_key(self, id: str) -> str:
        """Where what is known after a reply is kept."""
        return self._key("reply", id)

    def item_key(self, id: str) -> str:
        """Where an item that was sent is kept."""
        return self._key("item", id)

    def history_key(self, digest: Digest) -> str:
        """Where what goes with a history is kept."""
        return self._key("history", digest.hex())

    def _key(self, kind: str, name: str) -> str:
        text = json.dumps([kind, self.scope, name])
        return f"{kind}:{hashlib.blake2b(text.encode(), digest_size=20).hexdigest()}"


class Visit:
    """A request under way. `memory` is what is known of its history; `settled` once it is answered.

    `claims` are the tools of calls in it that the gateway, which keeps the conversation, never released.
    """

    memory: Memory
    settled = False
    claims: tuple[str, ...] = ()

    def __init__(self, visitor: Visitor, store: SessionStorage) -> None:
        self.visitor = visitor
        self.store = store

    async def begin(self) -> None:
        """Makes it ready once its messages are taken in."""

    async def settle(self, choices: Sequence[Settlement]) -> None:
        """Keeps what each choice of the answer leaves behind."""
        self.settled = True
        for choice in choices:
            if choice.id or choice.items:
                await self._name(choice)

    async def _name(self, choice: Settlement) -> None:
        """Keeps a choice under the names by which a later request may go on from it."""
        if choice.id:
            key = self.visitor.reply_key(choice.id)
            saved = await self.store.load(key)
            version = saved.version if saved is not None else 0
            await self.store.save(key, SavedSession(memory=choice.memory, version=version))
        if choice.items:
            await keep(choice.items, self.visitor.item_key, self.store)

    async def release(self, *, is_recorded: bool = True) -> None:
        """Nothing was answered: the next request with this history is a retry.

        What the journal could not be told is taken in again by it.
        """


class HistoryVisit(Visit):
    """Found by its history."""

    def __init__(
        self, visitor: Visitor, store: SessionStorage, memories: Histories, match: Match
    ) -> None:
        super().__init__(visitor, store)
        self._memories = memories
        self._match = match

    @property
    def _feedback(self) -> Feedback:
        return Feedback(self.store, self.visitor.history_key)

    def fold(self, recorder: MemoryRecorder, messages: Sequence[Message]) -> None:
        """Takes in the new messages; a branch is told from its beginning, under its own name."""
        match = self._match
        if match.branched:
            earlier = messages[: len(messages) - len(match.new)]
            recorder.fold(Memory(session=match.memory.session), earlier)
        self.memory = recorder.fold(match.memory, match.new)

    async def begin(self) -> None:
        """Takes up what was kept of a history that was folded again."""
        if self._match.replied:
            self.memory = await self._feedback.restored(self._match.replied, self.memory)
        self._memories.begin(self._match, self.memory, self.visitor.size)

    async def settle(self, choices: Sequence[Settlement]) -> None:
        """Keeps what is known after the reply under the history that ends in it."""
        await super().settle(choices)
        history, size = self._match.key, self.visitor.size
        for choice in choices:
            key = digest(history, choice.reply)
            self._memories.settle(history, key, choice.memory, size)
            if tells(choice.memory):
                await self._feedback.keep(key, choice.memory)

    async def release(self, *, is_recorded: bool = True) -> None:
        """Frees the history for its retry."""
        if is_recorded:
            self._memories.release(self._match.key)
        else:
            self._memories.forget(self._match)


class SessionVisit(Visit):
    """Found by the name that the client gave its session."""

    def __init__(self, visitor: Visitor, store: SessionStorage, saved: SavedSession) -> None:
        super().__init__(visitor, store)
        self._saved = saved

    def fold(self, recorder: MemoryRecorder, messages: Sequence[Message]) -> None:
        """Takes in what comes after the latest message that was folded before."""
        waiting = frozenset(call.id for call in self._saved.memory.state.pending)
        new = unseen(self._saved.folded, messages, waiting)
        self.memory, self.claims = recorder.fold_released(self._saved.memory, new)
        self._folded = (*self._saved.folded, *map(mark, new))

    async def settle(self, choices: Sequence[Settlement]) -> None:
        """Keeps the session; of several choices nobody knows which one the client goes on with.

        So the calls of all of them are released.
        """
        await super().settle(choices)
        if len(choices) == 1:
            await self._save(choices[0].memory, (*self._folded, mark(choices[0].reply)))
        else:
            state = self.memory.state
            released = (call for choice in choices for call in choice.memory.state.pending)
            state = state._replace(pending=(*state.pending, *released))
            await self._save(self.memory._replace(state=state), self._folded)

    async def release(self, *, is_recorded: bool = True) -> None:
        """Keeps what was folded, if that can be done."""
        if not is_recorded:
            return
        with suppress(StoreError, ConflictError):
            await self._save(self.memory, self._folded)

    async def _save(self, memory: Memory, folded: tuple[str, ...]) -> None:
        saved = replace(self._saved, memory=memory, folded=folded[-_REMEMBERED:])
        await self.store.save(self.visitor.session_key(), saved)


class ReplyVisit(Visit):
    """Found by the reply that it continues."""

    def __init__(self, visitor: Visitor, store: SessionStorage, memory: Memory) -> None:
        super().__init__(visitor, store)
        self.memory = memory

    def fold(self, recorder: MemoryRecorder, messages: Sequence[Message]) -> None:
        """Takes in the messages, which are all new."""
        self.memory, self.claims = recorder.fold_released(self.memory, messages)


@dataclass(frozen=True, slots=True)
class Visits:
    """Where conversations are found again."""

    memories: Histories
    store: SessionStorage
    require_session: bool = False

    async def open(
        self, conversation: Request, visitor: Visitor, recorder: MemoryRecorder
    ) -> Visit:
        """The visit, with the history folded and recorded."""
        visit: HistoryVisit | SessionVisit | ReplyVisit
        if conversation.after is not None:
            visit = await self._continued(conversation.after, visitor)
        elif visitor.name is not None:
            saved = await self.store.load(visitor.session_key())
            fresh = SavedSession(memory=Memory(session=f"{visitor.name}@{visitor.scope[:8]}"))
            visit = SessionVisit(visitor, self.store, saved or fresh)
        elif self.require_session:
            raise BadRequestError(
                "this gateway believes no history but its own record of a session: name the "
                "conversation in the header x-ledgeragent-session, from its first request on"
            )
        else:
            match = self.memories.find(conversation.messages, visitor.scope, conversation.reading)
            visit = HistoryVisit(visitor, self.store, self.memories, match)
        visit.fold(recorder, conversation.messages)
        await visit.begin()
        return visit

    async def _continued(self, id: str, visitor: Visitor) -> ReplyVisit:
        key = visitor.reply_key(id)
        saved = await self.store.load(key)
        if saved is None:
            raise BadRequestError(
                f"previous_response_id: {id!r} is not known here, so what it continues cannot be "
                "judged; send the whole input instead"
            )
        memory = saved.memory
        if saved.is_continued:
            memory = memory._replace(session=new_session())
        else:
            await self.store.save(key, replace(saved, is_continued=True))
        return ReplyVisit(visitor, self.store, memory)


def mark(message: Message) -> str:
    """What a message is recognised by."""
    return digest(ROOT, message).hex()


def unseen(
    folded: Sequence[str], messages: Sequence[Message], waiting: frozenset[str] = frozenset()
) -> Sequence[Message]:
    """What comes after the newest message that was folded already; all, if none is there.

    A turn of the user that ends the request is always new, since the same words may well be said
    twice, and so is a return that one of the calls `waiting` wants, since ids and answers repeat.
    """
    places = {mark(message): n for n, message in enumerate(messages)}
    at = next((places[m] for m in reversed(folded) if m in places), -1)
    if 0 <= at == len(messages) - 1 and isinstance(messages[at], UserMessage):
        at -= 1
    while at >= 0 and _answers(messages[at], waiting):
        at -= 1
    return messages[at + 1 :]


def _answers(message: Message, waiting: frozenset[str]) -> bool:
    return isinstance(message, ToolReturn) and message.call_id in waiting
