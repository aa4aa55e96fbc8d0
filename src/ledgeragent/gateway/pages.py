"""What a gateway tells of itself: whether it lives and is ready, its counters, its description."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import ledgeragent
from ledgeragent.domain import Domain
from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.access import Access
from ledgeragent.gateway.console.desk import ConsoleDesk
from ledgeragent.gateway.errors import GatewayError
from ledgeragent.gateway.openapi import openapi
from ledgeragent.gateway.porter import VitalSign

try:
    from aiohttp import web
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

Page = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Shown(Protocol):
    """What pages are about."""

    domain: Domain
    is_draining: bool

    async def metrics_text(self) -> str:
        """The counters, as Prometheus reads them."""
        ...


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of one gateway. Only metrics and console ask for a key."""

    about: Shown
    access: Access
    console: ConsoleDesk | None = None

    def find(self, method: str, path: str) -> Page | None:
        """The page at this path."""
        if method not in ("GET", "HEAD"):
            return None
        pages: dict[str, Page] = {
            "/healthz": self.healthz,
            "/livez": self.livez,
            "/readyz": self.readyz,
            "/metrics": self.metrics,
            "/openapi.json": self.openapi,
        }
        if self.console is not None:
            pages |= self.console.pages()
        return pages.get(path)

    def vital(self, path: str, host: str) -> VitalSign | None:
        """What the page at a path says of the gateway's health; None for other pages and hosts."""
        try:
            self.access.check_origin({"host": host})
        except GatewayError:
            return None
        sign = {"/healthz": self._health, "/livez": self._life, "/readyz": self._readiness}
        return sign[path]() if path in sign else None

    def _health(self) -> VitalSign:
        domain = self.about.domain
        return VitalSign(200, {"status": "ok", "domain": domain.name, "version": domain.version})

    def _life(self) -> VitalSign:
        return VitalSign(200, {"status": "ok"})

    def _readiness(self) -> VitalSign:
        if self.about.is_draining:
            return VitalSign(503, {"status": "draining"})
        return VitalSign(200, {"status": "ok"})

    async def healthz(self, request: web.BaseRequest) -> web.Response:
        """Whether it serves, and which domain."""
        return _page(self._health())

    async def livez(self, request: web.BaseRequest) -> web.Response:
        """Answers as long as the process does anything at all."""
        return _page(self._life())

    async def readyz(self, request: web.BaseRequest) -> web.Response:
        """503 once no new request should be sent here, since the gateway is about to stop."""
        return _page(self._readiness())

    async def openapi(self, request: web.BaseRequest) -> web.Response:
        """The description of the API."""
        return web.json_response(openapi(ledgeragent.__version__))

    async def metrics(self, request: web.BaseRequest) -> web.Response:
        """The counters; UnknownKeyError without the key that they may ask for."""
        self.access.check_metrics_key(request.headers)
        return web.Response(text=await self.about.metrics_text(), content_type="text/plain")


def _page(sign: VitalSign) -> web.Response:
    return web.json_response(dict(sign.body), status=sign.status)
