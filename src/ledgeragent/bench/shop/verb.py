"""`ledgeragent bench shop`: a model in the demo's shop, as plain agent and through LedgerAgent."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ledgeragent.bench.running.endpoint import ChatModel, Endpoint
from ledgeragent.bench.running.interrupts import EXIT, Stop, interrupts, worked
from ledgeragent.bench.running.kept import KeptRows
from ledgeragent.bench.running.progress import tell, teller
from ledgeragent.bench.running.provenance import made_by
from ledgeragent.bench.running.runoptions import add_other_version
from ledgeragent.bench.running.sides import ModelSide, add_context_role, add_sides, agent_side
from ledgeragent.bench.shop.play import ARMS, PLAIN, play
from ledgeragent.bench.shop.report import summary, text
from ledgeragent.bench.shop.tasks import Task, tasks
from ledgeragent.demo.shop.shop import policy, tool_schemas
from ledgeragent.errors import UsageError
from ledgeragent.gate import Gate
from ledgeragent.packs import load_domain
from ledgeragent.session.presenter import MODES
from ledgeragent.types import canonical

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_DEFAULT_URL = "http://127.0.0.1:8080/v1"


class ShopRun(NamedTuple):
    """One conversation to be had: a task, by an arm, for the nth time."""

    task: Task
    arm: str
    trial: int

    @property
    def id(self) -> str:
        """Names it among all runs."""
        return f"{self.arm}/{self.task.id}/{self.trial}"


def add(subparsers: Subparsers) -> None:
    """Adds the sub-verb to the command line."""
    parser = subparsers.add_parser(
        "shop",
        help="measure a model on forty scripted customers",
        description="Plays forty conversations in the demo's shop, without and with LedgerAgent, and "
        "checks the database after each. The customers follow a script: no other model is needed.",
        epilog=f"The endpoint is OPENAI_BASE_URL unless given, else {_DEFAULT_URL}. With -o, runs that "
        "the file holds already, with these options, are not made again. Ctrl-C finishes what is running, "
        "without waiting for an endpoint that fails, and exits 130; a second one does not.",
    )
    add_sides(parser, customer=False)
    parser.add_argument(
        "--trials", type=_count, default=4, metavar="N", help="per task (default 4)"
    )
    parser.add_argument("--arms", type=_names, default=ARMS, metavar="ARMS", help="fc,ledgeragent")
    parser.add_argument("--tasks", type=_names, metavar="IDS", help="only these, with commas")
    parser.add_argument("--mode", choices=MODES, default="full", help="how the ledger is shown")
    parser.add_argument("--most", type=_count, default=40, metavar="N", help="agent messages a run")
    parser.add_argument("--jobs", type=_count, default=1, metavar="N", help="runs at a time")
    parser.add_argument("--timeout", type=_count, default=120, metavar="S", help="of a request")
    add_context_role(parser)
    add_other_version(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="keeps every run, JSON Lines")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Plays and reports."""
    rows = played(args)
    if rows is None:
        return EXIT
    totals = summary(rows)
    sys.stdout.write(json.dumps(totals, indent=1) + "\n" if args.format == "json" else text(totals))
    return 0


def played(args: argparse.Namespace) -> list[dict[str, Any]] | None:
    """The row of every run, those in `args.output` not made again; None if it was interrupted."""
    runs, side = _runs(args), agent_side(args)
    keys = [(one.id, args.model, args.mode, canonical(dict(side.options))) for one in runs]
    with (
        KeptRows(args.output, _key, "run of this benchmark") as log,
        interrupts(teller(*side.secrets)) as stop,
    ):
        _refuse_others(args, [log.rows[key] for key in keys if key in log.rows])
        missing = [one for one, key in zip(runs, keys, strict=True) if key not in log.rows]
        count = len(runs) - len(missing)
        for row in _played(missing, args, side, stop):
            log.add(row)
            count += 1
            tell(f"{row['id']}: {row['reward']:g} ({count}/{len(runs)})")
    if count < len(runs):
        tell(f"interrupted; {len(runs) - count} runs are left")
        return None
    return [log.rows[key] for key in keys]


def _refuse_others(args: argparse.Namespace, rows: Sequence[Mapping[str, Any]]) -> None:
    """UsageError if other software made some of these rows, unless that is asked for."""
    if not args.other_version and {canonical(row.get("made_by")) for row in rows} - {
        canonical(made_by(["shop"]))
    }:
        raise UsageError(
            f"{args.output} was made by other software; choose another file, or go on with "
            "--other-version"
        )


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["id"], row["agent_model"], row["mode"], canonical(row["options"])


def _runs(args: argparse.Namespace) -> list[ShopRun]:
    by_id = {task.id: task for task in tasks()}
    unknown = [*(set(args.tasks or ()) - set(by_id)), *(set(args.arms) - set(ARMS))]
    if unknown:
        raise UsageError(f"there is no {', '.join(sorted(unknown))} in this benchmark")
    chosen = [task for task in tasks() if args.tasks is None or task.id in args.tasks]
    trials = range(1, args.trials + 1)
    return [ShopRun(task, arm, trial) for trial in trials for task in chosen for arm in args.arms]


def shop_endpoint(args: argparse.Namespace, side: ModelSide, stop: Stop | None = None) -> Endpoint:
    """Where the agent's model is; `stop` ends its pauses."""
    return Endpoint(
        url=side.url or os.environ.get("OPENAI_BASE_URL") or _DEFAULT_URL,
        model=side.model,
        key=side.key,
        options=side.options,
        timeout=args.timeout,
        sleep=time.sleep if stop is None else stop.pause,
    )


def _played(
    runs: Sequence[ShopRun], args: argparse.Namespace, side: ModelSide, stop: Stop
) -> Iterator[dict[str, Any]]:
    """Each run's row as it is done; what goes wrong with the endpoint ends them all."""
    endpoint = shop_endpoint(args, side, stop)
    gate = Gate(domain=load_domain("shop"))
    software = made_by(["shop"])

    def row(one: ShopRun) -> dict[str, Any]:
        model = ChatModel(
            endpoint=endpoint, policy=policy(), tools=tool_schemas(), role=args.context_role
        )
        guard = None if one.arm == PLAIN else gate
        episode = play(one.task, model, guard, mode=args.mode, most=args.most)
        return {
            **episode.as_json(one.id, one.trial, asdict(model.usage)),
            "agent_model": side.model,
            "mode": args.mode,
            "options": dict(side.options),
            "made_by": software,
        }

    yield from worked((partial(row, one) for one in runs), args.jobs, stop)


def _count(argument: str) -> int:
    if not argument.isascii() or not argument.isdigit() or int(argument) < 1:
        raise argparse.ArgumentTypeError("give a number, 1 or more")
    return int(argument)


def _names(argument: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in argument.split(",") if name.strip())
