"""`ledgeragent gateway`: a proxy in front of a model API that judges every reply."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

from ledgeragent.cli.options import add_domain, add_journal, add_mode, journal_of, tools_of
from ledgeragent.cli.tools import add_tools, names_of
from ledgeragent.domain import Domain
from ledgeragent.errors import UsageError
from ledgeragent.offline.binding import Binding
from ledgeragent.verdict import Decision

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers
    from ledgeragent.gateway.server import Settings
    from ledgeragent.gateway.spans import Spans

_DECISIONS = {"revise": Decision.REVISE, "block": Decision.BLOCK, "allow": Decision.ALLOW}


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "gateway",
        help="judge an agent's replies between it and its model API",
        description="Serves /v1/chat/completions, /v1/messages and /v1/responses in front of a "
        "model API. Every reply is judged before the agent gets it; point the agent's base URL here.",
        epilog="Keys are read from the environment only. SIGTERM and SIGINT finish what is under way.",
    )
    add_domain(parser)
    parser.add_argument("--upstream", required=True, metavar="URL", help="the model API")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8080, help="port to listen on; 0 takes any")
    add_mode(parser)
    _add_answers(parser)
    add_tools(parser)
    add_journal(parser)
    _add_keys(parser)
    parser.add_argument(
        "--context-role",
        choices=("system", "developer", "user"),
        default="system",
        help="role of the message that carries the ledger (default system)",
    )
    _add_limits(parser)
    _add_sessions(parser)
    parser.add_argument(
        "--otel",
        action="store_true",
        help="send OpenTelemetry spans over OTLP/HTTP, as the environment's OTEL_* variables say",
    )
    parser.set_defaults(run=run)


def _add_answers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-revisions",
        type=_natural,
        default=1,
        metavar="N",
        help="further model calls a rejected reply may cost before it is refused (default 1)",
    )
    parser.add_argument(
        "--max-refusals",
        type=_natural,
        default=20,
        metavar="N",
        help="how many times in a row a conversation is refused the same before it gets no answer "
        "any more (default 20; 0: no end)",
    )
    parser.add_argument(
        "--unknown-tools",
        choices=tuple(_DECISIONS),
        default="revise",
        help="what to do with calls of tools that the domain does not list (default revise)",
    )
    parser.add_argument(
        "--undecided",
        choices=("block", "allow"),
        default="block",
        help="what to do with calls whose record none of the tools supplies, so that a rule cannot be "
        "decided (default block); the tools are --tools, else the pack's, never a request's",
    )


def _add_keys(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--api-key-env",
        metavar="NAME",
        help="environment variable with the keys that clients of this gateway must send, by comma",
    )
    parser.add_argument(
        "--upstream-key-env",
        metavar="NAME",
        help="environment variable with the key that goes upstream instead of the client's",
    )


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--timeout",
        type=_positive,
        default=600.0,
        metavar="SECONDS",
        help="longest silence of the upstream (default 600)",
    )
    parser.add_argument(
        "--max-body",
        type=_natural,
        default=8 << 20,
        metavar="BYTES",
        help="largest request (default 8 MiB)",
    )
    parser.add_argument(
        "--max-concurrent",
        type=_natural,
        default=1_000,
        metavar="N",
        help="requests under way at once; more are turned away with 503 (default 1000)",
    )
    parser.add_argument(
        "--max-remembered",
        type=_natural,
        default=256 << 20,
        metavar="BYTES",
        help="histories that are kept, each counted with the size of its request (default 256 MiB)",
    )


def _add_sessions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--session-store",
        default="memory",
        metavar="STORE",
        help="where named sessions live: memory, a SQLite file, or postgresql://...",
    )
    parser.add_argument(
        "--max-sessions",
        type=_natural,
        default=10_000,
        metavar="N",
        help="named sessions, and replies that can be continued, that memory keeps (default 10000)",
    )
    parser.add_argument(
        "--max-session-bytes",
        type=_natural,
        default=64 << 20,
        metavar="BYTES",
        help="text that memory keeps of all of them: what their tools returned and their calls asked "
        "for; the longest unused go first (default 64 MiB)",
    )


def run(args: argparse.Namespace) -> int:
    """Serves until it is told to stop. 0 after a graceful shutdown."""
    domain = Binding(
        name=args.domain, version=args.version, tools=tools_of(args, args.domain)
    ).domain()
    from ledgeragent.gateway.server import Gateway
    from ledgeragent.stores.choose import open_session_store

    settings = _settings(args)
    sessions = open_session_store(args.session_store, args.max_sessions, args.max_session_bytes)
    with ExitStack() as stack:
        spans = _spans(stack, domain, args.mode) if args.otel else None
        journal = stack.enter_context(journal_of(args, domain))
        gateway = Gateway(domain, settings, journal=journal, store=sessions, spans=spans)
        try:
            asyncio.run(_serve(gateway, args.host, args.port, coverage(domain)))
        except OSError as problem:
            where = f"{args.host}:{args.port}"
            raise UsageError(f"cannot listen on {where}: {problem.strerror}") from None
    return 0


def _spans(stack: ExitStack, domain: Domain, mode: str) -> Spans:
    from ledgeragent.gateway.spans import Spans, exporting

    provider = exporting()
    stack.callback(provider.shutdown)
    return Spans(domain, mode, provider)


def coverage(domain: Domain) -> str:
    """One line: what the domain knows and how much of its policy it enforces."""
    enforced = sum(bool(clause.predicates) for clause in domain.clauses)
    tools = len({tool.tool for tool in domain.tools})
    return (
        f"domain {domain.name} {domain.version}: {tools} tools, {len(domain.predicates)} rules; "
        f"{enforced} of {len(domain.clauses)} clauses enforced"
    )


async def _serve(gateway: object, host: str, port: int, summary: str) -> None:
    from ledgeragent.gateway.server import Gateway, serve
    from ledgeragent.gateway.serving import on_signals

    assert isinstance(gateway, Gateway)
    # What is loaded by now stays; collecting it again and again would cost a sixth of every request.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ready(bound: int) -> None:
        settings = gateway.settings
        print(f"listening on http://{host}:{bound}/v1 ({settings.mode}) for {settings.upstream}")
        print(summary, flush=True)

    with on_signals(loop, SIGTERM=stop.set, SIGINT=stop.set):
        await serve(gateway, host, port, ready, stop)


def _settings(args: argparse.Namespace) -> Settings:
    from ledgeragent.gateway.server import Settings

    if not args.upstream.startswith(("http://", "https://")):
        raise UsageError(f"--upstream {args.upstream}: should begin with http:// or https://")
    keys = _from_environment(args.api_key_env).split(",") if args.api_key_env else []
    return Settings(
        upstream=args.upstream,
        mode=args.mode,
        max_revisions=args.max_revisions,
        max_body=args.max_body,
        timeout=args.timeout,
        max_concurrent=args.max_concurrent,
        max_remembered=args.max_remembered,
        keys=frozenset(key.strip() for key in keys),
        upstream_key=_from_environment(args.upstream_key_env) if args.upstream_key_env else None,
        context_role=args.context_role,
        unknown=_DECISIONS[args.unknown_tools],
        undecided=_DECISIONS[args.undecided],
        tool_names=names_of(args),
        max_refusals=args.max_refusals,
        require_tools=args.require_tools,
    )


def _from_environment(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise UsageError(f"the environment variable {name} is not set")
    return value


def _natural(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError("give a number, 0 or more")
    return int(text)


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError("give a number of seconds")
    return value
