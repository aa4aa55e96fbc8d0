"""`ledgeragent chat`: talk to the embedded shop's agent, with verdicts and ledger beside it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ledgeragent.agent import Model
from ledgeragent.bench.running.endpoint import ChatModel, Endpoint
from ledgeragent.bench.running.sides import add_context_role
from ledgeragent.cli.options import add_journal, add_parameters, journal_of, parameters_of
from ledgeragent.cli.streams import has_colours, raw
from ledgeragent.cli.verbs import VERBS
from ledgeragent.demo.chat import ShopChat, ledger_lines, lines
from ledgeragent.demo.columns import ASCII, Ink
from ledgeragent.demo.scenarios import SCENARIOS, Clerk
from ledgeragent.demo.shop.shop import policy, tool_schemas
from ledgeragent.errors import UsageError
from ledgeragent.files.keys import key_of_environment
from ledgeragent.offline.binding import Binding

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

WIDTH = 100


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "chat",
        help=VERBS["chat"],
        description="A conversation in the embedded garden shop, through LedgerAgent: what is said and "
        "called on the left, verdicts and ledger on the right. Without --model, a scripted model "
        "and a scripted customer: Enter plays the next turn.",
        epilog="While talking: /ledger shows what is known, /quit (or end of input) ends. The key for "
        "--model is read from OPENAI_API_KEY.",
    )
    parser.add_argument(
        "--domain", choices=("shop",), default="shop", help="the environment (only shop)"
    )
    parser.add_argument(
        "--model",
        metavar="URL",
        help="an OpenAI-compatible endpoint, e.g. http://localhost:8080/v1",
    )
    parser.add_argument("--model-name", metavar="NAME", help="the model to ask there")
    add_context_role(parser)
    parser.add_argument(
        "--scenario",
        type=int,
        choices=[s.number for s in SCENARIOS],
        help="without --model: which of the demo's conversations (default 1)",
    )
    add_parameters(parser)
    add_journal(parser)
    parser.add_argument("--plain", action="store_true", help="ASCII only, no colour")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Talks until the conversation ends. Always 0."""
    if args.model and not args.model_name:
        raise UsageError("--model needs --model-name")
    if args.model and args.scenario:
        raise UsageError("--scenario is for the scripted model; leave out --model")
    model, says = _served(args) if args.model else _scripted(args.scenario or 1)
    domain = Binding(name=args.domain, parameters=parameters_of(args)).domain()
    with journal_of(args, domain) as journal:
        _talk(ShopChat(model=model, domain=domain, journal=journal), says, _ink(args.plain))
    return 0


def _talk(chat: ShopChat, says: Iterator[str], ink: Ink) -> None:
    for text in says:
        if text == "/ledger":
            print("\n".join(ledger_lines(chat.ledger)))
            continue
        for row in chat.turn(text):
            print("\n".join(lines(row, WIDTH, ink)), flush=True, file=raw(sys.stdout))
    print("\n".join(("", "the ledger in the end:", *ledger_lines(chat.ledger))))
    for change in chat.shop.diff():
        print(f"changed: {change.path}: {change.before!r} -> {change.after!r}")


def _served(args: argparse.Namespace) -> tuple[Model, Iterator[str]]:
    endpoint = Endpoint(
        url=args.model, model=args.model_name, key=key_of_environment("OPENAI_API_KEY")
    )
    model = ChatModel(
        endpoint=endpoint, policy=policy(), tools=tool_schemas(), role=args.context_role
    )
    return model, _typed()


def _typed() -> Iterator[str]:
    """The words of the person at the terminal, or of a pipe."""
    prompt = "> " if sys.stdin.isatty() else ""
    while True:
        try:
            text = input(prompt).strip()
        except EOFError:
            return
        if text == "/quit":
            return
        if text:
            yield text


def _scripted(number: int) -> tuple[Model, Iterator[str]]:
    scenario = next(s for s in SCENARIOS if s.number == number)
    return Clerk(scenario.turns), _played([turn.says for turn in scenario.turns])


def _played(turns: list[str]) -> Iterator[str]:
    """The scripted customer's words, each after Enter at a terminal."""
    for text in turns:
        while sys.stdin.isatty():
            try:
                command = input("(Enter plays the next turn) ").strip()
            except EOFError:
                return
            if command == "/quit":
                return
            if command != "/ledger":
                break
            yield command
        yield text


def _ink(plain: bool) -> Ink:
    try:
        "─━│┬→✓✗".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return ASCII
    return ASCII if plain else Ink(colour=has_colours())
