"""Wire names: what an agent calls the pack's tools, where that is not what the pack calls them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from ledgeragent.types import Message, Reply, ToolCall


@dataclass(frozen=True)
class WireNames:
    """The names of `tools` on the wire, with the pack's, where the two differ."""

    tools: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.tools)

    def tool(self, name: str) -> str:
        """The pack's name for a tool."""
        return self.tools.get(name, name)

    def call(self, call: ToolCall) -> ToolCall:
        """The call under the pack's name."""
        name = self.tool(call.name)
        return call if name == call.name else replace(call, name=name)

    def reply(self, reply: Reply) -> Reply:
        """The reply with every call under the pack's name."""
        if not any(call.name in self.tools for call in reply.calls):
            return reply
        return replace(reply, calls=tuple(map(self.call, reply.calls)))

    def messages(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """The messages with every call under the pack's name."""
        return tuple(self.reply(m) if isinstance(m, Reply) else m for m in messages)

    def spoken(self, text: str) -> str:
        """A text for the model, with calls in it under the names that it was given."""
        if not self.tools:
            return text
        return self._calls.sub(lambda match: self._shown[match[0]], text)

    @cached_property
    def _shown(self) -> Mapping[str, str]:
        return {tool: name for name, tool in self.tools.items()}

    @cached_property
    def _calls(self) -> re.Pattern[str]:
        longest_first = sorted(self._shown, key=len, reverse=True)
        return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?=\()")
