"""The command-line reference, written from the parsers themselves."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from ledgeragent.cli.main import parser


def text() -> str:
    """docs/reference/cli.md: the help of the command and of each verb, 80 columns wide."""
    os.environ["COLUMNS"] = "80"
    top = parser()
    about = "Every verb, with its options and exit codes. This page is generated from the parsers."
    pages = [f"# Command line\n\n{about}\n\n```text\n{top.format_help()}```\n"]
    return "\n".join([*pages, *_below(top, "ledgeragent")])


def _below(parser: argparse.ArgumentParser, path: str) -> Iterator[str]:
    """A page for every verb of a parser, each followed by those of its own."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, verb in action.choices.items():
                yield f"## `{path} {name}`\n\n```text\n{verb.format_help()}```\n"
                yield from _below(verb, f"{path} {name}")
