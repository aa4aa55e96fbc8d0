"""`ledgeragent bench run`: domains x arms x trials on the tau2 harness, resumable."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgeragent.bench.arms.arms import ARMS
from ledgeragent.bench.arms.fama.choice import chosen
from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.bench.running.experiment import Limits, conduct
from ledgeragent.bench.running.interrupts import EXIT, interrupts
from ledgeragent.bench.running.joblog import Job, JobLog
from ledgeragent.bench.running.progress import secrets_of, teller
from ledgeragent.errors import UsageError
from ledgeragent.files.keys import key_of_environment

if TYPE_CHECKING:
    from ledgeragent.bench.tau2.play import Player, PlayerModel

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_DOMAINS = ("airline", "retail", "telecom", "telehealth")


def add(subparsers: Subparsers) -> None:
    """Adds the sub-verb to the command line."""
    parser = subparsers.add_parser(
        "run",
        help="run domains x arms x trials, resumable",
        description="Runs an experiment on the tau2 harness against any OpenAI-compatible endpoint. "
        "Each finished run is one line of the result file; started again, it does what is missing.",
        epilog="Exits 0 if every run is done, 1 if the budget or failures left some, 130 if it was "
        "interrupted: Ctrl-C finishes what is running, a second one does not.",
    )
    parser.add_argument("--domain", action="append", choices=_DOMAINS, help="default: all four")
    parser.add_argument("--arm", action="append", choices=tuple(ARMS), help="default: all")
    parser.add_argument("--trials", type=int, default=4, metavar="N")
    parser.add_argument("--tasks", type=int, metavar="N", help="only the first N of each domain")
    parser.add_argument("--model", required=True, help="the agent's model")
    parser.add_argument("--url", help="its endpoint, e.g. http://localhost:8000/v1")
    parser.add_argument(
        "--user-model", help="the simulated customer's model (default: the agent's)"
    )
    parser.add_argument("--user-url", help="its endpoint (default: the agent's)")
    parser.add_argument(
        "--judge-model", help="the model that judges what only one can (default: the harness's)"
    )
    parser.add_argument("--judge-url", help="the judge model's endpoint (default: the agent's)")
    parser.add_argument(
        "--key-env", default="OPENAI_API_KEY", metavar="NAME", help="the variable with the key"
    )
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds a request may take")
    parser.add_argument("--workers", type=int, default=4, metavar="N")
    parser.add_argument(
        "--attempts", type=int, default=4, metavar="N", help="tries of a failed run"
    )
    parser.add_argument("--budget", type=int, metavar="TOKENS", help="start no run past this many")
    parser.add_argument(
        "--fama-choice", metavar="FILE", help="the arm fama's helpers, from `bench fama`"
    )
    parser.add_argument(
        "--irma-when",
        choices=("user_turn", "every_step"),
        help="when the arm irma's helpers run (default user_turn)",
    )
    parser.add_argument("--data-dir", metavar="DIR", help=f"like {DATA_DIR}")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the result file")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Runs what is missing. 1 if some runs are left."""
    if args.data_dir:
        os.environ[DATA_DIR] = args.data_dir
    if min(args.trials, args.workers, args.attempts) < 1:
        raise UsageError("--trials, --workers and --attempts are 1 or more")
    if args.judge_url and not args.judge_model:
        raise UsageError("--judge-url needs --judge-model")
    from ledgeragent.bench.tau2.run import prepare
    from ledgeragent.bench.tau2.scoring import judge_with

    with tempfile.TemporaryDirectory(prefix="ledgeragent-") as scratch:
        prepare(Path(scratch))
        player = _player(args)
        if args.judge_model:
            judge = _side(args.judge_model, args.judge_url or args.url, args)
            judge_with(judge.model, judge.options)
        jobs = list(_jobs(args, player))
        limits = Limits(workers=args.workers, attempts=args.attempts, tokens=args.budget)
        tell = teller(os.environ.get(args.key_env), *_secrets(args))
        if args.url and not args.judge_model:
            tell(
                "tasks that need a judge are judged by the harness's own; --judge-model names another"
            )
        with (
            JobLog(Path(args.output), _settings(args, player)) as journal,
            interrupts(tell) as stop,
        ):
            already = sum(job in journal.done for job in jobs)
            tell(f"{len(jobs)} runs, {already} done before")
            outcome = conduct(jobs, player, journal, limits, tell, stop.pause, stop.is_set)
    if outcome.left:
        how = "interrupted" if stop.is_set() else "the budget is spent, a larger one goes on"
        tell(f"{how}; {outcome.left} runs are left")
    if stop.is_set() and not outcome.complete:
        return EXIT
    return 0 if outcome.complete else 1


def _secrets(args: argparse.Namespace) -> Iterator[str]:
    for url in (args.url, args.user_url, args.judge_url):
        yield from secrets_of(url)


def _player(args: argparse.Namespace) -> Player:
    from ledgeragent.bench.tau2.play import Player

    url = args.user_url or args.url
    return Player(
        agent=_side(args.model, args.url, args),
        user=_side(args.user_model or args.model, url, args),
        methods=_methods(args),
    )


def _methods(args: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The options of arms that have some."""
    methods: dict[str, dict[str, Any]] = {}
    if args.fama_choice:
        methods["fama"] = {"fama_choice": args.fama_choice}
    if args.irma_when:
        methods["irma"] = {"irma": {"when": args.irma_when}}
    return methods


def _side(model: str, url: str | None, args: argparse.Namespace) -> PlayerModel:
    from ledgeragent.bench.tau2.play import PlayerModel

    options: dict[str, Any] = {"temperature": 0.0, "timeout": args.timeout, "num_retries": 2}
    if url:
        options |= {"base_url": url, "api_key": key_of_environment(args.key_env) or "none"}
        model = model if "/" in model else f"openai/{model}"
    return PlayerModel(model=model, options=options)


def _jobs(args: argparse.Namespace, player: Player) -> Iterator[Job]:
    """Trial by trial, so that an experiment cut short has whole trials of every arm."""
    for trial in range(args.trials):
        for domain in args.domain or _DOMAINS:
            for task in player.tasks(domain)[: args.tasks]:
                for arm in args.arm or ARMS:
                    yield Job(domain, arm, task, trial)


def _settings(args: argparse.Namespace, player: Player) -> dict[str, Any]:
    """The settings that may not change between the parts of one experiment; keys and addresses may."""
    from ledgeragent.bench.tau2.run import signature

    settings: dict[str, Any] = {
        "agent": player.agent.model,
        "user": player.user.model,
        "data": {domain: signature(domain) for domain in args.domain or _DOMAINS},
    }
    if args.judge_model:
        settings["judge"] = args.judge_model
    if args.fama_choice:
        settings["fama"] = {
            domain: chosen(args.fama_choice, player.agent.model, domain)
            for domain in args.domain or _DOMAINS
        }
    if args.irma_when:
        settings["irma"] = args.irma_when
    return settings
