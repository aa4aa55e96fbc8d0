"""`ledgeragent bench probe`: which way to show the ledger helps a model write the right call."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgeragent import packs
from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.bench.probes.probing import ARMS, PLAIN, Probe, Proposer, probes, score, summary
from ledgeragent.bench.running.endpoint import EndpointError
from ledgeragent.bench.running.interrupts import EXIT, Interrupted, Stop, interrupts
from ledgeragent.bench.running.kept import KeptRows
from ledgeragent.bench.running.progress import tell
from ledgeragent.bench.running.sides import add_sides, endpoint_of
from ledgeragent.bench.tokens.cost import Prefixes, parts
from ledgeragent.effects import Effect
from ledgeragent.errors import DataError, UsageError
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.sources import pieces, records
from ledgeragent.offline.traces import Trace, traces_of
from ledgeragent.types import Json, ToolCall

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add(subparsers: Subparsers) -> None:
    """Adds the sub-verb to the command line."""
    parser = subparsers.add_parser(
        "probe",
        help="compare render modes on recorded writes",
        description="Before each write of a successful recorded run that equals a gold action of its "
        "task, gives a model the conversation so far, plain and in each render mode, and compares "
        "the call it proposes with the recorded one. No customer is simulated.",
        epilog="By completion, the model is given the recorded tool and asked for its arguments. With "
        "-o, what the file holds already is not asked again. An answer has 300 tokens at most "
        "unless --max-tokens says otherwise. Ctrl-C waits for the answer under way and exits "
        "130; a second one does not wait.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="recorded runs with gold actions")
    add_sides(parser, customer=False)
    parser.add_argument(
        "--by", choices=("chat", "completion"), default="chat", help="how it is asked"
    )
    parser.add_argument(
        "--schema",
        action="store_true",
        help="hold arguments to their tools' schemas; by completion that is a field json_schema, which "
        "servers of llama.cpp know",
    )
    parser.add_argument("--data-dir", metavar="DIR", help=f"for tools and policies; or {DATA_DIR}")
    parser.add_argument("--limit", type=int, default=100, metavar="N", help="probes (default 100)")
    parser.add_argument("--timeout", type=int, default=120, metavar="S", help="of a request")
    parser.add_argument("-o", "--output", metavar="FILE", help="keeps every answer, JSON Lines")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Asks and reports. Raises DataError where there is no probe."""
    named = args.data_dir or os.environ.get(DATA_DIR)
    if named and not Path(named).is_dir():
        raise UsageError(f"{named} is no folder")
    prefixes = Prefixes(Path(named) if named else None)
    chosen = chosen_probes(args.files, args.limit)
    if not chosen:
        raise DataError("no write that equals a gold action", file=", ".join(args.files))
    with KeptRows(args.output, _key, "answer to a probe") as log, interrupts(tell) as stop:
        proposer = Proposer(endpoint_of(args, args.timeout, stop.pause, max_tokens=300), args.by)
        try:
            totals = summary(_rows(chosen, proposer, prefixes, log, args.schema, stop))
        except Interrupted:
            tell("interrupted; started again, it asks what is missing")
            return EXIT
    sys.stdout.write(json.dumps(totals, indent=1) + "\n" if args.format == "json" else text(totals))
    return 0


def chosen_probes(files: Sequence[str], limit: int) -> list[tuple[Probe, str | None]]:
    """At most `limit` probes, each with its policy's name: the same ones for the same files, mixed."""
    candidates = [
        (probe, policy)
        for file in files
        for trace, gold, policy in _recorded(file)
        if (name := trace.domain) in packs.PACKS and name is not None
        if (binding := Binding(name=name)).serves(trace) and not trace.nonstandard
        for probe in probes(trace, binding.domain_for(trace), gold)
    ]
    candidates.sort(key=lambda one: sha256(one[0].id.encode("utf-8", "surrogatepass")).digest())
    return candidates[:limit]


def _recorded(file: str) -> Iterator[tuple[Trace, list[ToolCall], str | None]]:
    """Each run with its gold actions and the name of its policy."""
    for piece in pieces(file):
        for part in parts(piece):
            value = next((value for _, value in records(part)), None)
            if isinstance(value, dict) and value.get("gold_actions"):
                gold = [_action(action) for action in value["gold_actions"]]
                for trace in traces_of(part):
                    if isinstance(trace, Trace):
                        yield trace, gold, value.get("policy_sha")


def _action(action: Json) -> ToolCall:
    return ToolCall.parse(name=str(action["name"]), arguments=action.get("arguments"))


def _rows(
    chosen: Iterable[tuple[Probe, str | None]],
    proposer: Proposer,
    prefixes: Prefixes,
    log: KeptRows,
    with_schema: bool,
    stop: Stop,
) -> Iterator[Mapping[str, Any]]:
    """An answer per probe and arm; those that the file holds first. A refused prompt gives none."""
    terms = {"model": proposer.endpoint.model, "by": proposer.kind, "schema": with_schema}
    for probe, policy in chosen:
        texts = prefixes.of(probe.domain.name, policy)
        schema = _schema(texts, probe, proposer.kind) if with_schema else None
        for arm in ARMS:
            row = log.rows.get(_key({"probe": probe.id, "arm": arm, **terms}))
            if row is None:
                stop.check()
                try:
                    proposed = proposer.propose(probe, arm, "\n\n".join(reversed(texts)), schema)
                    row = {**_row(probe, arm, proposed), **terms}
                except EndpointError as problem:
                    tell(f"ledgeragent: {probe.id}, {arm}: {problem}")
                    break
                log.add(row)
            yield row


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The key of an answer: the place, how the ledger is shown, who is asked and how."""
    return row["probe"], row["arm"], row["model"], row["by"], row["schema"]


def _schema(texts: Sequence[str], probe: Probe, by: str) -> Json:
    """The schema of an answer; DataError where the tools are not known.

    By completion it is the recorded tool's arguments, by chat a call of any tool that writes.
    """
    listed = json.loads(texts[0]) if texts else []
    functions = {f["name"]: f for f in (tool.get("function", tool) for tool in listed)}
    if probe.call.name not in functions:
        problem = f"no schema of {probe.call.name}; name the folder of the tools"
        raise DataError(problem, file="--data-dir")
    if by == "completion":
        return _closed(functions[probe.call.name]["parameters"])
    writes = (f for f in functions.values() if probe.domain.effect(f["name"]) is Effect.WRITE)
    return {"anyOf": [_call_of(function) for function in writes]}


def _call_of(function: Json) -> Json:
    properties = {"name": {"const": function["name"]}, "arguments": function["parameters"]}
    return _closed({"type": "object", "properties": properties, "required": list(properties)})


def _closed(schema: Json) -> Json:
    return {**schema, "additionalProperties": False}


def _row(probe: Probe, arm: str, proposed: ToolCall | None) -> dict[str, Any]:
    return {
        "probe": probe.id,
        "arm": arm,
        "domain": probe.domain.name,
        "task": f"{probe.domain.name}/{probe.trace.benchmark}/{probe.trace.task_id}",
        "recorded": str(probe.call),
        "proposed": None if proposed is None else str(proposed),
        **score(proposed, probe.call),
    }


def text(totals: Json) -> str:
    """The summary as a table."""
    lines = [f"{totals['probes']} probes that every arm answered"]
    lines.append(f"{'':10}{'right tool':>12}{'exact':>10}{'arguments':>11}  against plain, exact")
    for arm, figures in totals["arms"].items():
        shares = "".join(
            f"{100 * figures[name]:>{width}.1f}%"
            for name, width in (("tool", 11), ("exact", 9), ("arguments", 10))
        )
        against = "" if arm == PLAIN else _against(figures)
        lines.append(f"{arm:10}{shares}{against}")
    return "\n".join(lines) + "\n"


def _against(figures: Mapping[str, Any]) -> str:
    low, high = figures["interval"]
    return (
        f"  {figures['wins']} wins, {figures['losses']} losses, "
        f"{100 * figures['difference']:+.1f} points (95%: {100 * low:+.1f} to {100 * high:+.1f})"
    )
