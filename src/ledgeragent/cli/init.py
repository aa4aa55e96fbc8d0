"""`ledgeragent init`: writes a starter pack from a file that describes the agent's tools."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.cli.verbs import VERBS
from ledgeragent.compiler.source.toolfile import read_tools
from ledgeragent.compiler.starter import starter
from ledgeragent.errors import UsageError

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers

NAME = re.compile(r"[A-Za-z_][\w-]*")
"""What can name a domain."""


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "init",
        help=VERBS["init"],
        description="Writes NAME.yaml with an entry for every tool. What is read and what is written "
        'is guessed from names and schemas and marked "# review"; an MCP hint can make a guess '
        "stricter, never looser.",
    )
    parser.add_argument("name", metavar="NAME", help="the domain, such as parking")
    parser.add_argument(
        "--tools",
        type=Path,
        required=True,
        metavar="FILE",
        help="OpenAI tool schemas, an MCP tools/list result, or an OpenAPI document (JSON or YAML)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the file to write (default: NAME.yaml)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Writes the file; never over an existing one."""
    if not NAME.fullmatch(args.name):
        raise UsageError(f"{args.name!r} cannot name a domain; use letters, digits, _ and -")
    file = args.out or Path(f"{args.name}.yaml")
    tools = read_tools(args.tools)
    write_new(file, starter(args.name, tools))
    then = f"ledgeragent check {file} --tools {args.tools}"
    sys.stdout.write(f"wrote {file} for {len(tools)} tools; review it, then: {then}\n")
    return 0


def write_new(file: Path, text: str) -> None:
    """Writes a file whole or not at all; raises UsageError where there is one already."""
    if file.exists():
        raise UsageError(f"{file} exists already; remove it, or choose another with --out")
    try:
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    except OSError as problem:
        raise UsageError(f"cannot write {file}: {problem.strerror}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        os.link(temporary, file)  # unlike a rename, never over a file that has appeared meanwhile
    except FileExistsError:
        raise UsageError(
            f"{file} exists already; remove it, or choose another with --out"
        ) from None
    except OSError as problem:
        raise UsageError(f"cannot write {file}: {problem.strerror}") from None
    finally:
        os.unlink(temporary)
