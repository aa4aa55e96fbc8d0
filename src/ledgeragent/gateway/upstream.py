"""The model API behind the gateway: asked with the client's own keys, listened to event by event."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.dialects.base import Body, encode
from ledgeragent.gateway.errors import BadReplyError, SlowUpstreamError, UpstreamError
from ledgeragent.gateway.sse import EventParser, ServerEvent

try:
    import aiohttp
    from multidict import CIMultiDictProxy
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

_FORWARDED = (
    "accept",
    "authorization",
    "api-key",
    "x-api-key",
    "anthropic-version",
    "anthropic-beta",
    "openai-organization",
    "openai-project",
    "user-agent",
)
_RETURNED = ("retry-after", "retry-after-ms", "x-request-id", "request-id", "x-should-retry")


class Upstream:
    """One upstream. `timeout` seconds without a byte, and `limit` bytes in one reply, are too much."""

    def __init__(self, url: str, *, key: str | None, timeout: float, limit: int) -> None:
        self.url = url.rstrip("/").removesuffix("/v1")
        self._key = key
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=timeout, sock_read=timeout)
        self._limit = limit
        self._http: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Opens the connections."""
        # Clients share the connections, and must not share cookies.
        self._http = aiohttp.ClientSession(
            timeout=self._timeout,
            connector=aiohttp.TCPConnector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def close(self) -> None:
        """Closes the connections."""
        if self._http is not None:
            await self._http.close()

    def headers(self, client_headers: Mapping[str, str]) -> dict[str, str]:
        """What of the client's headers goes upstream; our own key in place of the client's if set."""
        headers = {name: client_headers[name] for name in _FORWARDED if name in client_headers}
        headers["content-type"] = "application/json"
        if self._key is not None:
            own = "x-api-key" if "anthropic-version" in headers else "authorization"
            for name in ("authorization", "x-api-key", "api-key"):
                headers.pop(name, None)
            headers[own] = self._key if own == "x-api-key" else f"Bearer {self._key}"
        return headers

    async def chunks(
        self, path: str, body: bytes, headers: Mapping[str, str]
    ) -> AsyncGenerator[bytes, None]:
        """The bytes of an answer as they come in."""
        size = 0
        with _failing():
            async with self._request("POST", path, headers, body) as answer:
                if answer.status != 200:
                    raise UpstreamError(
                        answer.status, await answer.read(), returned(answer.headers)
                    )
                async for chunk in answer.content.iter_any():
                    size += len(chunk)
                    if size > self._limit:
                        raise BadReplyError(f"the upstream reply is over {self._limit} bytes")
                    yield chunk

    async def get(self, path: str, headers: Mapping[str, str]) -> tuple[int, bytes, dict[str, str]]:
        """Status, body and headers of something that is only looked up."""
        with _failing():
            async with self._request("GET", path, headers) as answer:
                return answer.status, await answer.read(), returned(answer.headers)

    def _request(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Any:
        assert self._http is not None
        return self._http.request(
            method, f"{self.url}{path}", data=body, headers=headers, allow_redirects=False
        )


@dataclass(slots=True)
class UpstreamLine:
    """The upstream as one request asks it: on its path, with its headers."""

    upstream: Upstream
    path: str
    headers: Mapping[str, str]

    async def ask(self, body: Body) -> bytes:
        """The whole answer. UpstreamError if it is no 200, BadReplyError if it broke off."""
        return b"".join([part async for part in self.chunks(encode(body))])

    async def listen(self, body: Body) -> AsyncGenerator[Sequence[ServerEvent], None]:
        """The events of a streamed answer, those that come in together at once."""
        parser = EventParser()
        chunks = self.chunks(encode(body))
        try:
            async for chunk in chunks:
                try:
                    events = list(parser.feed(chunk))
                except ValueError as problem:
                    raise BadReplyError(f"the upstream stream cannot be read: {problem}") from None
                yield events
        finally:
            await chunks.aclose()

    def chunks(self, body: bytes) -> AsyncGenerator[bytes, None]:
        """The bytes of an answer as they come in."""
        return self.upstream.chunks(self.path, body, self.headers)


@contextmanager
def _failing() -> Iterator[None]:
    """Around a request: the client library's errors as the gateway's."""
    try:
        yield
    except TimeoutError:
        raise SlowUpstreamError("the upstream did not answer in time") from None
    except aiohttp.ClientError as problem:
        raise BadReplyError(f"the upstream failed: {type(problem).__name__}") from None


def returned(headers: CIMultiDictProxy[str]) -> dict[str, str]:
    """What of upstream's headers goes to the client."""
    passing = {name: headers[name] for name in _RETURNED if name in headers}
    passing["content-type"] = headers.get("content-type", "application/json")
    return passing
