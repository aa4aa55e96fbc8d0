"""The model API behind the gateway: asked with the client's own keys, listened to event by event."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Mapping,
    Sequence,
)
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.access import CREDENTIALS
from ledgeragent.gateway.coding import ACCEPTED, Unpacker, coding_of
from ledgeragent.gateway.dialects.base import Body, encode
from ledgeragent.gateway.endpoints import ApiAddress
from ledgeragent.gateway.errors import BadReplyError, BadRequestError, GatewayError, UpstreamError
from ledgeragent.gateway.headers import response_headers
from ledgeragent.gateway.idleconnections import CleanConnector
from ledgeragent.gateway.posting import Posting, PostOffice
from ledgeragent.gateway.proxies import proxy_for
from ledgeragent.gateway.sse import EventParser, ServerEvent
from ledgeragent.gateway.upstreamrequest import LibraryRequest, noticing_reuse
from ledgeragent.gateway.values import DEFAULT_BOUND, ValueBound

try:
    import aiohttp
    from yarl import URL
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

Answer: TypeAlias = aiohttp.ClientResponse | Posting

LONGEST_ERROR = 1 << 20
"""How many bytes of an upstream's error are handed on."""

_IDEMPOTENCY = "idempotency-key"
_UNSET = ("accept", "accept-encoding", "user-agent", "content-type")
"""Headers that the library would make up where the client sent none."""


class Upstream:
    """One upstream. `timeout` seconds without a byte, and `limit` bytes in one reply, are too much.

    So are more values in an event of a stream than `bound` says, and more than `longest` seconds for
    all of a reply, however often a byte of it comes.
    """

    def __init__(
        self,
        url: str,
        *,
        base: str | None = None,
        key: str | None,
        timeout: float,
        longest: float | None = None,
        limit: int,
        bound: ValueBound = DEFAULT_BOUND,
    ) -> None:
        self.bound = bound
        self.address = ApiAddress(url, base)
        self.limit = limit
        self._key = key
        self._timeout = aiohttp.ClientTimeout(
            total=longest, sock_connect=timeout, sock_read=timeout
        )
        self._proxy = proxy_for(url)
        self._http: aiohttp.ClientSession | None = None
        self._office: PostOffice | None = None

    async def open(self) -> None:
        """Opens the connections."""
        # Clients share the connections, and must not share cookies.
        self._http = aiohttp.ClientSession(
            timeout=self._timeout,
            connector=CleanConnector(),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=_UNSET,
            trace_configs=[noticing_reuse()],
        )
        # A proxy, or a password in the address, is for the library to put into the request.
        if self._proxy is None and "@" not in self.address.origin:
            self._office = PostOffice(self.address.origin, self._timeout)

    async def close(self) -> None:
        """Closes the connections."""
        if self._office is not None:
            await self._office.close()
        if self._http is not None:
            await self._http.close()

    def with_key(self, headers: dict[str, str], client: Mapping[str, str]) -> dict[str, str]:
        """The headers with our own key in place of the client's, where there is one of ours.

        It goes where the provider expects it; `client` are the headers as they came, in which the
        client had its own.
        """
        if self._key is None:
            return headers
        keyed = {name: value for name, value in headers.items() if name not in CREDENTIALS}
        if "anthropic-version" in headers:
            keyed["x-api-key"] = self._key
        elif "api-key" in client:
            keyed["api-key"] = self._key
        else:
            keyed["authorization"] = f"Bearer {self._key}"
        return keyed

    def request(
        self, method: str, url: str, headers: Mapping[str, str], body: Any = None
    ) -> LibraryRequest:
        """The answer to a request, whatever it is, as the upstream packs it."""
        http = self._http
        assert http is not None
        return LibraryRequest(
            lambda request: http.request(
                method,
                URL(url, encoded=True),
                data=body,
                headers=headers,
                allow_redirects=False,
                proxy=self._proxy,
                trace_request_ctx=request,
            ),
            is_repeatable=body is None or isinstance(body, bytes),
        )

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> LibraryRequest | Posting:
        """The same for a body that is here."""
        office = self._office
        if office is None:
            return self.request("POST", url, headers, body)
        return Posting(office, url, body, headers)

    async def chunks(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        heard: Callable[[Mapping[str, str]], None],
    ) -> AsyncGenerator[bytes, None]:
        """The bytes of a 200 as they come in; `heard` gets its headers first.

        Any other success is a BadReplyError: clients take it for an answer, and nobody would have
        judged it. So is a redirection, by which they would go round the gateway.
        """
        async with self.post(url, _asking(headers), body) as answer:
            heard(answer.headers)
            if answer.status != 200:
                raise await _refusal(answer)
            async for piece in unpacked(answer, self.limit):
                yield piece

    async def whole(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        heard: Callable[[Mapping[str, str]], None],
    ) -> bytes:
        """All that `chunks` gives, in one piece."""
        async with self.post(url, _asking(headers), body) as answer:
            heard(answer.headers)
            if answer.status != 200:
                raise await _refusal(answer)
            return await _whole(answer, self.limit)

    async def fetch(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[int, bytes, dict[str, str]]:
        """Status, body and headers of something that holds no call."""
        async with self.request(method, url, headers, body) as answer:
            if 300 <= answer.status < 400:
                raise BadReplyError(f"the upstream answered with status {answer.status}")
            return (
                answer.status,
                await _whole(answer, self.limit),
                response_headers(answer.headers.items()),
            )


@dataclass(slots=True)
class UpstreamLine:
    """The upstream as one request asks it: at one address, with its headers.

    `returned` are the headers of the latest answer, `calls` how many there were.
    """

    upstream: Upstream
    url: str
    headers: Mapping[str, str]
    returned: Mapping[str, str] = field(init=False, default_factory=dict)
    calls: int = field(init=False, default=0)

    def ask(self, body: Body) -> Awaitable[bytes]:
        """The whole answer. UpstreamError if it is an error, BadReplyError if it broke off."""
        headers = self._numbered(self.headers)
        return self.upstream.whole(self.url, _written(body), headers, self._heard)

    async def listen(self, body: Body) -> AsyncGenerator[Sequence[ServerEvent], None]:
        """The events of a streamed answer, those that come in together at once."""
        parser = EventParser(self.upstream.bound)
        chunks = self.chunks(_written(body))
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
        return self.send(body, self.headers)

    def send(self, body: bytes, headers: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        """The bytes of an answer to a request with these headers."""
        return self.upstream.chunks(self.url, body, self._numbered(headers), self._heard)

    def _numbered(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        """The headers of the next call."""
        self.calls += 1
        if self.calls == 1:
            return headers
        # Another request under the same key would be answered with the first one's reply.
        return {
            name: f"{value}-{self.calls}" if name == _IDEMPOTENCY else value
            for name, value in headers.items()
        }

    def _heard(self, headers: Mapping[str, str]) -> None:
        self.returned = response_headers(headers.items())


async def unpacked(answer: Answer, limit: int) -> AsyncGenerator[bytes, None]:
    """The body of an answer, piece by piece; BadReplyError if it is over `limit` bytes."""
    size = 0
    try:
        coding = coding_of(answer.headers)
        unpacker = Unpacker(coding) if coding else None
        while chunk := await answer.content.readany():
            for piece in unpacker.feed(chunk) if unpacker is not None else (chunk,):
                size += len(piece)
                if size > limit:
                    raise BadReplyError(f"the upstream reply is over {limit} bytes")
                yield piece
    except ValueError as problem:
        raise BadReplyError(f"the upstream reply cannot be read: {problem}") from None


def _written(body: Body) -> bytes:
    """The body as bytes; BadRequestError where it was read at a depth at which it cannot be written."""
    try:
        return encode(body)
    except RecursionError:
        raise BadRequestError("the body cannot be read: it is nested too deeply") from None


def _asking(headers: Mapping[str, str]) -> dict[str, str]:
    return {**headers, "accept-encoding": ACCEPTED}


async def _refusal(answer: Answer) -> GatewayError:
    """What an answer is that is no 200."""
    if 400 <= answer.status < 600:
        return await _told(answer)
    problem = f"with status {answer.status}, which is no answer that can be judged"
    return BadReplyError(f"the upstream answered {problem}")


async def _whole(answer: Answer, limit: int) -> bytes:
    headers, content = answer.headers, answer.content
    is_plain = "content-encoding" not in headers and "transfer-encoding" not in headers
    if is_plain and int(headers.get("content-length", limit + 1)) <= limit:
        # Most answers are here by now, with their headers.
        return content.read_nowait() if content.is_eof() else await content.read()
    return b"".join([piece async for piece in unpacked(answer, limit)])


async def _told(answer: Answer) -> UpstreamError:
    """An upstream's error as it is; without its body, where that is too long or cannot be read."""
    body: bytes | None = None
    with suppress(BadReplyError):
        body = await _whole(answer, LONGEST_ERROR)
    return UpstreamError(answer.status, body, response_headers(answer.headers.items()))
