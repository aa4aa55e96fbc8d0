"""The tools of a request: which of the pack's each name stands for, and which are no business of it."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ledgeragent.dispatching import DispatchingDomain
from ledgeragent.domain import Domain
from ledgeragent.effects import Write
from ledgeragent.gate import Filtered, Gate
from ledgeragent.gateway.dialects.base import (
    Body,
    Dialect,
    OfferedTool,
    Rejected,
    Request,
    Stream,
    Tail,
    WireReply,
)
from ledgeragent.gateway.errors import BadRequestError
from ledgeragent.gateway.notices import Notices
from ledgeragent.gateway.readhistory import NOTHING, Earlier
from ledgeragent.gateway.recorder import MemoryRecorder
from ledgeragent.gateway.sse import ServerEvent
from ledgeragent.session.controls import control_tool, reaches_a_write, with_neutrals
from ledgeragent.session.meaning import Meaning
from ledgeragent.session.toolnames import NameReading, ToolNames, ending
from ledgeragent.session.wirenames import WireNames
from ledgeragent.types import Message, Reply
from ledgeragent.verdict import Decision

_REMEMBERED = 256
_WRITTEN_CALL = re.compile(r"""["']name["']\s*:\s*["']([\w.:/-]+)["']""")


@dataclass(frozen=True, kw_only=True)
class Roster:
    """The tools of one request. `names` are those on the wire, with the pack's where the two differ.

    `gate` and `recorder` know which other tools change no record. `passes` are the pack's tools, and
    those, whose calls need no judging. `is_guarded` if one of the pack's is among them.
    """

    names: WireNames
    gate: Gate
    recorder: MemoryRecorder
    passes: frozenset[str]
    is_guarded: bool

    def conversation(self, request: Request) -> Request:
        """The request with every call under the pack's name."""
        if not self._reads_otherwise:
            return request
        messages = self.meaning.messages(request.messages)
        # The names may be others in the next request, so nothing of these is kept for it.
        return request._replace(messages=messages, reading=None)

    @property
    def meaning(self) -> Meaning:
        """What calls under the names on the wire mean."""
        return Meaning(self.names, self.gate.domain)

    @cached_property
    def _reads_otherwise(self) -> bool:
        return bool(self.names) or isinstance(self.gate.domain, DispatchingDomain)

    def dialect(self, dialect: Dialect) -> Dialect:
        """The format, in which the model hears of tools by the names that it was given."""
        return NamedDialect(dialect, self) if self._reads_otherwise else dialect

    def wire_passes(self, passes: frozenset[str]) -> frozenset[str]:
        """The names on the wire of these tools."""
        renamed = {name for name, tool in self.names.tools.items() if tool in passes}
        return frozenset(renamed | (passes - self.names.tools.keys()))


class NamedDialect:
    """A format whose replies are read under the pack's names."""

    def __init__(self, inner: Dialect, roster: Roster) -> None:
        self.path = inner.path
        self.is_read_in_order = inner.is_read_in_order
        self.inner = inner
        self.roster = roster

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms in which the ledger block may stand."""
        return self.inner.forms

    @property
    def echoes(self) -> bool:
        """True if a client gives back the text of ours that it was sent."""
        return self.inner.echoes

    def refusing(self, structured: bool) -> NamedDialect:
        """The format as it refuses clients who will read the text of an answer as JSON, or others."""
        return NamedDialect(self.inner.refusing(structured), self.roster)

    def conversation(self, body: Body, earlier: Earlier = NOTHING) -> Request:
        """The request's history, under the pack's names."""
        return self.roster.conversation(self.inner.conversation(body, earlier))

    def prompt(self, body: Body, tail: Tail) -> Body:
        """The request for upstream, whose tail names tools as the request does."""
        spoken = self.roster.meaning.spoken
        rejected = [Rejected(r.raw, r.filtered, tuple(map(spoken, r.texts))) for r in tail.rejected]
        owed = [pending._replace(feedback=spoken(pending.feedback)) for pending in tail.owed]
        named = tail._replace(rejected=rejected, context=spoken(tail.context), owed=owed)
        return self.inner.prompt(body, named)

    def replies(self, answer: Body) -> tuple[WireReply, ...]:
        """The replies of an answer, under the pack's names."""
        return tuple(self._named(wire) for wire in self.inner.replies(answer))

    def _named(self, wire: WireReply) -> WireReply:
        return wire._replace(reply=self.roster.meaning.reply(wire.reply))

    def answer(self, answer: Body, choices: Sequence[tuple[Filtered, str]]) -> Body:
        """The answer for the client, which keeps the names on the wire."""
        return self.inner.answer(answer, choices)

    def items(self, answer: Body) -> Sequence[Body]:
        """The parts of an answer that the client may name in a later request."""
        return self.inner.items(answer)

    def stream(self, passes: frozenset[str]) -> Stream:
        """An assembler; calls of the pack's tools in `passes` are not held back."""
        return NamedStream(self.inner.stream(self.roster.wire_passes(passes)), self.roster)

    def error(self, status: int, problem: str) -> Body:
        """An error as this format writes it."""
        return self.inner.error(status, problem)


@dataclass(frozen=True, slots=True)
class NamedStream:
    """A streamed answer whose replies are read under the pack's names."""

    inner: Stream
    roster: Roster

    @property
    def repeated(self) -> int:
        """How much of the reply's text the client has read before."""
        return self.inner.repeated

    def feed(self, event: ServerEvent) -> Iterable[ServerEvent]:
        """What of this upstream event may pass at once."""
        return self.inner.feed(event)

    def reply(self) -> WireReply:
        """The reply of the current upstream stream, under the pack's names."""
        wire = self.inner.reply()
        return wire._replace(reply=self.roster.meaning.reply(wire.reply))

    @property
    def items(self) -> Sequence[Body]:
        """The parts of the answer that the client may name in a later request."""
        return self.inner.items

    def again(self) -> None:
        """Another upstream stream follows."""
        self.inner.again()

    def finish(self, filtered: Filtered, text: str) -> Iterable[ServerEvent]:
        """The held calls that may execute, `text` of ours, and the end of the answer."""
        return self.inner.finish(filtered, text)

    def fail(self, problem: str) -> Iterable[ServerEvent]:
        """The end of an answer that cannot be completed."""
        return self.inner.fail(problem)


class Rosters:
    """Finds the roster of each request. Requests that offer the same tools share one."""

    def __init__(
        self,
        *,
        gate: Gate,
        recorder: MemoryRecorder,
        names: ToolNames,
        notices: Notices,
        require_tools: bool = False,
    ) -> None:
        self._gate = gate
        self._recorder = recorder
        self._names = names
        self._notices = notices
        self._require_tools = require_tools
        self._tools = frozenset(tool.tool for tool in gate.domain.tools)
        self._writes = [tool.tool for tool in gate.domain.tools if isinstance(tool, Write)]
        self._recent: OrderedDict[tuple[object, ...], Roster] = OrderedDict()
        names.check(self._tools)

    def of(self, request: Request) -> Roster:
        """The roster of a request; BadRequestError if it has no tool of the pack but has to."""
        used = _called(request.messages)
        key = (request.tools, request.forced, used)
        roster = self._recent.get(key)
        if roster is None:
            roster = self._recent[key] = self._make(request, used)
            if len(self._recent) > _REMEMBERED:
                self._recent.popitem(last=False)
        else:
            self._recent.move_to_end(key)
        if written := self._written(request, roster):
            self._notices.written(written)
        # What a request continues may have a tool of the pack in it.
        if not roster.is_guarded and request.after is None:
            self._unguarded()
        return roster

    def _written(self, request: Request, roster: Roster) -> set[str]:
        """The pack's tools whose calls the last reply has as text, as a framework wrote them there."""
        last = _last_reply(request.messages)
        if last is None or last.calls:
            return set()
        names = _WRITTEN_CALL.findall(last.text)
        return set(map(roster.names.tool, names)) & self._tools

    def _unguarded(self) -> None:
        self._notices.unguarded(refused=self._require_tools)
        if self._require_tools:
            raise BadRequestError(
                "tools: none of them is a tool of this gateway's policy pack, so that nothing this "
                "agent does could be judged; offer the tools natively (not in the prompt's text)"
            )

    def _make(self, request: Request, used: frozenset[str]) -> Roster:
        offered = [tool.name for tool in request.tools]
        reading = self._names.read(dict.fromkeys([*offered, *sorted(used)]), self._tools)
        neutrals = self._neutrals(request, used, reading)
        domain = with_neutrals(self._gate.domain, sorted(neutrals))
        unknown = [n for n in offered if n not in reading.tools and domain.tool(n) is None]
        self._notices.offered(reading, neutrals, unknown, self._reaches(unknown))
        return Roster(
            names=WireNames(reading.tools),
            gate=replace(self._gate, domain=domain),
            recorder=replace(self._recorder, domain=domain),
            passes=passes_of(domain),
            is_guarded=any(
                reading.tools.get(name, name) in self._tools for name in (*offered, *used)
            ),
        )

    def _reaches(self, unknown: Iterable[str]) -> Mapping[str, str]:
        """Tools that are let through without being judged, and end in the name of a write."""
        if self._gate.unknown is not Decision.ALLOW:
            return {}
        endings = {name: ending(name, self._writes) for name in unknown}
        return {name: write for name, write in endings.items() if write is not None}

    def _neutrals(self, request: Request, used: frozenset[str], reading: NameReading) -> set[str]:
        """The tools outside the pack that change no record: by the operator's word, or a framework's.

        Nothing that ends in the name of one of the pack's writes is taken for one by itself.
        """
        offered = {tool.name: tool for tool in request.tools}
        others = {name: offered.get(name) or OfferedTool(name) for name in {*offered, *used}}
        forced = request.forced if len(offered) == 1 else ""
        controls = {n for n, tool in others.items() if self._is_control(tool, forced)}
        return (controls | self._names.neutrals) - reading.tools.keys()

    def _is_control(self, tool: OfferedTool, forced: str) -> bool:
        if tool.name in self._tools or reaches_a_write(tool.name, self._gate.domain):
            return False
        is_forced = forced == tool.name
        return (
            control_tool(tool.name, tool.parameters, tool.description, forced=is_forced) is not None
        )


def _last_reply(messages: Sequence[Message]) -> Reply | None:
    for message in reversed(messages):
        if isinstance(message, Reply):
            return message
    return None


def _called(messages: Iterable[Message]) -> frozenset[str]:
    """The tools that a history calls."""
    names: set[str] = set()
    for message in messages:
        if isinstance(message, Reply):
            for call in message.calls:
                names.add(call.name)
    return frozenset(names)


def passes_of(domain: Domain) -> frozenset[str]:
    """The tools whose calls need no judging."""
    guards = ((tool.tool, domain.guard(tool.tool)) for tool in domain.tools)
    return frozenset(name for name, guard in guards if guard and not guard.judged)
