"""Why a request has no answer, each with the status that HTTP has for it.

GatewayError
├── BadRequestError     400  it cannot be judged, and so is not forwarded
├── UnknownKeyError     401  its key is not one of the gateway's own
├── ConflictError       409  another request of its session came first
├── TooLargeError       413  its body is over the limit
├── BadReplyError       502  upstream's reply cannot be read, and so is not handed on
│   └── UpstreamError        upstream answered with another status than 200
├── OverloadedError     503  too many requests are under way
├── StoreError          503  the session store cannot be used
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


class UnknownKeyError(GatewayError):
    """A request with none of the keys that the gateway asks for."""

    status = 401


class ConflictError(GatewayError):
    """Another request of the same session was answered in the meantime."""

    status = 409


class TooLargeError(GatewayError):
    """A request of more bytes than the gateway takes."""

    status = 413


class BadReplyError(GatewayError):
    """An upstream reply that cannot be read, and so is not handed on."""

    status = 502


class UpstreamError(BadReplyError):
    """An upstream answer other than 200, handed on as it is where that is still possible."""

    def __init__(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        super().__init__(f"the upstream answered with status {status}")
        self.status = status
        self.body = body
        self.headers = headers


class OverloadedError(GatewayError):
    """As many requests are under way as the gateway takes."""

    status = 503
    headers = MappingProxyType({"retry-after": "1"})


class StoreError(GatewayError):
    """The session store cannot be used, so that nothing may be answered."""

    status = 503


class SlowUpstreamError(GatewayError):
    """An upstream that sent nothing for longer than the gateway waits."""

    status = 504
