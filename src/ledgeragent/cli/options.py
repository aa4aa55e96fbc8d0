"""Options that several verbs have, and how their values are read."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.compiler.givens import ParameterText, read_givens
from ledgeragent.compiler.problems import suggestion
from ledgeragent.domain import Domain
from ledgeragent.errors import DataError, UsageError
from ledgeragent.files.reading import read_bytes
from ledgeragent.journal import Journal
from ledgeragent.journal.checkpoints import EVERY, CheckpointPlan, is_address
from ledgeragent.offline.binding import versions
from ledgeragent.offline.traces import tool_names
from ledgeragent.verdict import Decision, Enforcement

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

DECISIONS = {"revise": Decision.REVISE, "block": Decision.BLOCK, "allow": Decision.ALLOW}
"""The words by which an option names a decision."""

LEVELS = tuple(level.value for level in Enforcement)


def add_domain(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Adds --domain, --version and --tools."""
    parser.add_argument(
        "--domain",
        required=required,
        metavar="NAME",
        help="a pack (airline, retail, telecom, telehealth, shop), a YAML file, a folder with "
        "pack.yaml, or module:ATTRIBUTE of your own",
    )
    parser.add_argument(
        "--version", metavar="VERSION", help="the version of the domain's policy to judge by"
    )
    parser.add_argument(
        "--tools",
        metavar="TOOLS",
        help="the agent's tools, so that no rule asks for another: names with commas, or a file",
    )
    add_parameters(parser)
    add_faulty(parser)


def add_faulty(parser: argparse.ArgumentParser) -> None:
    """Adds --allow-faulty."""
    parser.add_argument(
        "--allow-faulty",
        action="store_true",
        help="take a pack in which `check` finds an error as it is, instead of refusing it",
    )


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """Adds --param and --params."""
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        type=_given,
        metavar="NAME=VALUE",
        help="another value for a parameter of the domain, or the time for its rules (now=...); may be "
        "given again",
    )
    parser.add_argument(
        "--params",
        type=Path,
        metavar="FILE",
        help="such values in a TOML, JSON or YAML file; --param counts before it",
    )


def parameters_of(args: argparse.Namespace) -> tuple[ParameterText, ...]:
    """The values of --params, then those of --param; the last one for a name counts."""
    return (*(read_givens(args.params) if args.params is not None else ()), *args.param)


def tools_of(args: argparse.Namespace, *domains: str) -> frozenset[str] | None:
    """The tools of --tools, None where it is not given.

    Names with commas, or a file: a JSON list (names or schemas), or a name a line. The file is read
    now, as it is. Raises UsageError for a typed name that no version of these domains knows. A file is
    the agent's own list, which may hold tools that no policy speaks of.
    """
    text: str | None = args.tools
    if text is None:
        return None
    file = tools_file(args)
    names = frozenset(map(str.strip, text.split(","))) - {""} if file is None else _listed(file)
    if not names:
        raise UsageError(f"--tools {text}: no tool is named")
    listed = [d for name in domains for d in versions(name, args.allow_faulty).values()]
    policy_tools = {t.tool for d in listed for t in d.tools}
    for name in sorted(names - policy_tools) if file is None else ():
        problem = f"--tools {name}: neither a file nor a tool of {' or '.join(domains)}"
        raise UsageError(f"{problem}{suggestion(name, policy_tools)}")
    return names


def tools_file(args: argparse.Namespace) -> str | None:
    """The file that --tools names, None where it names tools or is not given."""
    text: str | None = args.tools
    is_file = text is not None and os.path.exists(text) and not os.path.isdir(text)
    return text if is_file else None


def add_journal(parser: argparse.ArgumentParser) -> None:
    """Adds --journal, --redact, and how the journal is signed and forced to the disk."""
    parser.add_argument(
        "--journal",
        metavar="FILE",
        help="record all that happens, and every verdict: JSON Lines, SQLite (.db, .sqlite), or "
        "postgresql://... for several writers",
    )
    parser.add_argument(
        "--redact",
        action="append",
        default=[],
        metavar="PATH",
        help="a path whose values stay out of the journal, e.g. users.*.email; may be given again",
    )
    parser.add_argument(
        "--journal-key",
        metavar="FILE",
        help="the private key (ledgeragent journal keygen) that signs the journal's heads",
    )
    parser.add_argument(
        "--journal-key-env",
        metavar="NAME",
        help="the variable of the environment that holds this key",
    )
    parser.add_argument(
        "--journal-head",
        dest="journal_heads",
        action="append",
        default=[],
        metavar="PLACE",
        help="where the journal's heads go: a file, syslog:, syslog:SOCKET, syslog:HOST:PORT (UDP) "
        "or a URL; may be given again. Signed ones stand in JOURNAL.heads, or in the database, as well",
    )
    parser.add_argument(
        "--journal-every",
        type=_records,
        default=EVERY,
        metavar="N",
        help=f"records from one head to the next (default {EVERY}); the last is taken at the end",
    )
    parser.add_argument(
        "--journal-sync",
        choices=("always", "checkpoint", "never"),
        default="checkpoint",
        help="when a JSON Lines journal is forced to the disk: with every record, with every head or "
        "not at all (default checkpoint); databases do so with every record",
    )
    parser.add_argument(
        "--journal-rotate",
        type=_records,
        default=0,
        metavar="N",
        help="records after which a journal in Postgres goes on in a new chain (default: never)",
    )


def checkpoint_plan(args: argparse.Namespace) -> CheckpointPlan:
    """What the options say of the journal's heads; UsageError where they need --journal."""
    if args.journal is None and (args.journal_key or args.journal_key_env or args.journal_heads):
        raise UsageError("--journal-key and --journal-head need --journal")
    if args.journal_rotate and not is_address(args.journal or ""):
        raise UsageError(
            "--journal-rotate needs a --journal in Postgres; with files, start with a new name"
        )
    return CheckpointPlan(
        key=args.journal_key,
        key_variable=args.journal_key_env,
        places=tuple(args.journal_heads),
        every=args.journal_every,
        sync=args.journal_sync,
        rotate=args.journal_rotate,
    )


@contextmanager
def journal_of(args: argparse.Namespace, domain: Domain) -> Iterator[Journal | None]:
    """The journal of --journal, open for as long as the block lasts; None if there is none."""
    if args.journal is None:
        if args.redact:
            raise UsageError("--redact needs --journal")
        checkpoint_plan(args)
        yield None
        return
    checkpoints = checkpoint_plan(args).checkpoints(args.journal)
    with Journal.open(args.journal, domain, redact=args.redact, checkpoints=checkpoints) as journal:
        yield journal


def add_mode(parser: argparse.ArgumentParser) -> None:
    """Adds --mode."""
    parser.add_argument(
        "--mode",
        choices=("enforce", "shadow"),
        default="enforce",
        help="shadow judges and records, and changes nothing",
    )


def add_pack(parser: argparse.ArgumentParser) -> None:
    """Adds the pack, to be given by place or as --domain."""
    parser.add_argument(
        "pack",
        nargs="?",
        metavar="PACK",
        help="a shipped pack, a YAML file, a folder with pack.yaml, or module:ATTRIBUTE",
    )
    parser.add_argument("--domain", metavar="PACK", help="the same")


def pack_of(args: argparse.Namespace) -> str:
    """The pack that was given; raises UsageError where none was, or two."""
    names = [name for name in (args.pack, args.domain) if name is not None]
    if len(names) != 1:
        raise UsageError("name one pack: PACK or --domain PACK")
    return str(names[0])


def add_levels(parser: argparse.ArgumentParser) -> None:
    """Adds --enforce."""
    parser.add_argument(
        "--enforce",
        action="append",
        default=[],
        type=_level,
        metavar="RULE=LEVEL",
        help="enforce a rule, or only warn or audit (* for all others); may be given again",
    )


def levels_of(args: argparse.Namespace) -> frozenset[tuple[str, Enforcement]]:
    """The levels of --enforce; of two for one rule the last."""
    return frozenset(dict(args.enforce).items())


def _level(text: str) -> tuple[str, Enforcement]:
    rule, _, level = text.rpartition("=")
    if not rule or level not in LEVELS:
        raise argparse.ArgumentTypeError(f"write RULE=LEVEL, where LEVEL is {' or '.join(LEVELS)}")
    return rule, Enforcement(level)


def _given(text: str) -> ParameterText:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError("write NAME=VALUE")
    return ParameterText(name, value)


def _records(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("give a number of records, 1 or more")
    return int(text)


def _listed(file: str) -> frozenset[str]:
    """The names in a file; raises UsageError where it is no list of tools."""
    try:
        text = read_bytes(file).decode("utf-8-sig")
        listed = text.lstrip().startswith(("[", "{"))
        names = tool_names(json.loads(text)) if listed else frozenset(text.split())
    except UnicodeDecodeError:
        problem = "not UTF-8 text"
    except DataError as error:
        raise UsageError(f"--tools {error}") from None
    except (ValueError, RecursionError) as error:
        problem = f"not JSON: {error}" if isinstance(error, json.JSONDecodeError) else str(error)
    else:
        if all(name.isprintable() for name in names):
            return names
        problem = "names with control characters"
    raise UsageError(f"--tools {file}: it is no list of tools ({problem})")
