"""Options that several verbs have, and how their values are read."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.errors import UsageError
from ledgeragent.traces import tool_names

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_domain(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Adds --domain, --version and --tools."""
    parser.add_argument(
        "--domain",
        required=required,
        metavar="NAME",
        help="a pack (airline, retail, telecom, telehealth, shop), or module:ATTRIBUTE of your own",
    )
    parser.add_argument(
        "--version", metavar="VERSION", help="the version of the domain's policy to judge by"
    )
    parser.add_argument(
        "--tools",
        type=_tools,
        metavar="TOOLS",
        help="the agent's tools, so that no rule asks for another: names with commas, or a file",
    )


def _tools(given: str) -> frozenset[str]:
    """Names from a comma list, or from a file: a JSON list (names or schemas), or a name a line."""
    path = Path(given)
    if not path.is_file():
        names = frozenset(name.strip() for name in given.split(",")) - {""}
    else:
        try:
            names = _listed(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"--tools {given}: {error}") from None
    if not names:
        raise UsageError(f"--tools {given}: no tool is named")
    return names


def _listed(text: str) -> frozenset[str]:
    if text.lstrip().startswith(("[", "{")):
        return tool_names(json.loads(text))
    return frozenset(text.split())
