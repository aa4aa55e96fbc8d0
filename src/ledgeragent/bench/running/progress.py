"""The lines that a long run writes to standard error while it goes on, without any key."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit

Announce: TypeAlias = Callable[[str], None]

_SHORTEST_SECRET = 8


def tell(line: str) -> None:
    """Writes a line at once, whole where several threads write."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def teller(*secrets: str | None) -> Announce:
    """A `tell` that leaves out these secrets: a server's words may repeat a key, ours never do."""
    return lambda line: tell(masked(line, *secrets))


def masked(text: str, *secrets: str | None) -> str:
    """The text without these secrets.

    A dummy key of a few letters is no secret, and stands inside ordinary words.
    """
    for secret in secrets:
        if secret and len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return text


def secrets_of(url: str | None) -> Iterator[str]:
    """The secrets that an address may carry: a password, the values of its query."""
    try:
        parts = urlsplit(url or "")
        yield parts.password or ""
    except ValueError:
        return
    yield from (value for _, value in parse_qsl(parts.query))


def again(what: str, problem: str, attempt: int, attempts: int, seconds: float) -> str:
    """The line on a try that failed and is not the last one."""
    return f"{what}: {problem}; try {attempt} of {attempts}, again in {seconds:g} s"
