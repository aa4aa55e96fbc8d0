"""The bodies of requests: each within a size and a time, and all that are under way within a sum."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.coding import coding_of, unpacked
from ledgeragent.gateway.errors import (
    BrokenBodyError,
    OverloadedError,
    SlowRequestError,
    TooLargeError,
)

try:
    from aiohttp import StreamReader, web
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

_SMALL = 1 << 16
"""A body that takes no part in the sum: that of nearly every request."""

_AT_ONCE = 32
"""How many bodies of the largest size may be under way."""


class Bodies:
    """Reads bodies of at most `limit` bytes, each within `seconds`."""

    def __init__(self, limit: int, seconds: float) -> None:
        self._limit = limit
        self._seconds = seconds
        self._most = max(_AT_ONCE * limit, 64 << 20)
        self._size = 0

    async def read(self, request: web.BaseRequest) -> bytes:
        """The whole body; TooLargeError, SlowRequestError or OverloadedError where it is not to be had."""
        raw, rest = await self.begin(request)
        coding = coding_of(request.headers)
        if rest is None and not coding:
            return raw
        try:
            if rest is None:
                return unpacked(raw, coding, self._limit)
        except OverflowError:
            pass
        except ValueError as problem:
            raise BrokenBodyError(f"the body cannot be unpacked: {problem}") from None
        raise TooLargeError(f"the request is larger than {self._limit} bytes")

    async def begin(self, request: web.BaseRequest) -> tuple[bytes, AsyncIterator[bytes] | None]:
        """The body as it came, if it is within the limit; else its first part, and what comes behind."""
        content = request.content
        try:
            if content.is_eof() and content.total_bytes <= min(self._limit, _SMALL):
                return content.read_nowait(), None  # It is here, with the headers.
            return await self._begun(content)
        except web.RequestPayloadError:
            request.content.feed_eof()  # Else the library reads on, and logs what it finds there.
            raise BrokenBodyError("the body broke off") from None

    async def _begun(self, content: StreamReader) -> tuple[bytes, AsyncIterator[bytes] | None]:
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._seconds):
                async for chunk in content.iter_any():
                    parts.append(chunk)
                    size += len(chunk)
                    self._size += len(chunk)
                    if size > self._limit:
                        return b"".join(parts), content.iter_any()
                    if size > _SMALL and self._size > self._most:
                        raise OverloadedError("too many large requests are under way; try again")
        except TimeoutError:
            raise SlowRequestError(f"the body did not come in {self._seconds:g} seconds") from None
        finally:
            self._size -= size
        return b"".join(parts), None


async def welcome(request: web.BaseRequest) -> None:
    """Tells a client that waits to be told so that its body may come."""
    if request.headers.get("expect", "").lower() == "100-continue" and request.version >= (1, 1):
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0
