"""`ledgeragent demo`: three conversations in an embedded shop, without and with LedgerAgent."""

from __future__ import annotations

import argparse
import shutil
import sys
from typing import TYPE_CHECKING

from ledgeragent.cli.streams import has_colours, raw
from ledgeragent.cli.verbs import VERBS
from ledgeragent.demo.as_json import as_json
from ledgeragent.demo.columns import ASCII, Ink
from ledgeragent.demo.play import play_guarded, play_plain
from ledgeragent.demo.scenarios import SCENARIOS, Scenario
from ledgeragent.demo.screen import Screen, Show
from ledgeragent.domain import Domain
from ledgeragent.packs import load_domain

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

WIDTH = 100
_NARROWEST, _WIDEST = 80, 240


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "demo",
        help=VERBS["demo"],
        description="Plays three conversations in an embedded shop (a real SQLite database, real "
        "tools, a scripted model), each without and with LedgerAgent, side by side.",
    )
    parser.add_argument(
        "--scenario", type=int, choices=[s.number for s in SCENARIOS], help="play only this one"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--width", type=_width, help=f"columns to fill (default {WIDTH}, or a narrower terminal's)"
    )
    parser.add_argument("--plain", action="store_true", help="ASCII only, no colour")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Plays and prints. Always 0."""
    domain = load_domain("shop")
    shows = [_show(s, domain) for s in SCENARIOS if args.scenario in (None, s.number)]
    if args.format == "json":
        sys.stdout.write(as_json(shows))
    else:
        screen = Screen(width=args.width or _fitting(), domain=domain, ink=_ink(args.plain))
        # Its colours are ours; what the texts hold was made printable span by span.
        raw(sys.stdout).write(screen.draw(shows))
    return 0


def _show(scenario: Scenario, domain: Domain) -> Show:
    return Show(
        scenario=scenario, plain=play_plain(scenario), guarded=play_guarded(scenario, domain)
    )


def _width(text: str) -> int:
    if not (text.isascii() and text.isdigit() and _NARROWEST <= int(text) <= _WIDEST):
        raise argparse.ArgumentTypeError(f"give a number from {_NARROWEST} to {_WIDEST}")
    return int(text)


def _fitting() -> int:
    """The usual width, less on a narrower terminal; always the usual one into a file or pipe."""
    if not sys.stdout.isatty():
        return WIDTH
    return max(_NARROWEST, min(WIDTH, shutil.get_terminal_size().columns))


def _ink(plain: bool) -> Ink:
    try:
        "─━│┬→✓✗".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return ASCII
    return ASCII if plain else Ink(colour=has_colours())
