"""`ledgeragent mine`: drafts a pack from recorded conversations, or compares one with them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.cli.engines import add_engine, engine_of
from ledgeragent.cli.init import NAME
from ledgeragent.cli.options import add_faulty, add_parameters, parameters_of
from ledgeragent.cli.places import files_in
from ledgeragent.cli.recorded import READS, add_reading, warn
from ledgeragent.cli.verbs import VERBS
from ledgeragent.compiler.source.toolfile import read_tools
from ledgeragent.errors import UsageError
from ledgeragent.mining.draft import draft
from ledgeragent.mining.drift import compare
from ledgeragent.mining.folder import write_folder
from ledgeragent.mining.packtext import PackText
from ledgeragent.mining.recording import RecordedRuns
from ledgeragent.mining.rules.drafting import drafted
from ledgeragent.mining.rules.proposal import LEAST_SITUATIONS
from ledgeragent.offline.binding import Binding
from ledgeragent.report.mining import differences_json, differences_text, draft_text

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "mine",
        help=VERBS["mine"],
        description="Reads recorded conversations and drafts a pack: which tools read and write, what "
        "records they return and under which keys, what each write changes and answers with. Each line "
        'tells how often that was seen, and each guess is marked "review". No model is called. With '
        "--check an existing pack is compared with the conversations instead.",
        epilog=f"{READS} Exits 0 with a draft, 1 where --check finds a difference, 2 where nothing could "
        "be read.",
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="recorded runs, a folder or a pattern of them, also s3://, gs:// or az://; - is stdin",
    )
    add_reading(parser)
    add_engine(parser)
    parser.add_argument(
        "--nonstandard",
        action="store_true",
        help="take runs too whose agent had tools that their benchmark does not have",
    )
    parser.add_argument(
        "--tools",
        type=Path,
        metavar="FILE",
        help="the agent's tools (OpenAI schemas, MCP tools/list, OpenAPI), for types and hints",
    )
    parser.add_argument(
        "--domain", metavar="NAME", help="the name of the domain (default: that of the folder)"
    )
    parser.add_argument(
        "-o", "--out", type=Path, metavar="FOLDER", help="the new folder for the pack"
    )
    parser.add_argument(
        "--rules",
        action="store_true",
        help="draft rules too, from what right calls have in common (extra cel); none is enforced",
    )
    parser.add_argument(
        "--situations",
        type=int,
        default=LEAST_SITUATIONS,
        metavar="N",
        help="the different situations of right calls from which on a tool gets rules (default "
        f"{LEAST_SITUATIONS}); fewer draft more accidents",
    )
    parser.add_argument(
        "--redact",
        action="append",
        default=[],
        metavar="PATH",
        help="a path whose texts are masked in the samples of rules, e.g. users.*.email; may be repeated",
    )
    parser.add_argument(
        "--check", metavar="PACK", help="compare this pack with the runs, and draft nothing"
    )
    parser.add_argument(
        "--version", metavar="VERSION", help="of --check: the version of a pack that has several"
    )
    add_parameters(parser)
    add_faulty(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="of --check")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Drafts a pack, or compares one. 1 where a pack and the runs differ."""
    files = files_in(args.files)
    engine = engine_of(args)
    with RecordedRuns(files, args.form, args.tool_prefix, args.nonstandard, engine) as recording:
        if args.check is not None:
            return _check(args, recording, files)
        return _draft(args, recording, files)


def _check(args: argparse.Namespace, recording: RecordedRuns, files: list[str]) -> int:
    if args.out is not None:
        raise UsageError("--check compares and writes nothing; leave -o out")
    binding = Binding(
        name=args.check,
        version=args.version,
        parameters=parameters_of(args),
        allow_faulty=args.allow_faulty,
    )
    differences = compare(binding, recording)
    warn(recording.intake, files)
    write = differences_json if args.format == "json" else differences_text
    sys.stdout.write(write(args.check, recording.intake.runs, differences))
    return 1 if differences else 0


def _draft(args: argparse.Namespace, recording: RecordedRuns, files: list[str]) -> int:
    if args.version is not None or args.allow_faulty or parameters_of(args):
        raise UsageError("--version, --param and --allow-faulty are of --check; a draft has none")
    if args.out is None:
        raise UsageError("name the folder for the pack with -o, or a pack to compare with --check")
    if args.redact and not args.rules:
        raise UsageError("--redact masks the samples of rules; it needs --rules")
    name = args.domain or args.out.name
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot name a domain; name one with --domain")
    specs = read_tools(args.tools) if args.tools is not None else ()
    result = draft(recording, specs)
    warn(recording.intake, files)
    texts = {"pack.yaml": PackText(result, name).text()}
    rules = None
    if args.rules:
        rules = drafted(name, result, recording, args.redact, args.situations)
        texts = {"pack.yaml": PackText(result, name).text(rules.guarded), **rules.texts}
    write_folder(args.out, texts)
    sys.stdout.write(draft_text(result, args.out, rules, args.situations))
    return 0
