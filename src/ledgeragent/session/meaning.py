"""What the calls of a host mean: under names of its own, or of a tool that stands before others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ledgeragent.dispatching import explained, inner_call, inner_reply
from ledgeragent.domain import Domain
from ledgeragent.session.wirenames import WireNames
from ledgeragent.types import Message, Reply, ToolCall


@dataclass(frozen=True, slots=True)
class Meaning:
    """The calls of a host that has `names` of its own for tools, as a domain's rules are to see them."""

    names: WireNames
    domain: Domain

    def call(self, call: ToolCall) -> ToolCall:
        """The call that a call means."""
        return inner_call(self.names.call(call), self.domain)

    def reply(self, reply: Reply) -> Reply:
        """The reply with every call as the one that it means."""
        return inner_reply(self.names.reply(reply), self.domain)

    def messages(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """The messages with every call as the one that it means."""
        return tuple(self.reply(m) if isinstance(m, Reply) else m for m in messages)

    def spoken(self, text: str) -> str:
        """A text for the model, with the tools in it as it has to call them."""
        return self.names.spoken(explained(text, self.domain))
