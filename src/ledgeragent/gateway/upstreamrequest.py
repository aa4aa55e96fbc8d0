"""One request to an upstream, sent again where the connection kept for it turns out to be closed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, TypeVar

from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.errors import BadReplyError, GatewayError, SlowUpstreamError

try:
    import aiohttp
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None


HUNG_UP = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)
"""What an upstream that has closed a connection is noticed by."""

FAILURES = (TimeoutError, aiohttp.ClientError)
"""What the client library raises."""

_Answer = TypeVar("_Answer")


@dataclass(slots=True)
class ConnectionUse:
    """The connection of one request: whether it is an earlier one's, and the request can be sent again."""

    is_repeatable: bool
    is_reused: bool = False

    def is_stale(self, problem: Exception) -> bool:
        """True if the upstream had hung up on a kept connection, which tells nothing of the request.

        Some servers say that they keep a connection, and close it behind a streamed answer.
        """
        return self.is_reused and self.is_repeatable and isinstance(problem, HUNG_UP)


def noticing_reuse() -> aiohttp.TraceConfig:
    """Has each request's `ConnectionUse` say whether its connection was kept."""

    async def notice(session: Any, context: Any, params: Any) -> None:
        context.trace_request_ctx.is_reused = True

    config = aiohttp.TraceConfig()
    config.on_connection_reuseconn.append(notice)
    return config


class UpstreamRequest(Generic[_Answer]):
    """One request, as a context: its answer, and the client library's errors as the gateway's.

    It is sent again as long as the connections that it is given turn out to be closed already.
    """

    __slots__ = ("_context", "_send", "_use")

    def __init__(
        self,
        send: Callable[[], AbstractAsyncContextManager[_Answer]],
        use: ConnectionUse,
    ) -> None:
        self._send, self._use = send, use

    async def __aenter__(self) -> _Answer:
        while True:
            self._use.is_reused = False
            self._context = self._send()
            try:
                return await self._context.__aenter__()
            except FAILURES as problem:
                if not self._use.is_stale(problem):
                    raise failure(problem) from None

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await self._context.__aexit__(kind, problem, traceback)
        except FAILURES as last:
            raise failure(last) from None
        if isinstance(problem, FAILURES):
            raise failure(problem) from None


def failure(problem: BaseException) -> GatewayError:
    """The client library's error as one of the gateway."""
    if isinstance(problem, TimeoutError):
        return SlowUpstreamError("the upstream did not answer in time")
    return BadReplyError(f"the upstream failed: {type(problem).__name__}")
