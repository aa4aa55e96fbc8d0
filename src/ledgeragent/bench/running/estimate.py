"""What an experiment will take, from what recorded runs took: runs, calls, tokens, hours, money."""

from __future__ import annotations

import argparse
import tomllib
from dataclasses import dataclass
from importlib.resources import files

from ledgeragent.bench.arms.arms import ARMS
from ledgeragent.bench.datasets.needs import NEEDS
from ledgeragent.errors import UsageError
from ledgeragent.types import Json

GROWTH = {
    "ledgeragent": 1.12,
    "ledger-only": 1.12,
    "ledgeragent-paper": 1.12,
    "irma": 1.25,
    "fama": 1.38,
}
"""Prompt tokens of an arm over those of fc, as measured on recorded runs of airline and retail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Calls, and tokens of prompts and answers, of one side."""

    calls: float = 0.0
    prompt: float = 0.0
    completion: float = 0.0

    def plus(self, other: Effort, times: float, growth: float = 1.0) -> Effort:
        """This and so many times the other, whose prompts have grown."""
        return Effort(
            calls=self.calls + times * other.calls,
            prompt=self.prompt + times * growth * other.prompt,
            completion=self.completion + times * other.completion,
        )


def add_prices(parser: argparse.ArgumentParser) -> None:
    """Adds the options that turn tokens into hours and money."""
    group = parser.add_argument_group("with --estimate")
    group.add_argument("--estimate", action="store_true", help="only say what this would take")
    for side, whose in (("", "the agent's"), ("user-", "the customer's")):
        group.add_argument(
            f"--{side}price",
            type=_prices,
            metavar="IN,OUT",
            help=f"of a million tokens of {whose} model, prompt and answer",
        )
    group.add_argument(
        "--seconds", type=float, default=3.0, metavar="S", help="a call takes (default 3)"
    )


def _prices(argument: str) -> tuple[float, float]:
    try:
        prompt, completion = map(float, argument.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{argument!r} is not IN,OUT, such as 0.6,2.5") from None
    return prompt, completion


def averages() -> dict[str, Json]:
    """What a run of fc takes in each domain, and of how many recorded runs that is the mean."""
    text = (files("ledgeragent.bench.running") / "averages.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def estimate(args: argparse.Namespace) -> str:
    """The estimate, as lines."""
    means = averages()
    agent, user, runs = Effort(), Effort(), 0
    lines = []
    for domain in args.domain or NEEDS:
        mean = means.get(domain)
        if mean is None:
            known_domains = ", ".join(means)
            raise UsageError(
                f"no recorded runs of {domain} to estimate by; there are of {known_domains}"
            )
        tasks = min(args.tasks or mean["tasks"], mean["tasks"])
        for arm in args.arm or ARMS:
            times = tasks * args.trials
            agent = agent.plus(_side(mean, "agent"), times, GROWTH.get(arm, 1.0))
            user = user.plus(_side(mean, "user"), times)
            runs += times
        lines.append(f"{domain}: {tasks} tasks, by the mean of {mean['runs']} recorded runs")
    hours = (agent.calls + user.calls) * args.seconds / args.workers / 3600
    lines += [
        f"{runs:,} runs ({', '.join(args.arm or ARMS)}; {args.trials} trials)",
        _line("agent", agent, args.price),
        _line("customer", user, args.user_price),
        f"hours: {hours:,.1f} at {args.seconds:g} s a call and {args.workers} runs at a time",
        "Tokens are characters over four, without cache discounts; helpers' and repeated calls, "
        "thinking and the judge are not in it.",
    ]
    return "\n".join(lines) + "\n"


def _side(mean: Json, side: str) -> Effort:
    calls, prompt, completion = (
        mean[f"{side}_{what}"] for what in ("calls", "prompt", "completion")
    )
    return Effort(calls=calls, prompt=prompt, completion=completion)


def _line(whose: str, effort: Effort, price: tuple[float, float] | None) -> str:
    line = (
        f"{whose}: {effort.calls:,.0f} calls, {effort.prompt / 1e6:,.1f} M prompt tokens, "
        f"{effort.completion / 1e6:,.1f} M answer tokens"
    )
    if price is None:
        return line
    money = effort.prompt * price[0] + effort.completion * price[1]
    return f"{line}, {money / 1e6:,.2f} at these prices"
