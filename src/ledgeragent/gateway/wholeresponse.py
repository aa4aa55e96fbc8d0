"""A whole response: head and body are here, and go out in one piece.

The library's own response may be compressed, chunked or upgraded; finding out each time that it is not
costs more than writing it.
"""

from __future__ import annotations

from collections.abc import Mapping

from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.wirehead import wire_head

try:
    from aiohttp import HttpVersion11, web
    from aiohttp.helpers import rfc822_formatted_time
    from aiohttp.http import SERVER_SOFTWARE
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None


def whole_response(
    request: web.BaseRequest, body: bytes, headers: Mapping[str, str]
) -> web.StreamResponse:
    """The 200 with this body; `headers` are in small letters, and say of which type it is."""
    # An application may have signals, which change the library's own response before it goes out.
    is_plain = type(request) is web.BaseRequest and request.version == HttpVersion11
    if is_plain and request.keep_alive:
        return WholeResponse(body, headers)
    return web.Response(body=body, headers=headers)


class WholeResponse(web.StreamResponse):
    """A 200 on a connection that stays."""

    def __init__(self, body: bytes, headers: Mapping[str, str]) -> None:
        # Without the headers: in the library's own table nobody would read them again.
        super().__init__()
        self._data = wire_head(["HTTP/1.1 200 OK"], _completed(headers), len(body)) + body

    @property
    def keep_alive(self) -> bool:
        """True: another request may follow."""
        return True

    async def prepare(self, request: web.BaseRequest) -> None:
        """Writes all of it."""
        transport = request.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the client is gone")
        transport.write(self._data)
        # Where all of it is out already, there is nothing to be waited for.
        if transport.get_write_buffer_size():
            await request.writer.drain()

    async def write_eof(self, data: bytes = b"") -> None:
        """Nothing is left to be written."""


def _completed(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers with those that every response has."""
    return {"date": rfc822_formatted_time(), "server": SERVER_SOFTWARE, **headers}
