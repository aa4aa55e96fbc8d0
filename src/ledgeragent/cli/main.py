"""The command line: finds the verb, runs it, and turns every expected failure into one line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import ledgeragent
from ledgeragent.errors import LedgerAgentError

VERBS = (
    "bench",
    "chat",
    "check",
    "coverage",
    "demo",
    "diff",
    "explain",
    "gateway",
    "init",
    "journal",
    "mcp",
    "replay",
    "test",
    "view",
)
"""Each is a module of this package with `add(subparsers)` and `run(args) -> exit code`."""

OK, FOUND, UNUSABLE, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


def parser(verbs: Sequence[str] = VERBS) -> argparse.ArgumentParser:
    """The parser for these verbs; only their modules are imported."""
    top = argparse.ArgumentParser(
        prog="ledgeragent",
        description="Admission control for tool-calling AI agents.",
        epilog="Exit codes: 0 all is well, 1 something was found, 2 the input cannot be used.",
    )
    top.add_argument(
        "--version", action="version", version=f"ledgeragent {ledgeragent.__version__}"
    )
    subparsers = top.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in verbs:
        import_module(f"ledgeragent.cli.{verb}").add(subparsers)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one verb; the exit code is 0, 1 (something was found) or 2 (input that cannot be used)."""
    given = sys.argv[1:] if argv is None else list(argv)
    verbs = given[:1] if given and given[0] in VERBS else VERBS
    try:
        args = parser(verbs).parse_args(given)
        code: int = args.run(args)
        sys.stdout.flush()
    except LedgerAgentError as error:
        print(f"ledgeragent: error: {' '.join(str(error).split())}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has left; nothing may be written to it at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    return code
