"""`ledgeragent explain`: what a rule decides and reads, or why one recorded call was judged as it was."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ledgeragent import packs
from ledgeragent.cli.options import add_domain, add_levels, levels_of, parameters_of, tools_of
from ledgeragent.cli.recorded import add_reading
from ledgeragent.cli.verbs import VERBS
from ledgeragent.compiler.problems import nearest, suggestion
from ledgeragent.errors import DataError, UsageError
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.explain import RuleExplained, explain_call, explain_rule
from ledgeragent.offline.gatechecks import CHECKS, PREFIX, GateCheck, explain_check
from ledgeragent.offline.traces import Trace
from ledgeragent.offline.viewing import conversations
from ledgeragent.report.explanation import (
    check_json,
    check_text,
    rule_json,
    rule_text,
)
from ledgeragent.report.judgement import call_json_report, call_text
from ledgeragent.report.parts import shorten

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers

_RULE = re.compile(r"[\w-]+/[\w-]+")
_CALL = re.compile(r"(.+):(\d+)", re.DOTALL)


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "explain",
        help=VERBS["explain"],
        description="RULE: the clause, the tools, what it decides and reads, its samples. FILE#RUN:N: "
        "the conversation up to the judged call N of a recorded run, the ledger at that point, and "
        "what every rule read and said. `replay` prints RUN:N; a file with one run needs no RUN.",
        epilog="The pack is the one that the rule's id, or the run, names, unless --domain gives another. "
        f"What the gate itself checks is explained too: {', '.join(CHECKS)}.",
    )
    parser.add_argument("what", metavar="RULE | FILE#RUN:N", help="what to explain")
    add_domain(parser, required=False)
    add_levels(parser)
    add_reading(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prints the explanation. Always 0 for a rule, or a call, that exists."""
    if _RULE.fullmatch(args.what) and not os.path.exists(args.what):
        sys.stdout.write(_explained(args))
        return 0
    trace, number = _place(args.what, args.form)
    binding = _binding(args, trace.domain)
    call = explain_call(binding.named(trace), binding.domain_for(trace), number)
    sys.stdout.write(call_json_report(call) if args.format == "json" else call_text(call))
    return 0


def _explained(args: argparse.Namespace) -> str:
    """The explanation of a rule, or of a check of the gate."""
    subject = _rule(args)
    if isinstance(subject, GateCheck):
        return check_json(subject) if args.format == "json" else check_text(subject)
    return rule_json(subject) if args.format == "json" else rule_text(subject)


def _rule(args: argparse.Namespace) -> RuleExplained | GateCheck:
    named = args.what.partition("/")[0]
    if args.what in CHECKS or (args.domain is None and named == PREFIX):
        return explain_check(args.what)
    return explain_rule(args.what, _binding(args, named))


def _binding(args: argparse.Namespace, named: str | None) -> Binding:
    """The pack of --domain, else the one that was named elsewhere."""
    name = args.domain
    if name is None:
        if named not in packs.PACKS:
            problem = f"no pack is named {shorten(named)}" if named else "the run names no pack"
            raise UsageError(f"{problem}; give one with --domain{_meant(args.what)}")
        name = named
    return Binding(
        name=name,
        version=args.version,
        tools=tools_of(args, name),
        parameters=parameters_of(args),
        allow_faulty=args.allow_faulty,
        levels=levels_of(args),
        prefixes=tuple(args.tool_prefix),
    )


def _meant(text: str) -> str:
    """The check of the gate that this is a slip for, "" if it is for none."""
    near = nearest(text, CHECKS)
    return f"; did you mean {near}?" if near is not None else ""


def _place(text: str, form: str | None) -> tuple[Trace, int]:
    """The run and the number of the judged call that `FILE#RUN:N` (or `FILE:N`) means."""
    match = _CALL.fullmatch(text)
    if match is None:
        raise UsageError(
            f"{text!r} is neither a rule (domain/name) nor a judged call of a recorded run (FILE#RUN:N)"
            f"{_meant(text)}"
        )
    file, run = _parted(match[1])
    return _run_of(file, run, form), int(match[2])


def _parted(place: str) -> tuple[str, str | None]:
    """File and run: the first `#` after which the rest is a run is one behind an existing file."""
    if os.path.exists(place):
        return place, None
    for mark in re.finditer("#", place):
        if os.path.exists(place[: mark.start()]):
            return place[: mark.start()], place[mark.end() :]
    raise DataError("there is no such file", file=place.partition("#")[0])


def _run_of(file: str, run: str | None, form: str | None) -> Trace:
    """The run of this id, or the only one of the file; raises DataError otherwise."""
    runs = _matching(file, run, form)
    first = next(runs, None)
    if first is None:
        raise _absent(file, run, form)
    if run is None and next(runs, None) is not None:
        raise DataError("it holds several runs; write FILE#RUN:N", file=file)
    return first


def _absent(file: str, run: str | None, form: str | None) -> DataError:
    """The error for a file without this run: which it has, or why it has none."""
    recordings = [*conversations(file, form)]
    runs = [shorten(one.trace.run) for one in recordings if not isinstance(one, DataError)]
    problem = next((one for one in recordings if isinstance(one, DataError)), None)
    if not runs and problem is not None:
        return problem
    sentence = f"there is no run {run} in it" if run is not None else "there is no run in it"
    return DataError(f"{sentence}{suggestion(run or '', runs)}", file=file)


def _matching(file: str, run: str | None, form: str | None) -> Iterator[Trace]:
    for recording in conversations(file, form):
        if isinstance(recording, DataError):
            continue
        if run is None or recording.trace.run in (run, f"{file}:{run}"):
            yield recording.trace
