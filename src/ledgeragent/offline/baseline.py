"""Baselines: the verdicts on recorded runs in a file, to tell later what has changed."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ledgeragent.errors import DataError
from ledgeragent.files.limits import MEMORY, refuse_large
from ledgeragent.files.private import write_private
from ledgeragent.files.reading import read_bytes
from ledgeragent.journal.verdicts import FindingRow
from ledgeragent.offline.answers import (
    Answered,
    CallAnswer,
    RecordedAnswer,
    RunAnswers,
    answer_piece,
)
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.diff import Difference
from ledgeragent.offline.replay import over
from ledgeragent.offline.rows import RunRow
from ledgeragent.offline.sources import Piece
from ledgeragent.types import Json

FORM = "baseline/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The answers of one domain to the judged calls of recorded runs, by the name of the run."""

    domain: str
    runs: dict[str, list[CallAnswer]]

    @property
    def calls(self) -> int:
        """How many answers there are."""
        return sum(map(len, self.runs.values()))


def judged_now(
    files: Iterable[str],
    binding: Binding,
    *,
    nonstandard: bool = False,
    jobs: int = 1,
    progress: Callable[[Piece], None] = lambda piece: None,
) -> Answered:
    """The answers to all recorded runs of some files."""
    binding.domain()
    total = Answered()
    work = partial(answer_piece, binding=binding, nonstandard=nonstandard)
    for part in over(files, work, jobs=jobs, progress=progress):
        total.take(part)
        total.answers += part.answers
    return total


def compared(baseline: Baseline | None, now: Answered, binding: Binding) -> Difference:
    """The difference from the baseline; without one, every run is new."""
    difference = Difference(skipped=now.skipped, problems=now.problems)
    difference.predicates = {rule.id for rule in binding.domain().predicates}
    runs = dict(baseline.runs) if baseline is not None else {}
    for name, run in _named(now.answers):
        before = runs.pop(name, None)
        if before is None:
            difference.runs += 1
            difference.only_after.append(name)
        else:
            difference.compare(_row(run), before, run["calls"])
    difference.only_before = [*runs]
    return difference


def baseline_of(now: Answered, domain: str) -> Baseline:
    """The baseline that says what was judged now."""
    return Baseline(domain=domain, runs={name: run["calls"] for name, run in _named(now.answers)})


def read_baseline(file: str, domain: str) -> Baseline | None:
    """The baseline in a file, None if there is no such file.

    Raises DataError for a file that is something else, or the baseline of another domain.
    """
    if not os.path.lexists(file):
        return None
    content = read_bytes(file, MEMORY)
    refuse_large(content, file)
    try:
        baseline = _parsed(json.loads(content))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DataError(
            "it is no baseline; if it was one, delete it and write it anew with --update", file=file
        ) from None
    if baseline.domain != domain:
        raise DataError(f"it is a baseline of {baseline.domain}, not of {domain}", file=file)
    return baseline


def write_baseline(baseline: Baseline, file: str) -> None:
    """Writes the file as a whole or not at all, one answer a line."""
    write_private(Path(file), "".join(_lines(baseline)).encode("utf-8", "backslashreplace"))


def _named(runs: Iterable[RunAnswers]) -> Iterator[tuple[str, RunAnswers]]:
    """The runs, each under a name of its own: ids can repeat."""
    seen: Counter[str] = Counter()
    for run in runs:
        name = run["run"]
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name} ({seen[name]})", run


def _row(run: RunAnswers) -> RunRow:
    return RunRow(
        run=run["run"], benchmark=run["benchmark"], task_id=run["task_id"], reward=run["reward"]
    )


def _lines(baseline: Baseline) -> Iterator[str]:
    yield f'{{"ledgeragent": "{FORM}", "domain": {json.dumps(baseline.domain)}, "runs": {{'
    for number, (name, calls) in enumerate(baseline.runs.items()):
        yield f"{',' if number else ''}\n{json.dumps(name)}: ["
        for place, one in enumerate(calls):
            yield f"{',' if place else ''}\n  {json.dumps(_stored(one), default=str)}"
        yield "]"
    yield "\n}}\n"


def _stored(one: CallAnswer) -> Json:
    answer = one["answer"]
    findings = {name: answer[name] for name in ("findings", "shadow") if answer[name]}
    return {
        "message": one["message"],
        "call": one["call"],
        "outcome": answer["outcome"],
        **findings,
    }


def _parsed(value: Any) -> Baseline:
    if value["ledgeragent"] != FORM:
        raise ValueError(value["ledgeragent"])
    runs = {
        str(name): [_call(one, number) for number, one in enumerate(calls, 1)]
        for name, calls in value["runs"].items()
    }
    return Baseline(domain=str(value["domain"]), runs=runs)


def _call(one: Any, number: int) -> CallAnswer:
    return CallAnswer(
        judged=number,
        message=int(one["message"]),
        call=one["call"],
        answer=RecordedAnswer(
            outcome=str(one["outcome"]),
            findings=[_said(row) for row in one.get("findings", ())],
            shadow=[_said(row) for row in one.get("shadow", ())],
        ),
    )


def _said(row: Any) -> Any:
    return {name: row[name] for name in FindingRow.__required_keys__}
