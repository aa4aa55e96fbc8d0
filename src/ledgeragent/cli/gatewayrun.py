"""Runs a gateway as it is planned, and puts a new plan in its place while it runs."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.cli.gatewayconsole import console_of
from ledgeragent.cli.gatewayplan import PlannedRoute, ServingPlan, problems_of
from ledgeragent.cli.hangup import take_hangup
from ledgeragent.cli.streams import tell
from ledgeragent.cli.workers import listening, run_workers
from ledgeragent.domain import Domain
from ledgeragent.engines.collection import collected_seldom
from ledgeragent.errors import LedgerAgentError, UsageError
from ledgeragent.files.keys import shown_address
from ledgeragent.gateway.accesslog import AccessLog
from ledgeragent.gateway.crew import CrewMetrics
from ledgeragent.gateway.journaling import GatewayJournal
from ledgeragent.gateway.loghandler import logging_aside
from ledgeragent.gateway.server import Gateway
from ledgeragent.gateway.serving import on_signals
from ledgeragent.gateway.serving import serve as serving
from ledgeragent.gateway.switchboard import Switchboard
from ledgeragent.journal import Journal
from ledgeragent.journal.checkpoints import is_address
from ledgeragent.journal.stores import NowhereStore
from ledgeragent.offline.binding import forget
from ledgeragent.stores.choose import open_session_store

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

log = logging.getLogger("ledgeragent.gateway")


def check(plan: ServingPlan) -> int:
    """Says what is wrong with a plan and its packs. 0 if nothing is, 1 if something."""
    problems = problems_of(plan)
    for name, problem in problems.items():
        print(f"{name}: {problem}")
    for route in plan.routes:
        print(f"{_where(route)}: {coverage(route.domain())}")
    return 1 if problems else 0


def serve(plan: ServingPlan, again: Callable[[], ServingPlan]) -> int:
    """Serves until it is told to stop. 0 after a graceful shutdown."""
    shared = plan.shared
    if shared.workers > 1 and shared.session_store == "memory":
        raise UsageError("--workers: they share no memory; name a --session-store that they share")
    try:
        sock = listening(shared.host, shared.port)
    except OSError as problem:
        where = f"{shared.host}:{shared.port}"
        raise UsageError(f"cannot listen on {where}: {problem.strerror}") from None
    with sock:
        if shared.workers == 1:
            return _serve(plan, again, sock, 0, None)
        with tempfile.TemporaryDirectory(prefix="ledgeragent-") as folder:
            return run_workers(
                shared.workers,
                lambda number: _serve(plan, again, sock, number, CrewMetrics(Path(folder), number)),
            )


def _serve(
    plan: ServingPlan,
    again: Callable[[], ServingPlan],
    sock: socket.socket,
    worker: int,
    crew: CrewMetrics | None,
) -> int:
    with ExitStack() as stack:
        stack.enter_context(logging_aside())
        try:
            running = Running(plan, again, stack, worker, crew)
            asyncio.run(running.serve(sock))
        except LedgerAgentError as problem:
            if not worker:
                raise
            tell(str(problem))
            return 2
    return 0


class Running:
    """A gateway that runs. `again` reads the plan anew; `stack` closes what has been opened.

    `worker` is its number where several share a port, else 0, and `crew` are all of them.
    """

    def __init__(
        self,
        plan: ServingPlan,
        again: Callable[[], ServingPlan],
        stack: ExitStack,
        worker: int = 0,
        crew: CrewMetrics | None = None,
    ) -> None:
        self._worker = worker
        self._plan = plan
        self._again = again
        self._stack = stack
        self._journals: dict[str, Journal] = {}
        self._provider = self._exporting() if plan.shared.otel else None
        place = plan.shared.access_log
        self._access_log = AccessLog(place) if place is not None else None
        if self._access_log is not None:
            stack.callback(self._access_log.close)
        shared = plan.shared
        self._store = open_session_store(
            shared.session_store, shared.max_sessions, shared.max_session_bytes
        )
        self._board = Switchboard(self._gateways(plan, {}), self._store, crew)
        self._marks = plan.marks
        self._reloading = asyncio.Lock()

    async def serve(self, sock: socket.socket) -> None:
        """Serves until SIGTERM or SIGINT, and then finishes what is under way."""
        # What is loaded by now stays; collecting it again would cost a sixth of every request.
        collected_seldom()
        # Who tells that the process lives has to wait for its turn at each of a dozen system calls.
        sys.setswitchinterval(0.0005)
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        shared = self._plan.shared
        watching = asyncio.create_task(self._watch(shared.watch))
        signals = on_signals(loop, SIGTERM=stop.set, SIGINT=stop.set, SIGHUP=self._reload_soon)
        with signals:
            if take_hangup():
                self._reload_soon()
            await serving(
                self._board,
                shared.host,
                shared.port,
                self._ready,
                stop,
                drain=shared.drain_timeout,
                notice=shared.drain_delay,
                sock=sock,
            )
        watching.cancel()

    def _ready(self, port: int) -> None:
        if self._worker > 1:
            return  # The first one speaks for all.
        for route in self._plan.routes:
            base = f"http://{self._plan.shared.host}:{port}{route.path}/v1"
            print(
                f"listening on {base} ({route.settings.mode}) for {shown_address(route.settings.upstream)}"
            )
            print(coverage(route.domain()), flush=True)

    def _reload_soon(self) -> None:
        if self._access_log is not None:
            try:
                self._access_log.reopen()
            except (LedgerAgentError, OSError) as problem:
                log.error("the access log goes on in the file that it had: %s", problem)
        self._task = asyncio.create_task(self.reload())

    async def _watch(self, seconds: float) -> None:
        while seconds:
            await asyncio.sleep(seconds)
            marks = await asyncio.to_thread(self._plan.marks_now)
            if marks != self._marks:
                self._marks = marks
                await self.reload()

    async def reload(self) -> None:
        """Reads everything anew and serves that, if nothing is wrong with it; else says what is."""
        await self._board.is_open.wait()  # a session store may take its time
        async with self._reloading:
            try:
                forget()
                plan = await asyncio.to_thread(self._again)
                problems = await asyncio.to_thread(problems_of, plan)
                if problems:
                    raise UsageError("; ".join(f"{n}: {text}" for n, text in problems.items()))
                before = dict(self._board.gateways)
                await self._board.replace(self._gateways(plan, before))
            except (LedgerAgentError, OSError) as problem:
                log.error("not reloaded, what ran before goes on: %s", problem)
                return
            except (Exception, SystemExit) as problem:  # Whatever a pack's own code may raise.
                kind = type(problem).__name__
                log.exception("not reloaded, what ran before goes on: %s: %s", kind, problem)
                return
            self._plan, self._marks = plan, plan.marks
            log.warning("reloaded: %s", "; ".join(coverage(r.domain()) for r in plan.routes))

    def _gateways(self, plan: ServingPlan, before: Mapping[str, Gateway]) -> dict[str, Gateway]:
        return {route.path: self._gateway(route, before.get(route.path)) for route in plan.routes}

    def _gateway(self, route: PlannedRoute, before: Gateway | None) -> Gateway:
        domain = route.domain()
        spans = None
        if self._provider is not None:
            from ledgeragent.gateway.spans import Spans

            spans = Spans(domain, route.settings.mode, self._provider)
        console = console_of(route, domain, before)
        journal = self._journal(route, domain)
        if console is not None:
            if journal is None:
                journal = GatewayJournal(NowhereStore(), domain, redact=route.redact)
            journal = journal.telling(console.feed.hear)
        return Gateway(
            domain,
            route.settings,
            journal=journal,
            console=console,
            spans=spans,
            access_log=self._access_log,
            label=route.path,
            metrics=before.metrics if before is not None else None,
            store=self._store,
        )

    def _journal(self, route: PlannedRoute, domain: Domain) -> Journal | None:
        """The route's journal. One that is open already goes on, stamped for the domain as it is now."""
        if route.journal is None:
            return None
        name = _journal_name(route.journal, self._worker)
        if name not in self._journals:
            checkpoints = route.checkpoints.checkpoints(name)
            journal = GatewayJournal.open(
                name, domain, redact=route.redact, checkpoints=checkpoints
            )
            self._journals[name] = self._stack.enter_context(journal)
        return self._journals[name].under(domain, redact=route.redact)

    def _exporting(self) -> TracerProvider:
        from ledgeragent.gateway.spans import exporting

        provider = exporting()
        self._stack.callback(provider.shutdown)
        return provider


def coverage(domain: Domain) -> str:
    """One line: what the domain knows and how much of its policy it enforces."""
    enforced = sum(bool(clause.predicates) for clause in domain.clauses)
    tools = len({tool.tool for tool in domain.tools})
    return (
        f"domain {domain.name} {domain.version}: {tools} tools, {len(domain.predicates)} rules; "
        f"{enforced} of {len(domain.clauses)} clauses enforced"
    )


def _journal_name(place: str, worker: int) -> str:
    """The place of a worker's journal: a file has one writer, a database any number."""
    if is_address(place):
        return place
    file = Path(place)
    if worker:
        file = file.with_name(f"{file.stem}.worker-{worker}{file.suffix}")
    return os.path.abspath(file)


def _where(route: PlannedRoute) -> str:
    return (
        f"{route.path or '/'} ({route.settings.mode}) for {shown_address(route.settings.upstream)}"
    )
