"""`ledgeragent bench cost`: the ledger's price in prompt tokens, on recorded runs."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent import packs
from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.bench.tokens.prompt_cost import CACHED_PRICE, Cost
from ledgeragent.bench.tokens.tokens import Counter, counter
from ledgeragent.demo.shop.shop import policy as shop_policy
from ledgeragent.demo.shop.shop import tool_schemas
from ledgeragent.errors import DataError, UsageError
from ledgeragent.files.documents import read_document
from ledgeragent.files.reading import read_text
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.piece import Piece
from ledgeragent.offline.sources import pieces, records
from ledgeragent.offline.traces import Trace, traces_of
from ledgeragent.types import Json

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_COLUMNS = ("total", "uncached", "price_weighted")


def add(subparsers: Subparsers) -> None:
    """Adds the sub-verb to the command line."""
    parser = subparsers.add_parser(
        "cost",
        help="count what the ledger costs in prompt tokens",
        description="Makes the prompts of recorded runs again, without the ledger (fc) and in each "
        "render mode, at the tail and in the system prompt, and counts their tokens per run: in "
        f"all, uncached, and in money where a cached token costs {CACHED_PRICE:g} of another.",
        epilog="Tools and policy come first in every prompt and count as cached.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="recorded runs; - is stdin")
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        help="the folder with benchmarks/ (tools and policies) and trajectories/policies.json; "
        f"{DATA_DIR} names it too; without it, prompts hold the conversation only",
    )
    parser.add_argument("--domain", metavar="NAME", help="the domain of runs that name none")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Counts and reports. Raises DataError where there is no run to count."""
    named = args.data_dir or os.environ.get(DATA_DIR)
    if named and not Path(named).is_dir():
        raise UsageError(f"{named} is no folder")
    tokens = counter()
    costs = measure(args.files, args.domain, Prefixes(Path(named) if named else None), tokens)
    if not any(cost.runs for cost in costs.values()):
        raise DataError("no run of a known domain", file=", ".join(args.files))
    report = {
        "tokens": tokens.name,
        "tools_and_policy": bool(named),
        "cached_price": CACHED_PRICE,
        "domains": {name: cost.as_json() for name, cost in sorted(costs.items())},
    }
    sys.stdout.write(json.dumps(report, indent=1) + "\n" if args.format == "json" else text(report))
    return 0


class Prefixes:
    """The texts before every conversation, from a folder of benchmark data (None: there are none)."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def of(self, domain: str, policy: str | None) -> Sequence[str]:
        """The tools of a domain, and the recorded policy, else the domain's own."""
        if domain == "shop":
            return json.dumps(tool_schemas()), shop_policy()
        if self._folder is None:
            return ()
        own = next(iter(sorted(self._folder.glob(f"benchmarks/*/{domain}"))), None)
        if own is None:
            raise DataError(f"there is no folder of {domain}", file=str(self._folder))
        return _tools(own), _policies(self._folder).get(policy or "") or _policy(own)


@cache
def _tools(folder: Path) -> str:
    """The tools as a chat API is given them: the schemas alone."""
    listed = read_document(folder / "tools.json")
    return json.dumps([tool.get("schema", tool) for tool in listed])


@cache
def _policy(folder: Path) -> str:
    return read_text(folder / "policy.md")


@cache
def _policies(folder: Path) -> Mapping[str, str]:
    file = folder / "trajectories" / "policies.json"
    if not file.is_file():
        return {}
    policies: dict[str, str] = read_document(file)
    return policies


def measure(
    files: Sequence[str], domain: str | None, prefixes: Prefixes, tokens: Counter
) -> dict[str, Cost]:
    """The cost of every run, by domain. Runs of unknown domains and odd tools are counted as skipped."""
    costs: dict[str, Cost] = {}
    for file in files:
        for trace, policy in _traces(file):
            name = trace.domain or domain
            if name is None or name not in packs.PACKS:
                continue
            cost = costs.setdefault(name, Cost())
            binding = Binding(name=name)
            if not binding.serves(trace):
                cost.skipped["other domain"] += 1
            elif trace.nonstandard:
                cost.skipped["nonstandard tools"] += 1
            else:
                prefix = sum(map(tokens.count, prefixes.of(name, policy)))
                cost.count(trace, binding.domain_for(trace), prefix, tokens)
    return costs


def _traces(file: str) -> Iterator[tuple[Trace, str | None]]:
    """Each run with the policy that it names; broken ones are named on stderr."""
    for piece in pieces(file):
        for part in parts(piece):
            policy = _policy_named(part)
            for trace in traces_of(part):
                if isinstance(trace, DataError):
                    print(f"ledgeragent: skipped: {trace}", file=sys.stderr)
                else:
                    yield trace, policy


def parts(piece: Piece) -> Iterator[Piece]:
    """A piece of JSON Lines line by line, a document whole."""
    if piece.document or piece.problem is not None:
        yield piece
        return
    for number, line in enumerate(piece.lines, piece.line):
        if line.strip():
            yield Piece(file=piece.file, line=number, lines=(line,))


def _policy_named(piece: Piece) -> str | None:
    values: list[Json] = [value for _, value in records(piece)]
    named = values[0].get("policy_sha") if values and isinstance(values[0], dict) else None
    return named if isinstance(named, str) else None


def text(report: Mapping[str, Json]) -> str:
    """The report as a table per domain."""
    lines = [f"tokens: {report['tokens']}; a cached token costs {report['cached_price']:g}"]
    if not report["tools_and_policy"]:
        lines.append("tools and policy are not counted (see --data-dir)")
    for name, cost in report["domains"].items():
        lines += ["", f"{name}: {cost['runs']} runs, {cost['prompts']} prompts; tokens per run"]
        lines.append(f"{'':24}" + "".join(f"{c.replace('_', ' '):>22}" for c in _COLUMNS))
        for arm, figures in cost["arms"].items():
            cells = (f"{figures[c]:>13,.0f}{_times(figures[f'{c}_ratio']):>9}" for c in _COLUMNS)
            lines.append(f"{arm:24}{''.join(cells)}")
    return "\n".join(lines) + "\n"


def _times(ratio: float | None) -> str:
    return f"x{ratio:.3f}" if ratio is not None else ""
