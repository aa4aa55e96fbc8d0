"""What was understood of files of recorded conversations: text for people, and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ledgeragent.errors import DataError
from ledgeragent.offline.forms.registry import form_named
from ledgeragent.offline.understanding import Understanding
from ledgeragent.report.parts import SENTENCE, dump, joined, shorten
from ledgeragent.types import Json

_MOST_PROBLEMS = 20


def understanding_text(understandings: Iterable[Understanding]) -> str:
    """A section for each file."""
    return joined([_section(one) for one in understandings])


def _section(one: Understanding) -> list[str]:
    reading = one.reading
    lines = [one.file]
    for name, runs in sorted(reading.forms.items()):
        lines.append(f"  form      {form_named(name).title} ({name}): {_some(runs, 'run')}")
    if reading.runs:
        lines.append(
            f"  calls     {reading.calls}, of which {reading.returns} returned; "
            f"{_some(reading.messages, 'message')}"
        )
    if reading.tools:
        lines.append(f"  tools     {_counted(reading.tools)}")
    if one.names:
        lines.append(f"  read as   {', '.join(f'{a} = {b}' for a, b in sorted(one.names.items()))}")
    if one.unlisted:
        lines.append(f"  unlisted  {_counted(one.unlisted)}")
    if reading.left_out:
        lines.append(f"  left out  {_counted(reading.left_out)}")
    lines += [f"  problem   {_told(p)}" for p in one.problems[:_MOST_PROBLEMS]]
    if (more := len(one.problems) - _MOST_PROBLEMS) > 0:
        lines.append(f"  problem   {more} more")
    if one.exit_code == 2:
        lines.append("  no call of a tool was found; forms that do not fit:")
        lines += [f"    {form}: {why}" for form, why in one.tried]
    return lines


def _told(problem: DataError) -> str:
    return shorten(str(problem), SENTENCE)


def _some(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _counted(counts: Counter[str]) -> str:
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{shorten(name)} ({number})" for name, number in ranked)


def understanding_json(understandings: Iterable[Understanding]) -> str:
    """The same as one JSON object."""
    return dump({"files": [_file(one) for one in understandings]})


def _file(one: Understanding) -> Json:
    reading = one.reading
    return {
        "file": one.file,
        "forms": dict(sorted(reading.forms.items())),
        "runs": reading.runs,
        "messages": reading.messages,
        "calls": reading.calls,
        "returns": reading.returns,
        "tools": dict(sorted(reading.tools.items())),
        "names": dict(sorted(one.names.items())),
        "unlisted": dict(sorted(one.unlisted.items())),
        "left_out": dict(sorted(reading.left_out.items())),
        "problems": [{"file": p.file, "line": p.line, "problem": p.problem} for p in one.problems],
        "tried": [{"form": form, "why": why} for form, why in one.tried],
        "understood": one.exit_code == 0,
    }
