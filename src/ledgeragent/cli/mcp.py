"""`ledgeragent mcp`: stands between a host and an MCP server, and judges every call of a tool."""

from __future__ import annotations

import argparse
import logging
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ledgeragent.cli.options import (
    add_domain,
    add_journal,
    add_mode,
    journal_of,
    parameters_of,
    tools_of,
)
from ledgeragent.cli.tools import add_names, names_of
from ledgeragent.cli.verbs import VERBS
from ledgeragent.errors import MissingExtraError, UsageError
from ledgeragent.gate import Gate
from ledgeragent.offline.binding import Binding
from ledgeragent.stores.choose import open_session_store
from ledgeragent.verdict import Decision

if TYPE_CHECKING:
    from ledgeragent.mcp.http import HttpProxy
    from ledgeragent.mcp.transports import McpServer
    from ledgeragent.stores.base import SessionStore

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A token of HTTP (RFC 9110)."""


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "mcp",
        help=VERBS["mcp"],
        description="Passes everything between a host and an MCP server on, except calls of tools "
        "that the domain's policy rejects: those are answered with the reason. The ledger is "
        "offered as the resource ledger://state and as the tool show_ledger.",
        epilog="Example: ledgeragent mcp --domain shop -- python shop_server.py",
    )
    add_domain(parser)
    parser.add_argument("--url", help="the server's address, if it speaks streamable HTTP")
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a header for --url; $NAME in it is taken from the environment (repeatable)",
    )
    parser.add_argument(
        "--transport",
        choices=("stdio", "http"),
        default="stdio",
        help="how the host reaches the proxy (default stdio)",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="with http: the address (default 127.0.0.1)",
    )
    parser.add_argument("--port", type=int, default=8788, help="with http: the port (default 8788)")
    parser.add_argument(
        "--session-per",
        default="client",
        metavar="WHAT",
        help="what shares a ledger: client (each connection, the default), process, name:TEXT, "
        "header:NAME (a header of HTTP), or meta:NAME (a key of a call's _meta)",
    )
    parser.add_argument(
        "--session-store",
        default="memory",
        metavar="STORE",
        help="where sessions live that outlive a connection: memory, a SQLite file, or "
        "postgresql://...",
    )
    add_mode(parser)
    add_journal(parser)
    add_names(parser)
    parser.add_argument(
        "--allow-unknown",
        action="store_true",
        help="let tools that the domain doesn't know run unjudged (by default they are rejected)",
    )
    parser.add_argument(
        "--undecided",
        choices=("block", "allow"),
        default="block",
        help="what becomes of a call with a rule whose record no tool can supply (default block)",
    )
    parser.add_argument(
        "command", nargs="*", metavar="COMMAND", help="the server's command, after --"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serves until the host or the server goes away. Always 0."""
    if bool(args.url) == bool(args.command):
        raise UsageError("give the server either as a command after --, or as --url")
    try:
        import anyio

        from ledgeragent.adapters.common import Policy
        from ledgeragent.mcp.http import LOCAL, HttpProxy
        from ledgeragent.mcp.logwords import OwnWords
        from ledgeragent.mcp.sessions import SessionPer, Sessions
        from ledgeragent.mcp.transports import serve_stdio
    except ImportError:
        raise MissingExtraError("mcp", "mcp") from None
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OwnWords())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    domain = Binding(
        name=args.domain,
        version=args.version,
        tools=tools_of(args, args.domain),
        parameters=parameters_of(args),
        allow_faulty=args.allow_faulty,
    ).domain()
    per = SessionPer.parse(args.session_per)
    if args.transport == "stdio" and per.scope == "header":
        raise UsageError("--session-per header: needs --transport http; stdio has no headers")
    unknown = Decision.ALLOW if args.allow_unknown else Decision.REVISE
    upstream = _upstream(args.url, args.command, _headers(args.header))
    with journal_of(args, domain) as journal:
        gate = Gate(domain=domain, unknown=unknown, undecided=Decision[args.undecided.upper()])
        guard = Policy(gate, journal=journal, mode=args.mode, names=names_of(args))
        sessions = Sessions(guard, per, open_session_store(args.session_store))
        if args.transport == "stdio":
            _ = sys.stdin.buffer, sys.stdout.buffer  # of a closed one the transport would not tell
            anyio.run(serve_stdio, sessions, upstream)
        else:
            anyio.run(_reach, open_session_store(args.session_store))
            _listen(HttpProxy(sessions, upstream, hosts=(*LOCAL, args.host)), args.host, args.port)
    return 0


def _upstream(url: str | None, command: Sequence[str], headers: Mapping[str, str]) -> McpServer:
    from ledgeragent.mcp.transports import by_command, by_url

    if url:
        return by_url(url, headers)
    if shutil.which(command[0]) is None:
        raise UsageError(f"there is no program {command[0]} to start as the server")
    return by_command(command)


def _headers(options: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in options]
    for name, equals, _ in pairs:
        if not name or not equals:
            raise UsageError(f"--header {name}: should be NAME=VALUE")
        if not _HEADER_NAME.fullmatch(name):
            raise UsageError("--header: the part before = is no name of a header")
    headers = {name: os.path.expandvars(value) for name, _, value in pairs}
    for name, value in headers.items():
        # The value may be a key, which no message shows.
        if not value.isascii() or not value.isprintable():
            raise UsageError(f"--header {name}: its value holds a line break or another character")
    return headers


async def _reach(store: SessionStore) -> None:
    """SessionStoreError for a store that cannot be opened, before the server would only fail to start."""
    await store.open()
    await store.close()


def _listen(proxy: HttpProxy, host: str, port: int) -> None:
    import uvicorn

    print(f"listening on http://{host}:{port}/mcp", file=sys.stderr, flush=True)
    uvicorn.run(proxy.app(), host=host, port=port, log_level="warning")
