"""The gateway: one domain in front of one upstream, as a web application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

from ledgeragent.domain import Domain
from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.access import Access
from ledgeragent.gateway.accesslog import AccessLog
from ledgeragent.gateway.account import REQUEST_ID, Account, request_id
from ledgeragent.gateway.bodies import Bodies
from ledgeragent.gateway.console.desk import Console, ConsoleDesk
from ledgeragent.gateway.dialects.base import Dialect
from ledgeragent.gateway.dialects.chat import ChatDialect
from ledgeragent.gateway.dialects.messages import MessagesDialect
from ledgeragent.gateway.dialects.responses import ResponsesDialect
from ledgeragent.gateway.enforcer import Enforcer
from ledgeragent.gateway.equipment import Equipment
from ledgeragent.gateway.inbound import SESSION_HEADER
from ledgeragent.gateway.memory import Histories
from ledgeragent.gateway.metrics import Metrics
from ledgeragent.gateway.pages import Pages
from ledgeragent.gateway.passage import Passage
from ledgeragent.gateway.porter import VitalSign
from ledgeragent.gateway.reception import Errand, Reception
from ledgeragent.gateway.serving import serve
from ledgeragent.gateway.settings import Settings
from ledgeragent.gateway.storage import SessionStorage
from ledgeragent.gateway.upstream import Upstream
from ledgeragent.gateway.values import ValueBound
from ledgeragent.journal import Journal
from ledgeragent.session.counters import OTHER
from ledgeragent.stores.base import ProcessStore, SessionStore

try:
    from aiohttp import web
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

if TYPE_CHECKING:
    from ledgeragent.gateway.spans import Spans

__all__ = ["SESSION_HEADER", "Gateway", "Settings", "serve"]


class Gateway:
    """One domain in front of one upstream.

    `label` tells it from others in the access log, `journal` tells the feed of `console` too.
    `metrics` go on from those of an earlier one. `show_metrics` makes the text of `/metrics`, where
    that is to tell of more than this one.
    """

    def __init__(
        self,
        domain: Domain,
        settings: Settings,
        *,
        journal: Journal | None = None,
        store: SessionStore | None = None,
        spans: Spans | None = None,
        access_log: AccessLog | None = None,
        label: str = "",
        metrics: Metrics | None = None,
        console: Console | None = None,
    ) -> None:
        self.settings = settings
        self.label = label
        self.domain = domain
        self.metrics = metrics if metrics is not None else Metrics(tools=frozenset())
        self.metrics.tools = frozenset(tool.tool for tool in domain.tools)
        self.memories = Histories(settings.max_remembered)
        self.show_metrics: Callable[[], Awaitable[str]] = self._own_metrics
        self.is_draining = False
        self.is_replaced = False
        self.console = console
        self._access_log = access_log
        self._store = SessionStorage(store if store is not None else ProcessStore())
        self._upstream = Upstream(
            settings.upstream,
            base=settings.upstream_base,
            key=settings.upstream_key,
            timeout=settings.timeout,
            longest=settings.reply_timeout if settings.mode == "enforce" else None,
            limit=max(settings.max_body, 1 << 20),
            bound=ValueBound(settings.max_values),
        )
        place = settings.context_role
        dialects: tuple[Dialect, ...] = (
            ChatDialect(place),
            MessagesDialect(place),
            ResponsesDialect(place),
        )
        self._dialects = {dialect.path.removeprefix("/v1"): dialect for dialect in dialects}
        access = Access(settings)
        equipment = Equipment.of(
            domain,
            settings,
            journal=journal,
            memories=self.memories,
            store=self._store,
            metrics=self.metrics,
        )
        desk = (
            ConsoleDesk(console=console, access=access, is_over=self._is_over)
            if console is not None
            else None
        )
        self._pages = Pages(self, access, desk)
        self._reception = Reception(
            settings=settings,
            access=access,
            bodies=Bodies(settings.max_body, settings.body_timeout),
            metrics=self.metrics,
            upstream=self._upstream,
            enforcer=Enforcer(equipment),
            passage=Passage(self._upstream, equipment),
            fallback=dialects[0],
            spans=spans,
        )

    def _is_over(self) -> bool:
        """True once pages that stay open have to be let go."""
        return self.is_draining or self.is_replaced

    def app(self) -> web.Application:
        """The web application, ready to be served; by a runner with `auto_decompress=False`.

        What comes packed is unpacked here, and in shadow goes on as it came.
        """
        app = web.Application(client_max_size=self.settings.max_body)
        app.router.add_route("*", "/{path:.*}", self.handle, expect_handler=_welcomed_later)
        app.cleanup_ctx.append(self._resources)
        return app

    async def _resources(self, app: web.Application) -> AsyncIterator[None]:
        await self.open()
        yield
        await self.close()

    async def open(self) -> None:
        """Opens the session store and the connections to the upstream."""
        await self._store.open()
        await self.open_upstream()

    async def open_upstream(self) -> None:
        """Opens the connections to the upstream alone, where others share the store."""
        await self._upstream.open()

    async def close(self) -> None:
        """Closes both."""
        await self.close_upstream()
        await self._store.close()

    async def close_upstream(self) -> None:
        """Closes the connections to the upstream."""
        await self._upstream.close()

    def vital(self, path: str, host: str) -> VitalSign | None:
        """What a page says of the gateway's health; None for what is no such page."""
        return self._pages.vital(path, host)

    async def metrics_text(self) -> str:
        """The counters, as Prometheus reads them."""
        return await self.show_metrics()

    async def _own_metrics(self) -> str:
        return self.metrics.text()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """The answer to any request that reaches this gateway."""
        return await self.handle_at(request, request.path, request.rel_url.raw_path)

    async def handle_at(
        self, request: web.BaseRequest, path: str, raw_path: str
    ) -> web.StreamResponse:
        """The answer to a request for this path, the part of its own that comes behind our place."""
        name = request_id(request.headers)
        account = Account(name, request.method, OTHER, {REQUEST_ID: name})
        endpoint = self._upstream.address.endpoint(path)
        dialect = self._dialects.get(endpoint.route) if endpoint is not None else None
        errand = Errand(request, account, raw_path, endpoint, dialect)
        errand.page = self._pages.find(request.method, path)
        account.path = self._label(errand, path)
        try:
            return await self._reception.answer(errand)
        finally:
            if self._access_log is not None and errand.page is None:
                more = {"route": self.label, "mode": self.settings.mode}
                self._access_log.write(account.entry(**more))

    def _label(self, errand: Errand, path: str) -> str:
        """What a path is called in metrics, whatever base or model a client put into it."""
        if errand.page is not None:
            return path
        if errand.dialect is not None:
            return errand.dialect.path
        endpoint = errand.endpoint
        if endpoint is not None and endpoint.is_read_only(errand.request.method):
            return f"/v1{endpoint.route}" if "/models" not in endpoint.route else "/v1/models"
        return OTHER


async def _welcomed_later(request: web.Request) -> web.StreamResponse | None:
    """Whoever waits to be told that the body may come is told once the request is admitted."""
    return None
