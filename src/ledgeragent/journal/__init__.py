"""The journal: every observation, proposal, verdict and execution, append-only and hash-chained."""

from __future__ import annotations

from ledgeragent.journal.chain import GENESIS, JOURNAL_VERSION, Chain, Event, chained, read, verify
from ledgeragent.journal.redaction import REDACTED, Redaction
from ledgeragent.journal.stores import JsonlStore, SqliteStore, Store, open_store
from ledgeragent.journal.writer import Journal, stamp_of

__all__ = [
    "GENESIS",
    "JOURNAL_VERSION",
    "REDACTED",
    "Chain",
    "Event",
    "Journal",
    "JsonlStore",
    "Redaction",
    "SqliteStore",
    "Store",
    "chained",
    "open_store",
    "read",
    "stamp_of",
    "verify",
]
