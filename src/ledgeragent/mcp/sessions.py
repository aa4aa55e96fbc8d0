"""Sessions: which conversation a connection, or a single request, takes part in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ledgeragent.adapters.common import Policy
from ledgeragent.errors import LedgerAgentError, UsageError
from ledgeragent.mcp.serverrecord import ServerRecord
from ledgeragent.mcp.shared import SharedSession
from ledgeragent.stores.base import ProcessStore, SessionStore

SessionScope: TypeAlias = Literal["client", "process", "name", "header", "meta"]

_HELP = "client, process, name:TEXT, header:NAME or meta:NAME"


class UnnamedSessionError(LedgerAgentError):
    """A request that should name its session, and does not."""


@dataclass(frozen=True, slots=True)
class SessionPer:
    """What a session is one per: a `scope`, and the name that some scopes have.

    `client`: each connection has its own. `process`: all that reach this proxy share one. `name`:
    the one of this name. `header` and `meta`: the one that a header of HTTP, or a key of a call's
    `_meta`, names.
    """

    scope: SessionScope = "client"
    name: str = ""

    @classmethod
    def parse(cls, text: str) -> SessionPer:
        """What an option like `header:X-Conversation` says; UsageError for anything else."""
        scope, colon, name = text.partition(":")
        match scope:
            case "client" | "process" if not colon:
                return cls(scope)
            case "name" | "header" | "meta" if name:
                return cls(scope, name.lower() if scope == "header" else name)
            case _:
                raise UsageError(f"--session-per {text}: should be {_HELP}")


class Sessions:
    """The sessions of one proxy: those that connections are in, and in `store` those at rest.

    `record` is of the server that all of them use.
    """

    def __init__(
        self, guard: Policy, per: SessionPer | None = None, store: SessionStore | None = None
    ) -> None:
        self.guard = guard
        self.per = per or SessionPer()
        self.record = ServerRecord.under(guard)
        self._store = store or ProcessStore()
        self._live: dict[str, SharedSession] = {}

    async def open(self) -> None:
        """Makes the store ready. Raises SessionStoreError."""
        await self._store.open()

    async def close(self) -> None:
        """Releases the store."""
        await self._store.close()

    @property
    def outlive_connections(self) -> bool:
        """True if one connection may go on where another has left off."""
        return self.per.scope != "client"

    def of_connection(self, headers: Mapping[str, str]) -> SharedSession | None:
        """The session of a connection with these headers; None where each call names its own.

        Raises UnnamedSessionError.
        """
        match self.per.scope:
            case "client":
                return SharedSession(self.guard.open())
            case "meta":
                return None
            case "header":
                return self._named(self._header(headers))
            case _:
                return self._named(self.per.name)

    def key_of(self, headers: Mapping[str, str]) -> str:
        """What tells the sessions of connections apart: "" where headers do not."""
        return self._header(headers) if self.per.scope == "header" else ""

    def _header(self, headers: Mapping[str, str]) -> str:
        name = headers.get(self.per.name, "")
        if not name:
            raise UnnamedSessionError(
                f"this proxy keeps a session for each value of the header {self.per.name}, and this "
                "request has none"
            )
        return name

    def of_request(self, params: Mapping[str, Any]) -> SharedSession:
        """The session that a request names in its `_meta`. Raises UnnamedSessionError."""
        meta = params.get("_meta")
        name = meta.get(self.per.name) if isinstance(meta, Mapping) else None
        if not isinstance(name, str) or not name:
            raise UnnamedSessionError(
                f"this proxy keeps a session for each value of {self.per.name} in a call's _meta, and "
                "this call has none"
            )
        return self._named(name)

    def _named(self, name: str) -> SharedSession:
        key = self._key(name)
        if key not in self._live:
            self._live[key] = SharedSession(self.guard.open(), key, self._store)
        return self._live[key]

    def _key(self, name: str) -> str:
        """Where a session is kept. Names may be secrets, such as a token: they are kept as digests."""
        text = json.dumps([self.per.scope, self.per.name, name])
        return f"mcp:{hashlib.blake2b(text.encode(), digest_size=20).hexdigest()}"

    def left(self, session: SharedSession) -> None:
        """Forgets a session that nobody is in; it is taken up again from where it rests."""
        if not session.members and not session.tasks:
            self._live.pop(session.key, None)
