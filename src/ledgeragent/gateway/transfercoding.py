"""Transfer codings: what a body is packed in for the way, undone before anybody reads it.

Only `chunked` is undone here, once. The library takes whatever ends on it for the same, and what does
not for no coding at all, so that a body would be judged which is not the one that was sent.
"""

from __future__ import annotations

from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.errors import BadReplyError, BrokenBodyError, ForeignFramingError

try:
    from aiohttp import web
    from multidict import CIMultiDictProxy
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

_NAME = "transfer-encoding"


def check_framing(headers: CIMultiDictProxy[str]) -> None:
    """BadReplyError for an upstream's answer that is transferred otherwise."""
    if _NAME in headers and (coding := _foreign(headers)):
        raise BadReplyError(f"the upstream reply cannot be read: it is transferred as {coding!r}")


def check_request_framing(request: web.BaseRequest) -> None:
    """ForeignFramingError for a request that is; BrokenBodyError where HTTP knows no such thing yet."""
    if _NAME not in request.headers:
        return
    if coding := _foreign(request.headers):
        raise ForeignFramingError(
            f"the body is transferred as {coding!r}, which is not undone here"
        )
    if request.version < (1, 1):
        raise BrokenBodyError("the body is transferred in chunks, which HTTP/1.0 does not know")


def _foreign(headers: CIMultiDictProxy[str]) -> str:
    coding = ", ".join(headers.getall(_NAME)).strip()
    return "" if coding.lower() == "chunked" else coding[:40] or "nothing"
