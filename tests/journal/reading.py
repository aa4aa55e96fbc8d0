"""A journal as a test reads it: opened, read to its end and closed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from ledgeragent.journal.chain import Chain, read, verify
from ledgeragent.journal.opening import open_store


def records_of(file: Path) -> list[dict[str, Any]]:
    """Every record of a journal."""
    with closing(open_store(file)) as store:
        return list(read(store))


def chain_of(file: Path) -> Chain:
    """What a walk along the chain of a journal finds."""
    with closing(open_store(file)) as store:
        return verify(store)
