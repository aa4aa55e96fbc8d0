"""The journal: every observation, proposal, verdict and execution, append-only and hash-chained."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ledgeragent.journal.chain import Chain, read, verify
    from ledgeragent.journal.checkpoints import Checkpoints
    from ledgeragent.journal.heads import Head, read_heads
    from ledgeragent.journal.opening import open_store
    from ledgeragent.journal.redaction import Redaction
    from ledgeragent.journal.sealing import GENESIS, JOURNAL_VERSION, Event
    from ledgeragent.journal.secrecy import REDACTED
    from ledgeragent.journal.sqlite import SqliteStore
    from ledgeragent.journal.stores import JsonlStore, Store
    from ledgeragent.journal.writer import Journal, stamp_of

__all__ = [
    "GENESIS",
    "JOURNAL_VERSION",
    "REDACTED",
    "Chain",
    "Checkpoints",
    "Event",
    "Head",
    "Journal",
    "JsonlStore",
    "Redaction",
    "SqliteStore",
    "Store",
    "open_store",
    "read",
    "read_heads",
    "stamp_of",
    "verify",
]

_PLACES = {
    "chain": ("Chain", "read", "verify"),
    "checkpoints": ("Checkpoints",),
    "heads": ("Head", "read_heads"),
    "opening": ("open_store",),
    "redaction": ("Redaction",),
    "sealing": ("GENESIS", "JOURNAL_VERSION", "Event"),
    "secrecy": ("REDACTED",),
    "sqlite": ("SqliteStore",),
    "stores": ("JsonlStore", "Store"),
    "writer": ("Journal", "stamp_of"),
}
"""Where each name stands. Who keeps no journal pays for none: its modules take half of a start."""


def __getattr__(name: str) -> Any:
    for module, names in _PLACES.items():
        if name in names:
            value = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
