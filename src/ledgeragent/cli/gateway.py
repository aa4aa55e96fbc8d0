"""`ledgeragent gateway`: a proxy in front of a model API that judges every reply."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ledgeragent.cli.configuration import ExplainingParser
from ledgeragent.cli.gatewaylimits import add_limits, count, duration, natural, positive
from ledgeragent.cli.options import DECISIONS, add_domain, add_journal, add_levels, add_mode
from ledgeragent.cli.tools import add_tools
from ledgeragent.cli.verbs import VERBS
from ledgeragent.errors import UsageError

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "gateway",
        help=VERBS["gateway"],
        description="Serves /v1/chat/completions, /v1/messages and /v1/responses in front of a "
        "model API. Every reply is judged before the agent gets it; point the agent's base URL here.",
        epilog="Keys are read from the environment only. SIGTERM and SIGINT finish what is under way.",
    )
    parser.add_argument(
        "action", nargs="?", choices=("check",), help="check: say what is wrong, and serve nothing"
    )
    parser.add_argument("file", nargs="?", metavar="CONFIG", help="the same as --config")
    add_options(parser)
    parser.set_defaults(run=run)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds all that may stand in a configuration file as well."""
    parser.add_argument(
        "--config", metavar="FILE", help="a TOML file with these options, and routes of their own"
    )
    add_domain(parser, required=False)
    add_levels(parser)
    parser.add_argument("--upstream", metavar="URL", help="the model API")
    parser.add_argument(
        "--upstream-base",
        metavar="PATH",
        help="the path under which the model API stands, where it is not what --upstream names "
        "(default /v1, or a path with a version in --upstream)",
    )
    _add_serving(parser)
    add_mode(parser)
    _add_answers(parser)
    add_tools(parser)
    add_journal(parser)
    _add_keys(parser)
    parser.add_argument(
        "--context-role",
        choices=("auto", "system", "developer", "user", "last"),
        default="auto",
        help="role of the message that carries the ledger; last puts it into the last message, "
        "auto (the default) finds out which form the model API takes",
    )
    add_limits(parser)
    _add_sessions(parser)
    parser.add_argument(
        "--otel",
        action="store_true",
        help="send OpenTelemetry spans over OTLP/HTTP, as the environment's OTEL_* variables say",
    )


def _add_serving(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8080, help="port to listen on; 0 takes any")
    parser.add_argument(
        "--workers",
        type=count,
        default=1,
        metavar="N",
        help="processes that share the port, and a --session-store (default 1); each has a journal of "
        "its own; /metrics tells the counters of all",
    )
    parser.add_argument(
        "--access-log",
        metavar="FILE",
        help="write a JSON object for each request, with no content of it; - is standard output",
    )
    parser.add_argument(
        "--drain-timeout",
        type=positive,
        default=30.0,
        metavar="SECONDS",
        help="how long requests may take to finish after SIGTERM (default 30)",
    )
    parser.add_argument(
        "--drain-delay",
        type=duration,
        default=0.0,
        metavar="SECONDS",
        help="how long /readyz says no before no new request is taken (default 0)",
    )
    parser.add_argument(
        "--watch",
        type=duration,
        default=5.0,
        metavar="SECONDS",
        help="look for changes of packs, and of the files that options name, this often; 0 does not "
        "(default 5)",
    )


def _add_answers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-revisions",
        type=natural,
        default=1,
        metavar="N",
        help="further model calls a rejected reply may cost before it is refused (default 1)",
    )
    parser.add_argument(
        "--max-refusals",
        type=natural,
        default=20,
        metavar="N",
        help="how many times in a row a conversation is refused the same before it gets no answer "
        "any more (default 20; 0: no end)",
    )
    parser.add_argument(
        "--unknown-tools",
        choices=tuple(DECISIONS),
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
    parser.add_argument(
        "--metrics-key-env",
        metavar="NAME",
        help="environment variable with the key that /metrics asks for",
    )
    parser.add_argument(
        "--console-key-env",
        metavar="NAME",
        help="environment variable with the key of the console, which is then served at /console",
    )
    parser.add_argument(
        "--allowed-hosts",
        metavar="NAMES",
        help="names that a request may call the gateway by, by comma; * is any (default: localhost on "
        "a loopback address without keys, else any)",
    )
    parser.add_argument(
        "--allowed-origins",
        default="",
        metavar="ORIGINS",
        help="web pages that may use the gateway, e.g. https://desk.example, by comma (default none)",
    )


def _add_sessions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--session-store",
        default="memory",
        metavar="STORE",
        help="where named sessions live: memory, a SQLite file, or postgresql://...",
    )
    parser.add_argument(
        "--require-session",
        action="store_true",
        help="refuse requests without x-ledgeragent-session, whose history would have to be believed",
    )
    parser.add_argument(
        "--max-sessions",
        type=natural,
        default=10_000,
        metavar="N",
        help="named sessions, and replies that can be continued, that memory keeps (default 10000)",
    )
    parser.add_argument(
        "--max-session-bytes",
        type=natural,
        default=64 << 20,
        metavar="BYTES",
        help="text that memory keeps of all of them: what their tools returned and their calls asked "
        "for; the longest unused go first (default 64 MiB)",
    )


def run(args: argparse.Namespace) -> int:
    """Serves until it is told to stop. 0 after a graceful shutdown."""
    from ledgeragent.cli.gatewayplan import ServingPlan
    from ledgeragent.cli.gatewayrun import check, serve

    if args.action is None and args.file is not None:
        raise UsageError(f"{args.file}: to serve it, write --config {args.file}")
    if args.file is not None:
        args.config = args.file
    parser = ExplainingParser(add_help=False)
    add_options(parser)
    plan = ServingPlan.read(args, parser)
    return (
        check(plan)
        if args.action == "check"
        else serve(plan, lambda: ServingPlan.read(args, parser))
    )
