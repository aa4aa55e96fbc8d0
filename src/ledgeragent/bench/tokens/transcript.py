"""A conversation as plain text, for models that read it and do not take part in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ledgeragent.bench.tokens.prompt_cost import text_of
from ledgeragent.types import Message, Reply, ToolReturn, UserMessage

_WHO: Mapping[type, str] = {UserMessage: "Customer", Reply: "Agent", ToolReturn: "Tool"}


def transcript(messages: Iterable[Message]) -> str:
    """Each message with who spoke, a line or more each."""
    return "\n".join(f"{_WHO[type(message)]}: {text_of(message)}" for message in messages)
