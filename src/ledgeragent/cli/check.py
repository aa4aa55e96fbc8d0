"""`ledgeragent check`: is a pack right, before it is deployed?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.check import check
from ledgeragent.compiler.problems import Severity
from ledgeragent.report.findings import count, findings_json, findings_sarif, findings_text

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "check",
        help="find what is wrong with a pack, without running it",
        description="Reads a pack and lists what is wrong with it, with file and line: paths, fields "
        "and types that do not exist, rules that can never fire or never be satisfied, evidence that "
        "no tool supplies, tools and clauses without a rule, missing samples.",
        epilog="Exits 1 if an error was found, 0 if nothing or only warnings.",
    )
    parser.add_argument(
        "pack",
        metavar="PACK",
        help="a YAML file, a folder with pack.yaml, the name of a shipped pack, or module:ATTRIBUTE",
    )
    parser.add_argument("--version", metavar="VERSION", help="the version of a pack with several")
    parser.add_argument(
        "--tools",
        type=Path,
        metavar="FILE",
        help="the agent's tools (OpenAI schemas, MCP tools/list, OpenAPI) to check the pack against",
    )
    parser.add_argument("--format", choices=("text", "json", "sarif"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Checks and reports. 1 if something is wrong."""
    findings = check(args.pack, version=args.version, tools=args.tools)
    match args.format:
        case "json":
            text = findings_json(args.pack, findings)
        case "sarif":
            text = findings_sarif(findings)
        case _:
            text = findings_text(args.pack, findings)
    sys.stdout.write(text)
    return 1 if count(findings, Severity.ERROR) else 0
