"""A request posted to the upstream on a pooled connection, in as few steps as the library allows.

The library's client does for every request what only some of all programs need: cookies, redirections,
traces, tasks for long bodies, two timers for each read. That costs more than all of the judging.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.idleconnections import IdleConnections
from ledgeragent.gateway.patience import Patience
from ledgeragent.gateway.transfercoding import check_framing
from ledgeragent.gateway.upstreamrequest import UpstreamRequest
from ledgeragent.gateway.wirehead import wire_head

try:
    import aiohttp
    from aiohttp import EMPTY_PAYLOAD
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.connector import Connection
    from aiohttp.http import HttpProcessingError, RawResponseMessage
    from multidict import CIMultiDictProxy
    from yarl import URL
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

_CHUNK = 1 << 16


class PostOffice:
    """The connections to one origin, and how long an answer on them is waited for."""

    def __init__(self, origin: str, timeout: aiohttp.ClientTimeout) -> None:
        self.connector = aiohttp.TCPConnector(limit=0)
        self.idle = IdleConnections()
        self.timeout = timeout
        self.patience = Patience(timeout.sock_read or math.inf, timeout.total or None)
        # Never sent: it tells the connector where connections go.
        self.address = aiohttp.ClientRequest("POST", URL(origin))
        self._origin = len(origin)
        self._host = self.address.headers["host"]

    def head(self, url: str, headers: Mapping[str, str], size: int) -> bytes:
        """What stands before a body. ValueError for a header that would be more than one."""
        first = [f"POST {url[self._origin :]} HTTP/1.1", f"host: {self._host}"]
        return wire_head(first, headers, size)

    async def close(self) -> None:
        """Waits for nothing any more, and closes the connections."""
        self.patience.close()
        self.idle.close()
        await self.connector.close()


class Posting(UpstreamRequest["Posting"]):
    """One request of a body that is here: `status`, `headers` and `content` of its answer."""

    __slots__ = ("_connection", "_data", "_office", "content", "headers", "status")

    status: int
    headers: CIMultiDictProxy[str]

    def __init__(
        self, office: PostOffice, url: str, body: bytes, headers: Mapping[str, str]
    ) -> None:
        super().__init__(is_repeatable=True)
        self._office = office
        self._data = office.head(url, headers, len(body)) + body
        self._connection: Connection | None = None
        self.content: aiohttp.StreamReader = EMPTY_PAYLOAD

    async def _ask(self) -> Posting:
        office = self._office
        connection = office.idle.take()
        self.is_reused = connection is not None
        if connection is None:
            connection = await office.connector.connect(office.address, [], office.timeout)
        self._connection = connection
        office.patience.begin(self)
        protocol, transport = connection.protocol, connection.transport
        assert protocol is not None
        if transport is None:
            raise aiohttp.ServerDisconnectedError
        protocol.set_response_params(
            read_until_eof=True, auto_decompress=False, read_bufsize=_CHUNK
        )
        transport.write(self._data)
        message, self.content = await self._answer(protocol)
        self.status, self.headers = message.code, message.headers
        check_framing(self.headers)
        return self

    async def _answer(
        self, protocol: ResponseHandler
    ) -> tuple[RawResponseMessage, aiohttp.StreamReader]:
        """The answer behind those that only say that one will come."""
        try:
            while True:
                message, content = await protocol.read()
                if message.code >= 200 or message.code == 101:
                    return message, content
                self.is_heard = True
        except aiohttp.ServerDisconnectedError as problem:
            self.is_heard |= isinstance(problem.message, RawResponseMessage)  # The half of one.
            raise
        except HttpProcessingError as problem:
            raise aiohttp.ClientPayloadError(problem.message) from None

    async def _end(self, *, is_whole: bool) -> None:
        self._office.patience.end(self)
        connection, self._connection = self._connection, None
        if connection is None:
            return
        transport = connection.transport
        if is_whole and transport is not None and not transport.get_write_buffer_size():
            self._office.idle.keep(connection)
        else:
            connection.close()

    @property
    def progress(self) -> int | None:
        """How many bytes of the answer came; None while it comes faster than it is read."""
        transport = self._connection.transport if self._connection is not None else None
        if transport is not None and not transport.is_reading():
            return None
        return self.content.total_bytes + (self.content is not EMPTY_PAYLOAD)

    def give_up(self) -> None:
        """Ends the answer with a TimeoutError."""
        silent = aiohttp.SocketTimeoutError("the answer took too long")
        if self._connection is not None and self._connection.protocol is not None:
            self._connection.protocol.set_exception(silent)
        self.content.set_exception(silent)
