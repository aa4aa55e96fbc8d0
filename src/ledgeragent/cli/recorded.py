"""The common part of the verbs that judge recorded runs: their options, and broken records."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from ledgeragent.cli.engines import add_engine
from ledgeragent.cli.streams import note
from ledgeragent.errors import DataError, UsageError
from ledgeragent.offline.forms.registry import FORMS, form_named
from ledgeragent.offline.intake import BROKEN, FileReading, Intake

READS = (
    "Reads the forms in which agent frameworks, tracers and loggers keep conversations, told from the "
    "content (`ledgeragent traces FILE` shows what is understood): files, folders or patterns of them, "
    "here or in an object store (s3://, gs://, az://), JSON, JSON Lines or Parquet, compressed or not."
)
_MOST_WARNINGS = 20
_NAMES = tuple(form.name for form in FORMS)


def add_recorded(parser: argparse.ArgumentParser) -> None:
    """Adds the files, --from, --tool-prefix, --nonstandard and how the work is spread."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="recorded runs, a folder or a pattern of them, also s3://, gs:// or az://; - is stdin",
    )
    add_reading(parser)
    add_engine(parser)
    parser.add_argument(
        "--nonstandard",
        action="store_true",
        help="judge runs too whose agent had tools that their benchmark does not have",
    )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Adds --from and --tool-prefix."""
    parser.add_argument(
        "--from",
        dest="form",
        type=_form,
        metavar="FORM",
        help=f"the form of the runs, where their content does not tell: {', '.join(_NAMES)}",
    )
    parser.add_argument(
        "--tool-prefix",
        action="append",
        default=[],
        metavar="PREFIX",
        help="what stands before the pack's tools in the runs, such as mcp__shop__; may be repeated. "
        "One that fits the pack in a single way is found without it",
    )


def add_unknown(parser: argparse.ArgumentParser) -> None:
    """Adds --unknown-tools."""
    parser.add_argument(
        "--unknown-tools",
        choices=("ignore", "revise", "block"),
        default="revise",
        help="how a gate would answer tools that the pack does not list; they are counted apart, and "
        "with ignore not judged (default revise)",
    )


def _form(name: str) -> str:
    try:
        return form_named(name).name
    except UsageError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


def add_baseline(parser: argparse.ArgumentParser) -> None:
    """Adds --baseline and --update."""
    parser.add_argument(
        "--baseline", metavar="FILE", help="compare with the verdicts stored in this file"
    )
    parser.add_argument(
        "--update", action="store_true", help="write the current verdicts to the baseline"
    )


def warn(intake: Intake, files: Sequence[str]) -> None:
    """Says on stderr which records are broken, and which files have no call of a tool in them.

    Raises DataError where no record could be read, or no file has a call.
    """
    broken = intake.skipped[BROKEN]
    if not intake.runs and not intake.skipped.total():
        raise DataError("there is no run in it", file=", ".join(files))
    if not intake.runs and broken == intake.skipped.total():
        first = intake.problems[0]
        _tell_tried(intake.tried)
        raise DataError(first["problem"], file=first["file"], line=first["line"])
    for row in intake.problems[:_MOST_WARNINGS]:
        problem = DataError(row["problem"], file=row["file"], line=row["line"])
        note(f"ledgeragent: skipped: {problem}")
    if broken > _MOST_WARNINGS:
        more = broken - _MOST_WARNINGS
        note(f"ledgeragent: skipped: {more} more broken records")
    _warn_of_silent(intake)
    tell_values(intake.own_values, intake.lost_values, "runs")
    if intake.timeless:
        note(
            f"ledgeragent: warning: {intake.timeless} runs do not tell the time that rules ask for, "
            "so these rules fail there; give it with --param now=..."
        )


def tell_values(own: int, lost: int, noun: str) -> None:
    """Says whose parameter values the verdicts rest on."""
    if own:
        note(
            f"ledgeragent: {own} {noun} were judged with the parameter values that they record; --param "
            "gives others"
        )
    if lost:
        note(
            f"ledgeragent: warning: {lost} {noun} record parameter values that cannot be used "
            "(redacted, or of another type than the pack's), so its own count there; give them with --param"
        )


def _warn_of_silent(intake: Intake) -> None:
    """Tells files without one call: most likely they were not understood."""
    silent = {file: one for file, one in intake.readings.items() if not one.calls}
    for file, reading in silent.items():
        problem = no_call(reading)
        if len(silent) == len(intake.readings):
            _tell_tried(reading.unfit)
            raise DataError(problem, file=file)
        note(f"ledgeragent: warning: {DataError(problem, file=file)}")


def no_call(reading: FileReading) -> str:
    """What is to be said of a file without one call of a tool."""
    forms = ", ".join(reading.forms)
    return (
        f"there is no call of a tool in it, read as {forms} with {reading.messages} messages; where it "
        "is another form, name it with --from"
    )


def _tell_tried(reasons: Iterable[tuple[str, str]]) -> None:
    """Lists the forms that were tried, each with why it does not fit."""
    for form, why in reasons:
        note(f"ledgeragent: it is no {form}: {why}")
