"""What a wire format has to provide: reading a request and a reply, and writing both back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from ledgeragent.errors import LedgerAgentError
from ledgeragent.gate import Filtered
from ledgeragent.gateway.sse import Event
from ledgeragent.types import Message, Reply

Body: TypeAlias = dict[str, Any]
"""A decoded JSON object as it goes over the wire."""


class BadRequestError(LedgerAgentError):
    """A request that the gateway cannot judge, and so does not forward."""


class BadReplyError(LedgerAgentError):
    """An upstream reply that cannot be read, and so is not handed on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A request as the gateway sees it: the history, the agent's tools, and whether it streams.

    `after` names an earlier reply that the history continues (kept on the server by its id).
    """

    messages: tuple[Message, ...]
    tools: frozenset[str]
    stream: bool
    after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """What goes behind the history: the rejected replies of this turn, and the ledger block."""

    rejected: Sequence[Filtered]
    context: str


class Stream(Protocol):
    """One streamed answer to the client, put together from one or more upstream streams."""

    def feed(self, event: Event) -> Iterable[Event]:
        """What of this upstream event may pass at once; calls of guarded tools are held back."""
        ...

    def reply(self) -> Reply:
        """The reply of the current upstream stream, once it has ended; BadReplyError if it is cut."""
        ...

    def again(self) -> None:
        """Another upstream stream follows: the model was asked to revise."""
        ...

    def finish(self, filtered: Filtered | None, text: str) -> Iterable[Event]:
        """The held calls that may execute, `text` of ours, and the end of the answer."""
        ...

    def fail(self, problem: str) -> Iterable[Event]:
        """The end of an answer that cannot be completed."""
        ...


class Dialect(Protocol):
    """One wire format."""

    path: str

    def conversation(self, body: Body) -> Conversation:
        """The request's history; BadRequestError names the field that cannot be read."""
        ...

    def prompt(self, body: Body, tail: Tail) -> Body:
        """The request for upstream, with the tail behind the history."""
        ...

    def replies(self, answer: Body) -> tuple[Reply, ...]:
        """The replies of an answer, one per choice; BadReplyError where they cannot be read."""
        ...

    def answer(self, answer: Body, choices: Sequence[tuple[Filtered, str]]) -> Body:
        """The answer for the client: each choice with only its allowed calls, and `text` of ours."""
        ...

    def stream(self, passes: frozenset[str] | None) -> Stream:
        """An assembler; calls of the tools in `passes` are not held back, None for all of them."""
        ...

    def error(self, status: int, problem: str) -> Body:
        """An error as this format writes it."""
        ...
