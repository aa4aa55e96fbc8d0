"""Baselines: the verdicts on recorded runs in a file, to tell later what has changed."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any

from ledgeragent.engines.engine import Engine
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
from ledgeragent.offline.jsontext import json_text
from ledgeragent.offline.piece import Piece
from ledgeragent.offline.replay import ONE_PROCESS, over
from ledgeragent.offline.rows import RunRow
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
    files: Sequence[str],
    binding: Binding,
    *,
    nonstandard: bool = False,
    engine: Engine = ONE_PROCESS,
    progress: Callable[[Piece], None] = lambda piece: None,
) -> Answered:
    """The answers to all recorded runs of some files."""
    binding.domain()
    total = Answered()
    work = partial(answer_piece, binding=binding.at(engine), nonstandard=nonstandard)
    for part in over(files, work, engine=engine, progress=progress):
        total.take(part)
        total.answers += part.answers
    return total


def compared(baseline: Baseline | None, now: Answered, binding: Binding) -> Difference:
    """The difference from the baseline; without one, every run is new."""
    difference = Difference()
    difference.take(now)
    difference.runs = 0
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
    except (ValueError, RecursionError) as problem:
        advice = "if it was one, delete it and write it anew with --update"
        raise DataError(f"it is no baseline: {problem}; {advice}", file=file) from None
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
            yield f"{',' if place else ''}\n  {json_text(_stored(one))}"
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
    if not isinstance(value, dict) or value.get("ledgeragent") != FORM:
        raise ValueError(f"`ledgeragent` is not {FORM}")
    runs = _of_kind(value.get("runs"), dict, "runs")
    return Baseline(
        domain=_of_kind(value.get("domain"), str, "domain"),
        runs={name: [*_calls(calls, f"runs[{name!r:.80}]")] for name, calls in runs.items()},
    )


def _calls(calls: Json, place: str) -> Iterator[CallAnswer]:
    for number, one in enumerate(_of_kind(calls, list, place), 1):
        yield _call(_of_kind(one, dict, f"{place}[{number}]"), number, f"{place}[{number}]")


def _call(one: Json, number: int, place: str) -> CallAnswer:
    call = _of_kind(one.get("call"), dict, f"{place}.call")
    _of_kind(call.get("name"), str, f"{place}.call.name")
    _of_kind(call.get("arguments"), dict | str, f"{place}.call.arguments")
    return CallAnswer(
        judged=number,
        message=_of_kind(one.get("message"), int, f"{place}.message"),
        call=call,
        answer=RecordedAnswer(
            outcome=_of_kind(one.get("outcome"), str, f"{place}.outcome"),
            findings=_findings(one.get("findings", []), f"{place}.findings"),
            shadow=_findings(one.get("shadow", []), f"{place}.shadow"),
        ),
    )


def _findings(rows: Json, place: str) -> list[Any]:
    return [
        {name: _cell(_of_kind(row, dict, place), name, place) for name in _CELLS}
        for row in _of_kind(rows, list, place)
    ]


def _cell(row: Mapping[str, Json], name: str, place: str) -> Json:
    return _of_kind(row.get(name), str | NoneType if name == "clause" else str, f"{place}.{name}")


def _of_kind(value: Json, kind: Any, place: str) -> Json:
    """The value, which has to be of a kind; ValueError names its place."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"`{place}` holds what it cannot")
    return value


_CELLS = tuple(FindingRow.__annotations__)
