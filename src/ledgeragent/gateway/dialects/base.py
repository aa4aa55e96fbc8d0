"""What a wire format has to provide: reading a request and a reply, and writing both back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from ledgeragent.gate import Filtered
from ledgeragent.gateway.errors import BadRequestError
from ledgeragent.gateway.logprobs import Cut
from ledgeragent.gateway.readhistory import NOTHING, Earlier, ReadHistory
from ledgeragent.gateway.sse import ServerEvent
from ledgeragent.gateway.values import DEFAULT_BOUND, TooManyValuesError, ValueBound
from ledgeragent.gateway.wirejson import decoded, decoded_distinct, encoded
from ledgeragent.types import Message, Reply

Body: TypeAlias = dict[str, Any]
"""A decoded JSON object as it goes over the wire."""


class OfferedTool(NamedTuple):
    """A tool that a request offers to the model; `parameters` are None where they are not known."""

    name: str
    parameters: frozenset[str] | None = None
    description: str = ""


class Request(NamedTuple):
    """A request as the gateway sees it: the history, and whether its answer streams.

    `after` names an earlier reply that the history continues; upstream keeps what came before it.
    `tools` are those that the model is offered, `forced` is the one that it has to call, "" for none.
    `structured` if the client will read the answer's text as JSON. `reading` is what of the messages
    the next request of the conversation need not be read for, if anything.
    """

    messages: tuple[Message, ...]
    stream: bool
    after: str | None = None
    tools: tuple[OfferedTool, ...] = ()
    forced: str = ""
    structured: bool = False
    reading: ReadHistory | None = None


class WireReply(NamedTuple):
    """A reply as the gate reads it, and as it stood on the wire; `id` if it can be continued by it."""

    reply: Reply
    raw: Any
    id: str = ""


class Rejected(NamedTuple):
    """A reply of which nothing could be sent, and what the gate has against it.

    `texts` is what the model hears of its calls, each in its turn.
    """

    raw: Any
    filtered: Filtered
    texts: tuple[str, ...]

    @property
    def answers(self) -> Iterator[tuple[str, str]]:
        """The id of each call, and what answers it."""
        calls = (verdict.call for verdict in self.filtered.verdicts)
        return ((call.id, text) for call, text in zip(calls, self.texts, strict=True))


class PendingAnswer(NamedTuple):
    """What a call that the client never saw must be answered with, where upstream remembers it.

    `behind` counts the calls of the same id that the client did see and that came before it.
    """

    call_id: str
    feedback: str
    behind: int = 0


class Tail(NamedTuple):
    """What goes behind the history: the rejected replies of this turn, and the ledger block.

    `after` is upstream's own name for the reply that the history continues, `owed` the calls in it
    that upstream still waits for. `place` is the form of the ledger block, one of the dialect's.
    """

    place: str
    context: str
    rejected: Sequence[Rejected] = ()
    after: str = ""
    owed: Sequence[PendingAnswer] = ()


class Stream(Protocol):
    """One streamed answer to the client, put together from one or more upstream streams.

    What is not in upstream's replies as it should be may raise whatever it does; see `reading`.
    """

    @property
    def repeated(self) -> int:
        """How much of the current reply's text, from its beginning, the client has read before.

        It is not sent again.
        """
        ...

    def feed(self, event: ServerEvent) -> Iterable[ServerEvent]:
        """What of this upstream event may pass at once; calls of guarded tools are held back."""
        ...

    def reply(self) -> WireReply:
        """The reply of the current upstream stream, once it has ended; BadReplyError if it is cut."""
        ...

    def again(self) -> None:
        """Another upstream stream follows: the model was asked to revise."""
        ...

    @property
    def items(self) -> Sequence[Body]:
        """The parts of the answer that the client may name in a later request instead of sending them."""
        ...

    def finish(self, filtered: Filtered, text: str) -> Iterable[ServerEvent]:
        """The held calls that may execute, `text` of ours, and the end of the answer."""
        ...

    def fail(self, problem: str) -> Iterable[ServerEvent]:
        """The end of an answer that cannot be completed."""
        ...


class Dialect(Protocol):
    """One wire format."""

    path: str

    is_read_in_order: bool
    """True if each of a body's `messages` is read as it is whatever follows it."""

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms in which the ledger block may stand, in the order in which they are tried."""
        ...

    @property
    def echoes(self) -> bool:
        """True if a client gives back, as what the agent said, the text of ours that it was sent."""
        ...

    def refusing(self, structured: bool) -> Dialect:
        """The format as it refuses clients who will read the text of an answer as JSON, or others."""
        ...

    def conversation(self, body: Body, earlier: Earlier = NOTHING) -> Request:
        """The request's history; BadRequestError names the field that cannot be read.

        `earlier` is what of it was read before, where it is read in order.
        """
        ...

    def prompt(self, body: Body, tail: Tail) -> Body:
        """The request for upstream, with the tail behind the history."""
        ...

    def replies(self, answer: Body) -> tuple[WireReply, ...]:
        """The replies of an answer, one per choice; BadReplyError where they cannot be read."""
        ...

    def answer(self, answer: Body, choices: Sequence[tuple[Filtered, str]]) -> Body:
        """The answer for the client: each choice with only its allowed calls, and `text` of ours."""
        ...

    def items(self, answer: Body) -> Sequence[Body]:
        """The parts of an answer that the client may name in a later request."""
        ...

    def stream(self, passes: frozenset[str]) -> Stream:
        """An assembler; calls of the tools in `passes` are not held back."""
        ...

    def error(self, status: int, problem: str) -> Body:
        """An error as this format writes it."""
        ...


def decode_reply(raw: bytes, bound: ValueBound, *, distinct: bool = False) -> Body:
    """The same of a reply, without what it says of the likelihood of its words where that is much."""
    try:
        bound.check(raw)
    except TooManyValuesError:
        cut = Cut(raw)
        reply = decode(cut.text, distinct=distinct, bound=bound)
        if not cut.mend(reply):
            raise
        return reply
    return decode(raw, distinct=distinct, bound=bound)


def decode(raw: bytes, *, distinct: bool = False, bound: ValueBound = DEFAULT_BOUND) -> Body:
    """The JSON object in a body. ValueError says why there is none; TooManyValuesError is one.

    A body that goes on as it stands has to be `distinct`: parsers disagree which of two equal keys
    counts.
    """
    bound.check(raw)
    try:
        value = decoded_distinct(raw) if distinct else decoded(raw)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("it should be a JSON object")
    return value


def encode(body: Body) -> bytes:
    """The body as it goes over the wire."""
    return encoded(body)


def listed(body: Mapping[str, Any], name: str, where: str = "") -> list[Any]:
    """A field that may be absent and otherwise holds a list."""
    value = body.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadRequestError(f"{where}{name}: should be a list")
    return value


def flag(body: Body, name: str) -> bool:
    """A field that may be absent and otherwise holds true or false."""
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise BadRequestError(f"{name}: should be true or false")
    return bool(value)


def refuse(body: Body, fields: Mapping[str, str]) -> None:
    """BadRequestError for the first of these fields that is in use, saying why it cannot be.

    An object is in use when it is empty: then it asks for a feature as it is by default.
    """
    for name, why in fields.items():
        if name in body and (body[name] or isinstance(body[name], dict)):
            raise BadRequestError(f"{name}: {why}")


def text_of(content: Any, where: str) -> str:
    """The text of a content field: text itself, or a list of parts of which some are text."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise BadRequestError(f"{where}: should be text or a list of parts")
    parts = (part.get("text") or part.get("refusal") for part in content if isinstance(part, dict))
    return "".join(part for part in parts if isinstance(part, str))


def result_of(content: Any, where: str) -> Any:
    """What a tool returned, as it stands: text itself, or a list of parts. The core reads it."""
    if content is None:
        return ""
    if not isinstance(content, str | list):
        raise BadRequestError(f"{where}: should be text or a list of parts")
    return content


def string(raw: Mapping[str, Any], name: str, where: str) -> str:
    """A field that has to be text."""
    value = raw.get(name)
    if not isinstance(value, str):
        raise BadRequestError(f"{where}.{name}: should be text")
    return value


HOSTED = "only function tools can be judged; one that runs upstream cannot"
