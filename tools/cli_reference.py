"""The command-line reference, written from the parsers themselves."""

from __future__ import annotations

import argparse
import os

from ledgeragent.cli.main import parser


def text() -> str:
    """docs/cli.md: the help of the command and of each verb, 80 columns wide."""
    os.environ["COLUMNS"] = "80"
    top = parser()
    pages = [f"# Command line\n\nGenerated from the parsers.\n\n```\n{top.format_help()}```\n"]
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            pages += [_page(name, verb) for name, verb in action.choices.items()]
    return "\n".join(pages)


def _page(name: str, verb: argparse.ArgumentParser) -> str:
    return f"## `ledgeragent {name}`\n\n```\n{verb.format_help()}```\n"
