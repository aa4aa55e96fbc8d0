"""`ledgeragent bench shop`: a model in the demo's shop, as plain agent and through LedgerAgent."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ledgeragent.bench.running.endpoint import ChatModel, Endpoint
from ledgeragent.bench.running.interrupts import EXIT, Stop, interrupts, worked
from ledgeragent.bench.running.kept import KeptRows
from ledgeragent.bench.running.progress import tell
from ledgeragent.bench.shop.play import ARMS, PLAIN, play
from ledgeragent.bench.shop.report import summary, text
from ledgeragent.bench.shop.tasks import Task, tasks
from ledgeragent.demo.shop.shop import policy, tool_schemas
from ledgeragent.errors import UsageError
from ledgeragent.files.keys import key_of_environment
from ledgeragent.gate import Gate
from ledgeragent.packs import load_domain
from ledgeragent.session.presenter import MODES

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
        epilog="A key is read from OPENAI_API_KEY, the endpoint from OPENAI_BASE_URL unless given. "
        "With -o, runs that the file holds already are not made again. Ctrl-C finishes what is running, "
        "without waiting for an endpoint that fails, and exits 130; a second one does not.",
    )
    parser.add_argument("--model", required=True, metavar="NAME", help="the model's name there")
    parser.add_argument(
        "--url", metavar="URL", help=f"an OpenAI-compatible endpoint ({_DEFAULT_URL})"
    )
    parser.add_argument(
        "--trials", type=_count, default=4, metavar="N", help="per task (default 4)"
    )
    parser.add_argument("--arms", type=_names, default=ARMS, metavar="ARMS", help="fc,ledgeragent")
    parser.add_argument("--tasks", type=_names, metavar="IDS", help="only these, with commas")
    parser.add_argument("--mode", choices=MODES, default="full", help="how the ledger is shown")
    parser.add_argument("--most", type=_count, default=40, metavar="N", help="agent messages a run")
    parser.add_argument("--jobs", type=_count, default=1, metavar="N", help="runs at a time")
    parser.add_argument("--timeout", type=_count, default=120, metavar="S", help="of a request")
    parser.add_argument(
        "--option",
        action="append",
        type=_option,
        default=[],
        metavar="NAME=JSON",
        help="goes into every request, such as temperature=0; may be given again",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="keeps every run, JSON Lines")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Plays and reports."""
    runs = _runs(args)
    with (
        KeptRows(args.output, _key, "run of this benchmark") as log,
        interrupts(tell) as stop,
    ):
        missing = [one for one in runs if (one.id, args.model, args.mode) not in log.rows]
        count = len(runs) - len(missing)
        for row in _played(missing, args, stop):
            log.add(row)
            count += 1
            tell(f"{row['id']}: {row['reward']:g} ({count}/{len(runs)})")
    if count < len(runs):
        tell(f"interrupted; {len(runs) - count} runs are left")
        return EXIT
    totals = summary(log.rows[one.id, args.model, args.mode] for one in runs)
    sys.stdout.write(json.dumps(totals, indent=1) + "\n" if args.format == "json" else text(totals))
    return 0


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["id"], row["agent_model"], row["mode"]


def _runs(args: argparse.Namespace) -> list[ShopRun]:
    by_id = {task.id: task for task in tasks()}
    unknown = [*(set(args.tasks or ()) - set(by_id)), *(set(args.arms) - set(ARMS))]
    if unknown:
        raise UsageError(f"there is no {', '.join(sorted(unknown))} in this benchmark")
    chosen = [task for task in tasks() if args.tasks is None or task.id in args.tasks]
    trials = range(1, args.trials + 1)
    return [ShopRun(task, arm, trial) for trial in trials for task in chosen for arm in args.arms]


def _played(
    runs: Sequence[ShopRun], args: argparse.Namespace, stop: Stop
) -> Iterator[dict[str, Any]]:
    """Each run's row as it is done; what goes wrong with the endpoint ends them all."""
    endpoint = Endpoint(
        url=args.url or os.environ.get("OPENAI_BASE_URL") or _DEFAULT_URL,
        model=args.model,
        key=key_of_environment("OPENAI_API_KEY"),
        options=dict(args.option),
        timeout=args.timeout,
        sleep=stop.pause,
    )
    gate = Gate(domain=load_domain("shop"))
    yield from worked((partial(_row, one, endpoint, gate, args) for one in runs), args.jobs, stop)


def _row(one: ShopRun, endpoint: Endpoint, gate: Gate, args: argparse.Namespace) -> dict[str, Any]:
    model = ChatModel(endpoint=endpoint, policy=policy(), tools=tool_schemas())
    guard = None if one.arm == PLAIN else gate
    episode = play(one.task, model, guard, mode=args.mode, most=args.most)
    row: dict[str, Any] = episode.as_json(one.id, one.trial, asdict(model.usage))
    return {**row, "agent_model": args.model, "mode": args.mode}


def _count(argument: str) -> int:
    if not argument.isascii() or not argument.isdigit() or int(argument) < 1:
        raise argparse.ArgumentTypeError("give a number, 1 or more")
    return int(argument)


def _names(argument: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in argument.split(",") if name.strip())


def _option(argument: str) -> tuple[str, Any]:
    name, _, value = argument.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{argument}: not NAME=JSON") from None
