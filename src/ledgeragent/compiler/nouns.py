"""Nouns in the names of tools: what a read is about, and what several of it are called."""

from __future__ import annotations

from ledgeragent.compiler.guesses import words_of

_FILLERS = ("all", "detail", "details", "id", "info", "information", "status")


def noun_of(tool: str) -> str:
    """The thing that a read is about: its name without verb and filler words, up to "by" or "for"."""
    words = []
    for word in words_of(tool)[1:]:
        if word in ("by", "for", "of"):
            break
        if word not in _FILLERS:
            words.append(word)
    return "_".join(words) or "record"


def plural(noun: str) -> str:
    """The noun for several of it."""
    if noun.endswith("s"):
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
