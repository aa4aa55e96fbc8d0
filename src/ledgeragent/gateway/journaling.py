"""The journal as a gateway writes it: what cannot be recorded is not answered either."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from ledgeragent.gateway.errors import StoreError
from ledgeragent.journal import Journal
from ledgeragent.types import Json


class GatewayJournal(Journal):
    """A journal whose failures are the request's; StoreError for what could not be written."""

    def _write(self, event: str, session: str, data: Mapping[str, Json]) -> None:
        try:
            super()._write(event, session, data)
        except (OSError, sqlite3.Error) as problem:
            reason = getattr(problem, "strerror", None) or str(problem)
            raise StoreError(f"the journal cannot be written: {reason}") from None
