"""The journal: every observation, proposal, verdict and execution, append-only and hash-chained."""

from __future__ import annotations

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
