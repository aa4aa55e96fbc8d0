"""Options on an agent's tools as the gateway meets them on the wire."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledgeragent.session.toolnames import ToolNames


def add_tools(parser: argparse.ArgumentParser) -> None:
    """Adds the options on tools: their names, and whether a request has to offer some."""
    add_names(parser)
    parser.add_argument(
        "--require-tools",
        action="store_true",
        help="refuse requests with no tool of the pack in them, which nobody could judge",
    )


def add_names(parser: argparse.ArgumentParser) -> None:
    """Adds what tools are called on the wire, and which are none of the pack."""
    parser.add_argument(
        "--tool-prefix",
        action="append",
        default=[],
        metavar="PREFIX",
        help="what stands before the pack's tools on the wire, such as mcp__shop__; may be repeated. "
        "One that fits the pack in a single way is found without it, and told",
    )
    parser.add_argument(
        "--tool-alias",
        action="append",
        default=[],
        type=_alias,
        metavar="NAME=TOOL",
        help="a tool's name on the wire, and the pack's name for it; may be repeated",
    )
    parser.add_argument(
        "--neutral",
        action="append",
        default=[],
        metavar="NAME",
        help="a tool outside the pack that changes no record; may be repeated. What frameworks add to "
        "an agent (outputs, handoffs, plans) is known without it",
    )


def names_of(args: argparse.Namespace) -> ToolNames:
    """What the options say of names."""
    from ledgeragent.session.toolnames import ToolNames

    return ToolNames(
        prefixes=tuple(args.tool_prefix),
        aliases=dict(args.tool_alias),
        neutrals=frozenset(args.neutral),
    )


def _alias(text: str) -> tuple[str, str]:
    name, mark, tool = text.partition("=")
    if not (name and mark and tool):
        raise argparse.ArgumentTypeError("give NAME=TOOL")
    return name, tool
