"""Shadow mode: every byte passes as it is, and what the gate would have said is recorded."""

from __future__ import annotations

from dataclasses import dataclass, field

from ledgeragent.effects import Effect
from ledgeragent.gate import Filtered, Gate
from ledgeragent.gateway.dialects.base import Dialect, WireReply, decode_reply
from ledgeragent.gateway.dialects.reading import reading
from ledgeragent.gateway.errors import BadReplyError
from ledgeragent.gateway.recorder import MemoryRecorder
from ledgeragent.gateway.settlement import Settlement
from ledgeragent.gateway.sse import EventParser
from ledgeragent.gateway.values import ValueBound
from ledgeragent.stores.memory import Memory, weight
from ledgeragent.types import Reply, ToolCall


@dataclass(slots=True, kw_only=True)
class Shadow:
    """Listens to one answer. `verdicts` are there once it has been heard to its end."""

    dialect: Dialect
    gate: Gate
    memory: Memory
    recorder: MemoryRecorder
    bound: ValueBound
    verdicts: list[Filtered] = field(default_factory=list)

    def hear(self, raw: bytes) -> list[Settlement]:
        """Judges a whole answer. BadReplyError if it cannot be read."""
        with reading():
            replies = self.dialect.replies(decode_reply(raw, self.bound))
        return [self._judge(wire) for wire in replies]

    def hear_parts(self, parts: list[bytes]) -> list[Settlement]:
        """Judges a whole answer that came in parts. BadReplyError if it cannot be read."""
        return self.hear(b"".join(parts))

    def hear_stream(self, chunks: list[bytes]) -> list[Settlement]:
        """Judges a streamed answer. BadReplyError if it cannot be read."""
        parser, stream = EventParser(self.bound), self.dialect.stream(frozenset())
        with reading():
            for chunk in chunks:
                for event in parser.feed(chunk):
                    for _ in stream.feed(event):
                        pass
            wire = stream.reply()
        return [self._judge(wire)]

    def _judge(self, wire: WireReply) -> Settlement:
        try:
            state, filtered = self.memory.state.filter(wire.reply, self.gate, "drop")
            listens = self.gate.domain.listens
            size = self.memory.size + weight(wire.reply, listens=listens)
        except RecursionError:
            raise BadReplyError("the arguments of a call are nested too deeply") from None
        self.recorder.judged(self.memory.session, wire.reply, filtered, shadow=True)
        self.verdicts.append(filtered)
        state = state._replace(pending=wire.reply.calls, raced=self._raced(wire.reply))
        memory = self.memory._replace(state=state, unsent=(), warnings=(), upstream="", size=size)
        # Formats whose replies have names have items with names, and `raw` is a list of them.
        return Settlement(wire.reply, memory, wire.id, wire.raw if wire.id else ())

    def _raced(self, reply: Reply) -> tuple[ToolCall, ...]:
        """The writes that may run beside other calls: rejected ones run as well."""
        effect = self.gate.domain.effect
        writes = (call for call in reply.calls if effect(call.name) is Effect.WRITE)
        return tuple(writes) if len(reply.calls) > 1 else ()
