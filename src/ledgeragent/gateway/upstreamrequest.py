"""One request to an upstream, sent again where the connection kept for it turns out to be closed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Generic, TypeVar

from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.errors import BadReplyError, GatewayError, SlowUpstreamError
from ledgeragent.gateway.transfercoding import check_framing

try:
    import aiohttp
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None


HUNG_UP = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)
"""What an upstream that has closed a connection is noticed by."""

FAILURES = (TimeoutError, aiohttp.ClientError)
"""What the client library raises."""


AnswerT = TypeVar("AnswerT")


class UpstreamRequest(ABC, Generic[AnswerT]):
    """One request, as a context: its answer, and the client library's errors as the gateway's.

    It is sent again as long as the connections that it is given turn out to be closed already; some
    servers say that they keep one, and close it behind a streamed answer. `is_repeatable` unless its
    body can be sent only once, `is_reused` if its connection is an earlier request's, `is_heard` once it
    is sure to have been read.
    """

    __slots__ = ("is_heard", "is_repeatable", "is_reused")

    def __init__(self, *, is_repeatable: bool) -> None:
        self.is_repeatable = is_repeatable
        self.is_reused = self.is_heard = False

    async def __aenter__(self) -> AnswerT:
        while True:
            self.is_reused = False
            try:
                return await self._ask()
            except FAILURES as problem:
                await self._end(is_whole=False)
                # A connection that was closed before it was asked tells nothing of the request.
                is_unread = self.is_reused and not self.is_heard
                if not (is_unread and self.is_repeatable and isinstance(problem, HUNG_UP)):
                    raise failure(problem) from None
            except BaseException:
                await self._end(is_whole=False)
                raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await self._end(is_whole=problem is None)
        except FAILURES as last:
            raise failure(last) from None
        if problem is not None and isinstance(problem, FAILURES):
            raise failure(problem) from None

    @abstractmethod
    async def _ask(self) -> AnswerT:
        """Sends it; the answer, once its headers are here."""

    @abstractmethod
    async def _end(self, *, is_whole: bool) -> None:
        """Gives the connection back; closes it where request or answer have not passed whole."""


class LibraryRequest(UpstreamRequest[aiohttp.ClientResponse]):
    """A request that the client library sends, by a session with `noticing_reuse`."""

    __slots__ = ("_answer", "_send")

    def __init__(
        self, send: Callable[[object], Awaitable[aiohttp.ClientResponse]], *, is_repeatable: bool
    ) -> None:
        super().__init__(is_repeatable=is_repeatable)
        self._send = send
        self._answer: aiohttp.ClientResponse | None = None

    async def _ask(self) -> aiohttp.ClientResponse:
        self._answer = await self._send(self)
        check_framing(self._answer.headers)
        return self._answer

    async def _end(self, *, is_whole: bool) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            async with answer:  # At its end, what is not read whole is closed.
                pass


def noticing_reuse() -> aiohttp.TraceConfig:
    """Has each request say whether its connection was kept."""

    async def notice(session: Any, context: Any, params: Any) -> None:
        context.trace_request_ctx.is_reused = True

    config = aiohttp.TraceConfig()
    config.on_connection_reuseconn.append(notice)
    return config


def failure(problem: BaseException) -> GatewayError:
    """The client library's error as one of the gateway."""
    if isinstance(problem, TimeoutError):
        return SlowUpstreamError("the upstream did not answer in time")
    return BadReplyError(f"the upstream failed: {type(problem).__name__}")
