"""The command line: finds the verb, runs it, and turns every expected failure into one line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import ledgeragent
from ledgeragent.cli.configuration import PREFIX, words_of_environment
from ledgeragent.cli.streams import standard_streams, tell
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
    "mine",
    "replay",
    "test",
    "traces",
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
    arguments = sys.argv[1:] if argv is None else list(argv)
    with standard_streams():
        try:
            return _run(arguments)
        except LedgerAgentError as error:
            tell(str(error))
        except KeyboardInterrupt:
            return INTERRUPTED
        except BrokenPipeError:
            return PIPE_CLOSED  # whoever read our output has left
        except OSError as error:
            problem = error.strerror or str(error)
            tell(problem if error.filename is None else f"{error.filename}: {problem}")
        return UNUSABLE


def _with_environment(arguments: Sequence[str], verbs: Sequence[str]) -> list[str]:
    """The arguments, behind what the environment says of the verb's options: the last one counts."""
    if len(verbs) != 1 or not any(name.startswith(PREFIX) for name in os.environ):
        return list(arguments)
    words = words_of_environment(verb_parser(verbs[0]))
    return [verbs[0], *words, *arguments[1:]]


def verb_parser(verb: str) -> argparse.ArgumentParser:
    """The parser of one verb's own options."""
    subparsers = argparse.ArgumentParser().add_subparsers()
    import_module(f"ledgeragent.cli.{verb}").add(subparsers)
    parser: argparse.ArgumentParser = subparsers.choices[verb]
    return parser


def _run(arguments: Sequence[str]) -> int:
    verbs = arguments[:1] if arguments and arguments[0] in VERBS else VERBS
    try:
        words = _with_environment(arguments, verbs)
        args = parser(verbs).parse_args(words)
    except SystemExit:
        sys.stdout.flush()  # the help, which may not get through either
        raise
    args.words = words[1:]
    code: int = args.run(args)
    sys.stdout.flush()
    return code
