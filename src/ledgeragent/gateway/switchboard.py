"""A switchboard: several gateways behind one port, which can be replaced while requests are under way."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.crew import CrewMetrics
from ledgeragent.gateway.porter import VitalSign
from ledgeragent.gateway.prometheus import merged
from ledgeragent.gateway.server import Gateway
from ledgeragent.gateway.storage import SessionStorage
from ledgeragent.stores.base import SessionStore

try:
    from aiohttp import web
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

_UNKNOWN = {"error": {"message": "no route has this path", "type": "invalid_request_error"}}
COMMON_PAGES = ("/healthz", "/livez", "/readyz", "/metrics", "/openapi.json")
"""Pages that are there whether or not a route has the path before them."""


class _Generation:
    """Gateways that began together. They end once the last request that reached one of them is over."""

    def __init__(self, gateways: Mapping[str, Gateway]) -> None:
        self.gateways = dict(gateways)
        self._paths = [(p, f"{p}/") for p in sorted(gateways, key=len, reverse=True)]
        self._requests = 0
        self._idle: asyncio.Event | None = None

    def route(self, path: str) -> str | None:
        """The path of the gateway that a request is for: the longest that it begins with."""
        for own, beginning in self._paths:
            if path.startswith(beginning) or path == own:
                return own
        return None

    def begin(self) -> None:
        """Another request is under way."""
        self._requests += 1

    def end(self) -> None:
        """One is over."""
        self._requests -= 1
        if not self._requests and self._idle is not None:
            self._idle.set()

    async def retire(self) -> None:
        """Closes the gateways once nobody is with them."""
        self._idle = asyncio.Event()
        if self._requests:
            await self._idle.wait()
        await self.close()

    async def close(self) -> None:
        """Closes their connections."""
        for gateway in self.gateways.values():
            await gateway.close_upstream()


class Switchboard:
    """Gateways by the path that stands before their own; "" is the one for all other paths.

    They share a session store, which stays when they are replaced. `crew` are other processes that
    serve the same. `is_open` is set once it has opened.
    """

    def __init__(
        self, gateways: Mapping[str, Gateway], store: SessionStore, crew: CrewMetrics | None = None
    ) -> None:
        self._crew = crew
        self._first = gateways
        self._store = SessionStorage(store)
        self._draining = False
        self.is_open = asyncio.Event()
        self._retired: dict[asyncio.Task[None], _Generation] = {}

    @property
    def is_draining(self) -> bool:
        """True once it is about to stop."""
        return self._draining

    @is_draining.setter
    def is_draining(self, value: bool) -> None:
        self._draining = value
        for gateway in self.gateways.values():
            gateway.is_draining = value

    @property
    def gateways(self) -> Mapping[str, Gateway]:
        """Those that answer now."""
        return self._now.gateways

    async def open(self) -> None:
        """Opens the session store and all connections."""
        await self._store.open()
        for gateway in self._first.values():
            await gateway.open_upstream()
        self._begin(self._first)
        self.is_open.set()
        if self._crew is not None:
            await self._crew.open(self._metrics_text)

    async def close(self) -> None:
        """Closes what it has opened."""
        if self._crew is not None:
            await self._crew.close()
        for task, generation in list(self._retired.items()):
            task.cancel()
            await generation.close()
        await self._now.close()
        await self._store.close()

    async def replace(self, gateways: Mapping[str, Gateway]) -> None:
        """Puts others in their place. Requests that are under way are finished by those they began with."""
        for gateway in gateways.values():
            await gateway.open_upstream()
        before = self._now
        self._begin(gateways)
        for gateway in before.gateways.values():
            gateway.is_replaced = True
        task = asyncio.create_task(before.retire())
        self._retired[task] = before
        task.add_done_callback(self._retired.pop)

    def vital(self, path: str, host: str) -> VitalSign | None:
        """What a page of a route, or one of all of them, says of the health of its gateway."""
        generation = self._now
        route = generation.route(path)
        if route is None:
            return next(iter(generation.gateways.values())).vital(path, host)
        return generation.gateways[route].vital(path[len(route) :], host)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """The answer to any request: that of the gateway which has its path."""
        generation = self._now
        path = generation.route(request.path)
        if path is None:
            path, own = next(iter(generation.gateways)), request.path
            if request.path not in COMMON_PAGES:
                return web.json_response(_UNKNOWN, status=404)
        else:
            own = request.path[len(path) :]
        generation.begin()
        try:
            raw_path = request.rel_url.raw_path.removeprefix(path)
            return await generation.gateways[path].handle_at(request, own, raw_path)
        finally:
            generation.end()

    def _metrics_text(self) -> str:
        texts = {path or "/": gateway.metrics.text() for path, gateway in self.gateways.items()}
        return merged(texts) if len(texts) > 1 else next(iter(texts.values()))

    async def _shown_metrics(self) -> str:
        return self._metrics_text() if self._crew is None else await self._crew.text()

    def _begin(self, gateways: Mapping[str, Gateway]) -> None:
        self._now = _Generation(gateways)
        for gateway in gateways.values():
            gateway.is_draining = self._draining
            gateway.show_metrics = self._shown_metrics
