"""`ledgeragent bench run`: domains x arms x trials on the tau2 harness, resumable."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgeragent.bench.arms.arms import ARMS
from ledgeragent.bench.arms.fama.choice import chosen
from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.bench.datasets.needs import NEEDS
from ledgeragent.bench.running.estimate import add_prices, estimate
from ledgeragent.bench.running.experiment import LeftOver, Limits, conduct
from ledgeragent.bench.running.interrupts import EXIT, interrupts
from ledgeragent.bench.running.joblog import Job, JobLog
from ledgeragent.bench.running.progress import Announce, teller
from ledgeragent.bench.running.provenance import made_by
from ledgeragent.bench.running.runoptions import ARMS_HELP, add_arm_options, add_run_options
from ledgeragent.bench.running.sides import ModelSide, agent_side, judge_side, user_side
from ledgeragent.errors import UsageError

if TYPE_CHECKING:
    from ledgeragent.bench.tau2.play import Player, PlayerModel

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add(subparsers: Subparsers) -> None:
    """Adds the sub-verb to the command line."""
    parser = subparsers.add_parser(
        "run",
        help="run domains x arms x trials, resumable",
        description="Runs an experiment on the tau2 harness against any OpenAI-compatible endpoint. "
        "Each finished run is one line of the result file; started again, it does what is missing. A "
        "domain whose data is missing is left out, and said to be.",
        epilog=f"{ARMS_HELP}\nExits 0 if every run is done, 1 if the budget or failures left some, 130 "
        "if it was\ninterrupted: Ctrl-C finishes what is running, a second one does not.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arm_options(parser)
    add_run_options(parser)
    add_prices(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="the result file; needed to run")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Runs what is missing. 1 if some runs are left."""
    if args.data_dir:
        os.environ[DATA_DIR] = args.data_dir
    check_options(args)
    if args.estimate:
        sys.stdout.write(estimate(args))
        return 0
    if args.output is None:
        raise UsageError("say with -o FILE where the results go")
    return experiment(args)


def check_options(args: argparse.Namespace) -> None:
    """Raises UsageError for numbers that cannot be meant."""
    if min(args.trials, args.workers, args.attempts, args.max_steps) < 1:
        raise UsageError("--trials, --jobs, --attempts and --max-steps are 1 or more")


def experiment(args: argparse.Namespace) -> int:
    """Runs what is missing from `args.output`. 1 if some runs are left."""
    from ledgeragent.bench.tau2.logs import log_to
    from ledgeragent.bench.tau2.run import prepare

    sides = [side for side in (agent_side(args), user_side(args), judge_side(args)) if side]
    secrets = [secret for side in sides for secret in side.secrets]
    tell = teller(*secrets)
    with tempfile.TemporaryDirectory(prefix="ledgeragent-") as scratch:
        log_to(Path(f"{args.output}.log"), secrets)
        prepare(Path(scratch))
        domains = _domains(args.domain, tell)
        player = _player(args, domains)
        player.check(args.arm or ARMS)
        _choose_judge(args, tell)
        jobs = list(_jobs(args, domains, player))
        limits = Limits(workers=args.workers, attempts=args.attempts, tokens=args.budget)
        settings, software = _settings(args, player), _software(domains, args.pack)
        with (
            JobLog(Path(args.output), settings, software, args.other_version) as journal,
            interrupts(tell) as stop,
        ):
            already = sum(job in journal.done for job in jobs)
            tell(f"{len(jobs)} runs, {already} done before")
            outcome = conduct(jobs, player, journal, limits, tell, stop.pause, stop.is_set)
    if outcome.left:
        tell(f"{_why_left(outcome, stop.is_set())}; {outcome.left} runs are left")
    if stop.is_set() and not outcome.complete:
        return EXIT
    return 0 if outcome.complete else 1


def _why_left(outcome: LeftOver, interrupted: bool) -> str:
    if interrupted:
        return "interrupted"
    if outcome.refused:
        return (
            "a model's server refuses the key or does not know the model, as it would in every run"
        )
    return "the budget is spent, a larger one goes on"


def _domains(named: list[str] | None, tell: Announce) -> list[str]:
    """The domains whose data is there. UsageError for a named one whose data is not, or for none."""
    from ledgeragent.adapters.tau2 import harness
    from ledgeragent.bench.tau2.data import lacking
    from ledgeragent.bench.tau2.run import require_domain

    there, listed = [], harness("tau2.registry").registry.get_domains()
    for domain in named or NEEDS:
        if named and domain not in NEEDS:
            require_domain(domain, listed)
        if not (missing := lacking(domain)):
            there.append(domain)
            continue
        problem = f"{domain} lacks {missing[0]}{' and more' if missing[1:] else ''}"
        if named:
            raise UsageError(f"{problem}; `ledgeragent bench data` says how to get it")
        tell(f"{domain} is left out: {problem}; `ledgeragent bench data` says how to get it")
    if not there:
        raise UsageError("no domain's data is there; `ledgeragent bench data` says how to get it")
    return there


def _player(args: argparse.Namespace, domains: Iterable[str]) -> Player:
    from ledgeragent.bench.tau2.play import Player
    from ledgeragent.bench.tau2.retrieval import variant_of

    return Player(
        agent=_model(agent_side(args), args.timeout),
        user=_model(user_side(args), args.timeout),
        methods={name: _method(name, args) for name in args.arm or ARMS},
        max_steps=args.max_steps,
        first_seed=args.seed,
        retrieval={domain: variant_of(domain, args.retrieval) for domain in domains},
    )


def _choose_judge(args: argparse.Namespace, tell: Announce) -> None:
    from ledgeragent.bench.tau2.scoring import judge_with

    if (judge := judge_side(args)) is not None:
        model = _model(judge, args.timeout)
        judge_with(model.model, model.options)
    elif args.url:
        tell("tasks that need a judge are judged by the harness's own; --judge-model names another")


def _method(arm: str, args: argparse.Namespace) -> dict[str, Any]:
    """The options of an arm that has some."""
    if ARMS[arm].kind == "plain":
        return {}
    options: dict[str, Any] = {"ledger_role": args.context_role}
    if args.pack:
        options["ledger_pack"] = args.pack
    if arm == "fama" and args.fama_choice:
        options["fama_choice"] = args.fama_choice
    if arm == "irma" and args.irma_when:
        options["irma"] = {"when": args.irma_when}
    return options


def _model(side: ModelSide, timeout: float) -> PlayerModel:
    """A side as the harness's model library takes it."""
    from ledgeragent.bench.tau2.play import PlayerModel

    options: dict[str, Any] = {**side.options, "timeout": timeout, "num_retries": 2}
    if "chat_template_kwargs" in options:
        options["extra_body"] = {"chat_template_kwargs": options.pop("chat_template_kwargs")}
    model = side.model
    if side.url:
        options |= {"base_url": side.url, "api_key": side.key or "none"}
        model = model if "/" in model else f"openai/{model}"
    return PlayerModel(model=model, options=options)


def _jobs(args: argparse.Namespace, domains: Iterable[str], player: Player) -> Iterator[Job]:
    """Trial by trial, so that an experiment cut short has whole trials of every arm."""
    for trial in range(args.trials):
        for domain in domains:
            for task in player.tasks(domain)[: args.tasks]:
                for arm in args.arm or ARMS:
                    yield Job(domain, arm, task, trial)


def _software(domains: Iterable[str], pack: str | None) -> dict[str, Any]:
    from ledgeragent.bench.tau2.run import harness_version

    return made_by(domains, harness_version(), pack)


def _settings(args: argparse.Namespace, player: Player) -> dict[str, Any]:
    """The settings that may not change between the parts of one experiment; keys and addresses may."""
    from ledgeragent.bench.tau2.run import signature

    judge, domains = judge_side(args), list(player.retrieval)
    settings: dict[str, Any] = {
        "agent": agent_side(args).recorded,
        "user": user_side(args).recorded,
        "judge": judge.recorded if judge is not None else "the harness's own",
        "data": {domain: signature(domain) for domain in domains},
        "seed": args.seed,
        "max_steps": args.max_steps,
        "context_role": args.context_role,
    }
    if args.fama_choice:
        model = _model(agent_side(args), args.timeout).model
        settings["fama"] = {d: chosen(args.fama_choice, model, d) for d in domains}
    if args.irma_when:
        settings["irma"] = args.irma_when
    if args.pack:
        settings["pack"] = args.pack
    if searched := {d: variant for d, variant in player.retrieval.items() if variant}:
        settings["retrieval"] = searched
    return settings
