"""Why a request has no answer, each with the status that HTTP has for it.

GatewayError
├── BadRequestError     400  it cannot be judged, and so is not forwarded
│   └── BrokenBodyError 400  its body is not packed as it says
├── UnknownKeyError     401  its key is not one of the gateway's own
├── ForbiddenError      403  it comes from a web page that may not, or names another host
├── NotServedError      404  no such route is served
├── WrongMethodError    405  the route is asked for by another method
├── SlowRequestError    408  its body did not come in time
├── ConflictError       409  another request of its session came first
├── TooLargeError       413  its body is over the limit
├── RefusedTooOftenError 422 its conversation was refused the same again and again
├── InternalError       500  the gateway itself failed
├── ForeignFramingError 501  its body is framed in a way that is not undone here
├── BadReplyError       502  upstream's reply cannot be read, and so is not handed on
│   └── UpstreamError        upstream answered with an error
├── OverloadedError     503  too many requests are under way
├── StoreError          503  the session store, or the journal, cannot be used
└── SlowUpstreamError   504  upstream was silent for too long
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ledgeragent.errors import LedgerAgentError


class GatewayError(LedgerAgentError):
    """Why a request has no answer; `status` and `headers` are what HTTP says of it."""

    status = 500
    headers: Mapping[str, str] = MappingProxyType({})


class BadRequestError(GatewayError):
    """A request that the gateway cannot judge, and so does not forward."""

    status = 400


class BrokenBodyError(BadRequestError):
    """A request whose body breaks off, or is not packed as it says; nothing can follow it."""

    headers = MappingProxyType({"connection": "close"})


class UnknownKeyError(GatewayError):
    """A request with none of the keys that the gateway asks for."""

    status = 401


class RefusedTooOftenError(GatewayError):
    """A conversation that was refused the same so often that it cannot but loop."""

    status = 422


class ForbiddenError(GatewayError):
    """A request from a web page that may not use the gateway, or to a host that it is not."""

    status = 403


class NotServedError(GatewayError):
    """A request for a route that the gateway does not serve."""

    status = 404


class WrongMethodError(GatewayError):
    """A request for a route by a method that it is not served for."""

    status = 405

    def __init__(self, method: str, served: str) -> None:
        super().__init__(f"this route is asked for by {served}, not by {method}")
        self.headers = {"allow": served}


class SlowRequestError(GatewayError):
    """A request whose body did not come in the time that the gateway waits for it."""

    status = 408
    headers = MappingProxyType({"connection": "close"})


class ConflictError(GatewayError):
    """Another request of the same session was answered in the meantime."""

    status = 409


class TooLargeError(GatewayError):
    """A request of more bytes than the gateway takes."""

    status = 413


class InternalError(GatewayError):
    """A failure of the gateway itself, of which the log tells more."""

    status = 500


class ForeignFramingError(GatewayError):
    """A request whose body is framed in another way than `chunked` or by its length."""

    status = 501
    headers = MappingProxyType({"connection": "close"})


class BadReplyError(GatewayError):
    """An upstream reply that cannot be read, and so is not handed on."""

    status = 502


class UpstreamError(BadReplyError):
    """An upstream's error, handed on as it is where that is still possible.

    `body` is None where it is too long or cannot be read.
    """

    def __init__(self, status: int, body: bytes | None, headers: Mapping[str, str]) -> None:
        super().__init__(f"the upstream answered with status {status}")
        self.status = status
        self.body = body
        self.headers = headers


class OverloadedError(GatewayError):
    """As many requests are under way as the gateway takes."""

    status = 503
    headers = MappingProxyType({"retry-after": "1"})


class StoreError(GatewayError):
    """The session store or the journal cannot be used, so that nothing may be answered."""

    status = 503


class SlowUpstreamError(GatewayError):
    """An upstream that sent nothing for longer than the gateway waits."""

    status = 504
