"""Guesses of what a tool is: a read, a write or neither, by its name and its description."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ledgeragent.compiler.source.toolfile import ToolSpec

# fmt: off
READ_WORDS = frozenset((
    "browse", "count", "describe", "fetch", "find", "get", "list", "look", "lookup", "read", "retrieve",
    "search", "show", "view",
))
WRITE_WORDS = frozenset((
    "accept", "activate", "add", "appeal", "apply", "approve", "assign", "authenticate", "book",
    "cancel", "change", "charge", "clear", "close", "confirm", "create", "deactivate", "decline",
    "delete", "deposit", "disable", "edit", "enable", "end", "exchange", "grant", "insert", "issue",
    "login", "logout", "make", "mark", "modify", "move", "open", "order", "pause", "pay", "place",
    "post", "purge", "put", "reactivate", "refund", "register", "reject", "release", "remove",
    "rename", "renew", "replace", "reschedule", "reserve", "reset", "resume", "return", "revoke",
    "save", "schedule", "send", "set", "start", "stop", "submit", "suspend", "transfer", "update",
    "upgrade", "void", "waive", "withdraw", "write",
))
# fmt: on
_NEUTRALS = re.compile(r"think|calculate|transfer_to_human\w*")


def guess(tool: ToolSpec) -> tuple[str, str]:
    """(`read`, `write` or `neutral`; why it is no read where a hint or method would have it one)."""
    if _NEUTRALS.fullmatch(tool.name):
        return "neutral", ""
    verb, *others = words_of(tool.name)
    says_read = verb in READ_WORDS and not _writes(others)
    if (
        tool.destructive
        or tool.read_only is False
        or tool.method in ("post", "put", "patch", "delete")
    ):
        return (
            "write",
            "its name says that it reads, but its description does not" if says_read else "",
        )
    if says_read:
        return "read", ""
    if tool.read_only or tool.method in ("get", "head"):
        return "write", "it is described as reading only; move it to reads if that is so"
    return "write", ""


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case."""
    words = re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", name)
    return [word.lower() for word in words if word] or [name]


def _writes(words: Sequence[str]) -> bool:
    """True for get_or_create and find_and_replace; an order or a booking that is got is a thing."""
    joined = any(word in ("and", "or", "then") for word in words)
    return joined and any(word in WRITE_WORDS for word in words)
