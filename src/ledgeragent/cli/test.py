"""`ledgeragent test`: does a domain judge its samples, or labelled cases, as they say?"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.cli.engines import add_engine, engine_of
from ledgeragent.cli.options import add_domain, add_levels, levels_of, parameters_of, tools_of
from ledgeragent.cli.recorded import tell_values
from ledgeragent.cli.verbs import VERBS
from ledgeragent.errors import DataError, UsageError
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.cases import CasesResult
from ledgeragent.offline.casework import judged_cases
from ledgeragent.offline.sampling import judge_samples
from ledgeragent.report.cases import cases_json, cases_text, domains_json, domains_text
from ledgeragent.report.samples import samples_json, samples_text

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers

_FOLDERS = (Path("benchmarks", "cases"), Path("benchmarks", "situations"))


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "test",
        help=VERBS["test"],
        description="Judges the samples of a pack, or with --cases labelled conversations: one "
        "proposed call, or the calls of one reply. Lists every one that is judged otherwise, with "
        "what was read for it. Cases of clauses that depend on what was said are reported apart. "
        f"Without any option it judges all cases of the folder that {DATA_DIR} names.",
        epilog="Exits 0 if every sample, or every case that records decide, is judged as it says, 1 "
        "if not. A sample is judged in the first version of a pack that has its rule, or that it "
        "names; without --domain, a case in the shipped pack that it names.",
    )
    add_domain(parser, required=False)
    add_levels(parser)
    parser.add_argument(
        "--cases",
        action="append",
        metavar="FILE",
        default=[],
        help="labelled cases, JSON Lines, plain or gzip, or a folder of such files; - is stdin; may "
        "be given again",
    )
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        help="judge the labelled cases in benchmarks/cases and benchmarks/situations of this folder",
    )
    add_engine(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Judges and reports. 1 if one that records decide is judged otherwise than it says."""
    sources = _sources(args)
    binding = _binding(args)
    if sources:
        return _cases(args, sources, binding)
    if args.engine != "local":
        raise UsageError("--engine goes with labelled cases; the samples of a pack are judged here")
    if binding is None:
        raise UsageError(
            "nothing to judge: name a pack with --domain, labelled cases with --cases, or the "
            f"folder that holds benchmarks/ with --data-dir or {DATA_DIR}"
        )
    return _samples(args, binding)


def _sources(args: argparse.Namespace) -> list[str]:
    """The files and folders of labelled cases that were named, on the command line or around it."""
    folder = args.data_dir
    if not folder and not args.cases and args.domain is None:
        folder = os.environ.get(DATA_DIR)
    if not folder:
        return list(args.cases)
    below = [str(Path(folder) / name) for name in _FOLDERS if (Path(folder) / name).is_dir()]
    if not below:
        raise UsageError(f"{folder} has neither {' nor '.join(map(str, _FOLDERS))}")
    return [*args.cases, *below]


def _binding(args: argparse.Namespace) -> Binding | None:
    """The domain that was named; raises UsageError for options that say more of none."""
    if args.domain is not None:
        return Binding(
            name=args.domain,
            version=args.version,
            tools=tools_of(args, args.domain),
            parameters=parameters_of(args),
            allow_faulty=args.allow_faulty,
            levels=levels_of(args),
        )
    if args.version is not None or args.tools is not None or args.enforce or parameters_of(args):
        raise UsageError("--version, --tools, --param and --enforce need --domain")
    return None


def _cases(args: argparse.Namespace, sources: Sequence[str], binding: Binding | None) -> int:
    """Each case judged in the domain that was named, or in the shipped pack that it names."""
    engine = engine_of(args, *([binding.name] if binding is not None else []))
    results = judged_cases(sources, binding, engine)
    own = sum(result.own_values for result in results.values())
    tell_values(own, sum(result.lost_values for result in results.values()), "cases")
    if binding is None:
        write = domains_json if args.format == "json" else domains_text
        sys.stdout.write(write(results))
        return _code(results.values())
    result = next(iter(results.values()), CasesResult())
    if not result.decided.cases and not result.apart.cases:
        name = binding.domain().name
        raise DataError(f"no case of domain {name}", file=", ".join(sources))
    sys.stdout.write(cases_json(result) if args.format == "json" else cases_text(result))
    return _code([result])


def _code(results: Iterable[CasesResult]) -> int:
    return int(any(result.decided.mismatches for result in results))


def _samples(args: argparse.Namespace, binding: Binding) -> int:
    result = judge_samples(binding)
    sys.stdout.write(samples_json(result) if args.format == "json" else samples_text(result))
    return 1 if result.failures else 0
