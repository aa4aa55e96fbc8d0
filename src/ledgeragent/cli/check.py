"""`ledgeragent check`: is a pack right, before it is deployed?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.cli.options import add_parameters, parameters_of
from ledgeragent.cli.verbs import VERBS
from ledgeragent.compiler.problems import Severity
from ledgeragent.files.limits import PACK
from ledgeragent.files.reading import opened, read_text
from ledgeragent.packs import PACKS
from ledgeragent.packs.checking import check, checked_text
from ledgeragent.report.findings import (
    PackFindings,
    count,
    findings_json,
    findings_sarif,
    findings_text,
)

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "check",
        help=VERBS["check"],
        description="Reads a pack and lists what is wrong with it, with file and line: paths, fields "
        "and types that do not exist, rules that can never fire or never be satisfied, evidence that "
        "no tool supplies, tools and clauses without a rule, missing samples.",
        epilog="Exits 1 if an error was found, 0 if nothing or only warnings.",
    )
    parser.add_argument(
        "packs",
        nargs="+",
        metavar="PACK",
        help="a YAML file, a folder with pack.yaml or with several packs, the name of a shipped pack, "
        "module:ATTRIBUTE, or - for a YAML pack on standard input; several may be given",
    )
    add_parameters(parser)
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
    """Checks and reports. 1 if something is wrong with any of them."""
    parameters = parameters_of(args)
    reports: list[PackFindings] = []
    for name in (pack for text in args.packs for pack in _packs(text)):
        if name == "-":
            problems = checked_text(read_text("-", PACK), args.tools, parameters)
        else:
            problems = check(name, version=args.version, tools=args.tools, parameters=parameters)
        reports.append(PackFindings(name, tuple(problems)))
    match args.format:
        case "json":
            text = findings_json(reports)
        case "sarif":
            text = findings_sarif([f for report in reports for f in report.findings])
        case _:
            text = "".join(findings_text(*report) for report in reports)
    sys.stdout.write(text)
    return int(any(count(report.findings, Severity.ERROR) for report in reports))


def _packs(text: str) -> list[str]:
    """The packs that a name stands for: a folder without pack.yaml stands for those in it."""
    folder = Path(text)
    if text in PACKS or not folder.is_dir() or (folder / "pack.yaml").exists():
        return [text]
    inner = [str(path.parent) for path in sorted(folder.rglob("pack.yaml"))]
    files = [str(path) for path in sorted(folder.glob("*.y*ml")) if _is_pack(path)]
    return [*inner, *files] or [text]


def _is_pack(file: Path) -> bool:
    """True for a YAML file that says it is a pack."""
    with opened(file) as stream:
        head = stream.read(PACK.value << 20)
    return any(line.startswith(b"schema:") for line in head.splitlines())
