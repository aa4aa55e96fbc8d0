"""One request from the door to its answer: admitted, read, judged or passed on, and accounted for."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.access import Access
from ledgeragent.gateway.account import Account
from ledgeragent.gateway.bodies import Bodies, welcome
from ledgeragent.gateway.coding import ACCEPTED
from ledgeragent.gateway.dialects.base import Dialect, encode
from ledgeragent.gateway.endpoints import ApiRoute
from ledgeragent.gateway.enforcer import Enforcer
from ledgeragent.gateway.errors import (
    GatewayError,
    InternalError,
    NotServedError,
    OverloadedError,
    UpstreamError,
    WrongMethodError,
)
from ledgeragent.gateway.headers import request_headers
from ledgeragent.gateway.inbound import Inbound
from ledgeragent.gateway.metrics import Metrics
from ledgeragent.gateway.pages import Page
from ledgeragent.gateway.passage import Passage
from ledgeragent.gateway.settings import Settings
from ledgeragent.gateway.transfercoding import check_request_framing
from ledgeragent.gateway.upstream import Upstream, UpstreamLine

try:
    from aiohttp import web
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

if TYPE_CHECKING:
    from ledgeragent.gateway.spans import RequestTrace, Spans

log = logging.getLogger("ledgeragent.gateway")

_JSON = {"content-type": "application/json"}
_ASKED = {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "*, authorization",
    "access-control-max-age": "600",
}
"""What a web page that may use the gateway is told before it does."""


@dataclass(slots=True)
class Errand:
    """One request, and what it asks for: `path` and `raw_path` are what its route's own path is."""

    request: web.BaseRequest
    account: Account
    raw_path: str
    endpoint: ApiRoute | None
    dialect: Dialect | None
    page: Page | None = None
    trace: RequestTrace | None = None
    has_place: bool = False

    @property
    def is_to_be_judged(self) -> bool:
        """True if its answer is a reply."""
        return self.dialect is not None and self.request.method == "POST"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reception:
    """Receives the requests of one gateway. `fallback` is the format that errors of no format have."""

    settings: Settings
    access: Access
    bodies: Bodies
    metrics: Metrics
    upstream: Upstream
    enforcer: Enforcer
    passage: Passage
    fallback: Dialect
    spans: Spans | None = None

    async def answer(self, errand: Errand) -> web.StreamResponse:
        """The answer, or what keeps it from being given, each in the format's own form."""
        account = errand.account
        if self.spans is not None and errand.is_to_be_judged:
            errand.trace = self.spans.begin(account.path, errand.request.headers)
        try:
            response = await self._admitted(errand)
            account.status = response.status
            return response
        except UpstreamError as problem:
            return self._refused(errand, problem, problem.body, problem.headers)
        except GatewayError as problem:
            return self._refused(errand, problem)
        except ConnectionError:
            account.problem = "closed"  # By the client: nobody is there to be told.
            raise
        except Exception as problem:
            log.exception("request %s could not be answered", account.id)
            response = self._refused(errand, InternalError("the gateway failed; its log tells why"))
            account.problem = type(problem).__name__
            return response
        finally:
            self.metrics.active -= errand.has_place
            if errand.page is None:
                self.metrics.answered(account.path, account.status, account.seconds)
            if errand.trace is not None:
                errand.trace.end(account.status)

    async def _admitted(self, errand: Errand) -> web.StreamResponse:
        request, account = errand.request, errand.account
        check_request_framing(request)
        self.access.check_origin(request.headers)
        if origin := request.headers.get("origin"):
            account.headers |= _shared_with(origin)
            if request.method == "OPTIONS":
                return web.Response(status=204, headers=account.headers | _ASKED)
        if errand.page is not None:
            return await errand.page(request)
        self.access.check_key(request.headers)
        if "expect" in request.headers:
            await welcome(request)
        if errand.dialect is not None and errand.is_to_be_judged:
            return await self._judged(errand, errand.dialect)
        if self.settings.mode == "shadow":
            return await self.passage.beside(request, account, self._url(errand), self._key(errand))
        if errand.endpoint is not None and errand.endpoint.is_read_only(request.method):
            return await self._looked_up(errand)
        if errand.dialect is not None:
            raise WrongMethodError(request.method, "POST")
        raise NotServedError(
            "no such route is served here, since nobody could judge what it answers"
        )

    async def _judged(self, errand: Errand, dialect: Dialect) -> web.StreamResponse:
        request, account = errand.request, errand.account
        if self.metrics.active >= self.settings.max_concurrent:
            raise OverloadedError("the gateway is at its limit; try again")
        shadow = self.settings.mode == "shadow"
        rest = None
        if shadow:
            raw, rest = await self.bodies.begin(request)
        else:
            raw = await self.bodies.read(request)
        account.received = len(raw)
        # A body that is still on its way takes no place from those that can be answered.
        if self.metrics.active >= self.settings.max_concurrent:
            raise OverloadedError("the gateway is at its limit; try again")
        self.metrics.active += 1
        errand.has_place = True
        headers = self._key(errand)
        if not shadow:
            headers["content-type"] = "application/json"
        line = UpstreamLine(self.upstream, self._url(errand), headers)
        inbound = Inbound(dialect, request, line, account, errand.trace)
        if shadow:
            return await self.passage.answer(inbound, raw, rest)
        return await self.enforcer.answer(inbound, raw)

    async def _looked_up(self, errand: Errand) -> web.Response:
        request, account = errand.request, errand.account
        body = await self.bodies.read(request) if request.body_exists else None
        headers = self._key(errand) | {"accept-encoding": ACCEPTED}
        status, answer, returned = await self.upstream.fetch(
            request.method, self._url(errand), headers, body
        )
        account.received, account.returned = len(body or b""), len(answer)
        return web.Response(status=status, body=answer, headers=returned | account.headers)

    def _url(self, errand: Errand) -> str:
        address, query = self.upstream.address, errand.request.rel_url.raw_query_string
        if errand.endpoint is not None:
            return address.url_of(errand.endpoint, query)
        return address.url(address.beside(errand.raw_path), query)

    def _key(self, errand: Errand) -> dict[str, str]:
        """The client's headers as they go upstream, with the key that belongs there."""
        headers = errand.request.headers
        pairs = self.access.for_upstream(headers.items())
        return self.upstream.with_key(request_headers(pairs), headers)

    def _refused(
        self,
        errand: Errand,
        problem: GatewayError,
        body: bytes | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> web.Response:
        account = errand.account
        account.status, account.problem = problem.status, type(problem).__name__
        if account.has_begun:
            # Half an answer is out: a second one behind it would be read as its end.
            if errand.request.transport is not None:
                errand.request.transport.close()
            raise ConnectionError("the answer broke off")
        if body is None:
            dialect = errand.dialect or self.fallback
            body = encode(dialect.error(problem.status, str(problem)))
            headers = {**headers, **_JSON}
        response = web.Response(
            status=problem.status,
            body=body,
            headers={**_JSON, **problem.headers, **headers, **account.headers},
        )
        if problem.headers.get("connection") == "close":
            response.force_close()  # The header alone tells the client, and not the library.
        return response


def _shared_with(origin: str) -> dict[str, str]:
    return {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": "*",
        "vary": "origin",
    }
