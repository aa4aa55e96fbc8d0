"""One request to the upstream, whichever way it goes there."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Generic, TypeVar

from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.errors import BadReplyError, GatewayError, SlowUpstreamError

try:
    import aiohttp
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

_Answer = TypeVar("_Answer")


class UpstreamRequest(Generic[_Answer]):
    """One request, as a context: its answer, and the client library's errors as the gateway's."""

    __slots__ = ("_context",)

    def __init__(self, context: AbstractAsyncContextManager[_Answer]) -> None:
        self._context = context

    async def __aenter__(self) -> _Answer:
        try:
            return await self._context.__aenter__()
        except (TimeoutError, aiohttp.ClientError) as problem:
            raise _failure(problem) from None

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await self._context.__aexit__(kind, problem, traceback)
        except (TimeoutError, aiohttp.ClientError) as last:
            raise _failure(last) from None
        if isinstance(problem, (TimeoutError, aiohttp.ClientError)):
            raise _failure(problem) from None


def _failure(problem: BaseException) -> GatewayError:
    if isinstance(problem, TimeoutError):
        return SlowUpstreamError("the upstream did not answer in time")
    return BadReplyError(f"the upstream failed: {type(problem).__name__}")
