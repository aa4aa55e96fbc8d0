"""The hashes of published data, so that a copy can say which it is."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files


@cache
def _published() -> dict[tuple[str, str], str]:
    text = (files("ledgeragent.bench.datasets") / "known.toml").read_text(encoding="utf-8")
    return {(row["domain"], row["sha256"]): row["of"] for row in tomllib.loads(text)["published"]}


def recognized(domain: str, hashed: str) -> str:
    """In words: which published files these are."""
    of = _published().get((domain, hashed))
    return f"the files of {of}" if of is not None else "of no version known here"
