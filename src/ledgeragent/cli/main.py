"""The command line: finds the verb, runs it, and turns every expected failure into one line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import ledgeragent
from ledgeragent.cli.configuration import PREFIX, words_of_environment
from ledgeragent.cli.streams import be_quiet, standard_streams, tell
from ledgeragent.cli.verbs import VERBS
from ledgeragent.errors import LedgerAgentError, MissingExtraError

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers

OK, FOUND, UNUSABLE, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


def parser(verbs: Collection[str] = VERBS.keys()) -> argparse.ArgumentParser:
    """The parser that knows all verbs, and the options of these; only their modules are imported."""
    top = argparse.ArgumentParser(
        prog="ledgeragent",
        description="Admission control for tool-calling AI agents.",
        epilog="Exit codes: 0 all is well, 1 something was found, 2 the input cannot be used.",
    )
    top.add_argument(
        "--version", action="version", version=f"ledgeragent {ledgeragent.__version__}"
    )
    top.add_argument(
        "--print-completion",
        action=PrintCompletion,
        choices=("bash", "zsh", "tcsh"),
        help="print the script that completes commands in this shell, and end",
    )
    subparsers = top.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb, line in VERBS.items():
        if verb in verbs:
            _add(verb, subparsers)
        else:
            subparsers.add_parser(verb, help=line)
    return top


def _add(verb: str, subparsers: Subparsers) -> None:
    import_module(f"ledgeragent.cli.{verb}").add(subparsers)
    subparsers.choices[verb].add_argument(
        "--quiet", action="store_true", help="say nothing on standard error but errors"
    )


class PrintCompletion(argparse.Action):
    """Prints the completion of a shell for all verbs; raises MissingExtraError without shtab."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Prints it and ends."""
        try:
            import shtab
        except ImportError:
            raise MissingExtraError("shtab", "completion") from None
        print(shtab.complete(whole_parser(), str(values)))
        parser.exit()


def whole_parser() -> argparse.ArgumentParser:
    """The parser for all verbs."""
    return parser(VERBS.keys())


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
    if (
        not verbs
        or arguments[0] != verbs[0]
        or not any(name.startswith(PREFIX) for name in os.environ)
    ):
        return list(arguments)
    words = words_of_environment(verb_parser(verbs[0]))
    return [verbs[0], *words, *arguments[1:]]


def verb_parser(verb: str) -> argparse.ArgumentParser:
    """The parser of one verb's own options."""
    subparsers = argparse.ArgumentParser().add_subparsers()
    _add(verb, subparsers)
    parser: argparse.ArgumentParser = subparsers.choices[verb]
    return parser


def _refuse(verb: str, words: Sequence[str]) -> NoReturn:
    """Ends with the usage of the verb, and what was meant by a word that it does not know."""
    from ledgeragent.compiler.problems import nearest

    own = verb_parser(verb)
    options = [name for action in own._actions for name in action.option_strings]
    near = nearest(words[0].partition("=")[0], options)
    meant = f" (did you mean {near}?)" if near is not None else ""
    own.prog = f"ledgeragent {verb}"
    own.error(f"unrecognized arguments: {' '.join(words)}{meant}")


def _run(arguments: Sequence[str]) -> int:
    verb = next((word for word in arguments if not word.startswith("-")), "")
    verbs = [verb] if verb in VERBS else []
    if verb == "gateway":
        from ledgeragent.cli.hangup import keep_hangups

        keep_hangups()
    try:
        words = _with_environment(arguments, verbs)
        args, others = parser(verbs).parse_known_args(words)
        if others:
            _refuse(args.verb, others)
    except SystemExit:
        sys.stdout.flush()  # the help, which may not get through either
        raise
    args.words = words[1:]
    be_quiet(args.quiet)
    code: int = args.run(args)
    sys.stdout.flush()
    return code
