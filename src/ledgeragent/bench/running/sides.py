"""The models of an experiment by side (agent, simulated customer, judge), from the options of a verb."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ledgeragent.bench.running.endpoint import Endpoint
from ledgeragent.bench.running.progress import secrets_of
from ledgeragent.errors import UsageError
from ledgeragent.session.contextrole import ROLES
from ledgeragent.types import Json

DEFAULT_KEY = "OPENAI_API_KEY"
_UNSET = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSide:
    """One side's model: where it is served, with which key, and what goes into every request."""

    model: str
    url: str | None = None
    key: str = ""
    options: Mapping[str, Json] = field(default_factory=dict)

    @property
    def recorded(self) -> dict[str, Json]:
        """What a result file says of it: neither address nor key."""
        return {"model": self.model, "options": dict(self.options)}

    @property
    def secrets(self) -> Iterator[str]:
        """What must stand in no line of output."""
        yield self.key
        yield from secrets_of(self.url)


def add_sides(parser: argparse.ArgumentParser, customer: bool = True) -> None:
    """Adds the options that name the models; those of a simulated customer and a judge if asked for."""
    _add_agent(parser.add_argument_group("the agent's model"))
    if customer:
        _add_other(
            parser.add_argument_group("the simulated customer's model (default: the agent's)"),
            "user",
        )
        _add_other(
            parser.add_argument_group("the judge's model (default: the harness's own)"), "judge"
        )


def add_context_role(parser: argparse.ArgumentParser) -> None:
    """Adds --context-role."""
    parser.add_argument(
        "--context-role",
        choices=ROLES,
        default=ROLES[0],
        help="role of the message with the ledger; last puts it into the last message, auto (the "
        "default) finds out which one the model's API takes",
    )


def _add_agent(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--model", required=True, metavar="NAME", help="its name at its endpoint")
    group.add_argument("--url", help="an OpenAI-compatible endpoint: http://localhost:8000/v1")
    group.add_argument(
        "--key-env",
        metavar="VARIABLE",
        help=f"the environment variable with its key (default {DEFAULT_KEY})",
    )
    group.add_argument(
        "--temperature",
        type=_temperature,
        default=0.0,
        metavar="T",
        help="default 0; none leaves it to the server, for models that take no temperature",
    )
    group.add_argument(
        "--max-tokens", type=int, metavar="N", help="of a reply (default: the server's)"
    )
    group.add_argument(
        "--thinking",
        choices=("on", "off"),
        help="switches the thinking of models whose chat template knows enable_thinking",
    )
    group.add_argument(
        "--reasoning-effort", metavar="LEVEL", help="of models that have one: low, medium, high"
    )
    group.add_argument(
        "--option",
        action="append",
        type=_option,
        default=[],
        metavar="NAME=JSON",
        help="goes into every request, such as top_p=0.9; may be given again",
    )


def _add_other(group: argparse._ArgumentGroup, side: str) -> None:
    group.add_argument(f"--{side}-model", metavar="NAME")
    group.add_argument(f"--{side}-url", help="its endpoint (default: the agent's)")
    group.add_argument(
        f"--{side}-key-env",
        metavar="VARIABLE",
        help="the variable with its key; the agent's key goes to the agent's endpoint alone",
    )
    group.add_argument(
        f"--{side}-temperature", type=_temperature, default=0.0, metavar="T", help="0, or none"
    )
    group.add_argument(
        f"--{side}-option", action="append", type=_option, default=[], metavar="NAME=JSON"
    )


def _temperature(argument: str) -> float | None:
    if argument == _UNSET:
        return None
    try:
        return float(argument)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{argument!r} is neither a number nor {_UNSET}") from None


def _option(argument: str) -> tuple[str, Any]:
    name, _, value = argument.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{argument}: not NAME=JSON") from None


def endpoint_of(
    args: argparse.Namespace, timeout: float, sleep: Callable[[float], None], **defaults: Json
) -> Endpoint:
    """The agent's endpoint, for verbs that ask it themselves; UsageError without an address.

    `defaults` are options of requests that nothing on the command line says otherwise.
    """
    side = agent_side(args)
    if not side.url:
        raise UsageError("say with --url where the model is served: an OpenAI-compatible endpoint")
    return Endpoint(
        url=side.url,
        model=side.model,
        key=side.key,
        options={**defaults, **side.options},
        timeout=timeout,
        sleep=sleep,
    )


def agent_side(args: argparse.Namespace) -> ModelSide:
    """The agent's side."""
    options: dict[str, Json] = {}
    if args.temperature is not None:
        options["temperature"] = args.temperature
    if args.max_tokens is not None:
        options["max_tokens"] = args.max_tokens
    if args.thinking:
        options["chat_template_kwargs"] = {"enable_thinking": args.thinking == "on"}
    if args.reasoning_effort:
        options["reasoning_effort"] = args.reasoning_effort
    named = args.key_env
    key = _set(named, "--key-env") if named else os.environ.get(DEFAULT_KEY, "")
    return ModelSide(
        model=args.model, url=args.url, key=key, options={**options, **dict(args.option)}
    )


def user_side(args: argparse.Namespace) -> ModelSide:
    """The simulated customer's side; the agent's model unless named, and then with its options."""
    agent = agent_side(args)
    if args.user_model is None and args.user_url is None and not args.user_option:
        return ModelSide(
            model=agent.model,
            url=agent.url,
            key=_key(args, "user", agent),
            options=agent.options,
        )
    return _other(args, "user", args.user_model or args.model)


def judge_side(args: argparse.Namespace) -> ModelSide | None:
    """The judge's side; None for the harness's own. UsageError for an endpoint without a model."""
    if args.judge_model is None:
        if args.judge_url or args.judge_key_env or args.judge_option:
            raise UsageError("--judge-url, --judge-key-env and --judge-option need --judge-model")
        return None
    return _other(args, "judge", args.judge_model)


def _other(args: argparse.Namespace, side: str, model: str) -> ModelSide:
    temperature = getattr(args, f"{side}_temperature")
    options = {} if temperature is None else {"temperature": temperature}
    return ModelSide(
        model=model,
        url=getattr(args, f"{side}_url") or args.url,
        key=_key(args, side, agent_side(args)),
        options={**options, **dict(getattr(args, f"{side}_option"))},
    )


def _key(args: argparse.Namespace, side: str, agent: ModelSide) -> str:
    """The key of a side: its own, or the agent's at the agent's endpoint, never elsewhere."""
    if variable := getattr(args, f"{side}_key_env"):
        return _set(variable, f"--{side}-key-env")
    return agent.key if getattr(args, f"{side}_url") in (None, args.url) else ""


def _set(variable: str, option: str) -> str:
    """The key in a variable that was named; UsageError, rather than hours of refused runs, without one."""
    if key := os.environ.get(variable, ""):
        return key
    raise UsageError(f"{option}: {variable} is not set, or empty")
