"""Does this implementation answer as the recorded one did? Every call and every state is compared."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ledgeragent.bench.telehealth.clinic import RESPOND, STOP, Episode, call
from ledgeragent.bench.telehealth.data import Data, load, read_tasks
from ledgeragent.errors import DataError
from ledgeragent.offline.sources import pieces, records
from ledgeragent.types import Json

RECORDED_ON = "2026-01-01"
"""The clinic's date in the recordings."""

_DOMAIN = "telehealth"
_DATED = re.compile(r"Cancellation Date: (\d{4}-\d\d-\d\d)")
# How Python words these differs from version to version: only that the call failed is compared.
_WORDED_BY_PYTHON = ("TypeError", "SyntaxError", "ZeroDivisionError")


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Where we did otherwise: `what` (output, state or reward) after call `number` of a session."""

    session: str
    number: int
    call: str
    what: str
    expected: str
    got: str


@dataclass(slots=True, kw_only=True)
class Conformance:
    """The sessions and calls that were compared, and where they differed."""

    sessions: int
    calls: int
    divergences: list[Divergence]


def check(files: list[str], folder: Path) -> Conformance:
    """Replays recorded sessions, evaluator cases and runs; raises DataError for another kind of file."""
    untouched = load(folder, RECORDED_ON)
    tasks = read_tasks(folder)

    def fresh() -> Data:
        return copy.deepcopy(untouched)

    result = Conformance(sessions=0, calls=0, divergences=[])
    for file in files:
        for row in _rows(file):
            result.sessions += 1
            if "messages" in row:
                calls = list(_made(row))
                result.calls += len(calls)
                result.divergences += _run(row, calls, fresh())
                continue
            result.calls += len(row.get("calls") or row.get("steps") or ())
            divergences = _episode(row, fresh, tasks) if "steps" in row else _session(row, fresh)
            result.divergences += divergences
    return result


def _rows(file: str) -> Iterator[Json]:
    for piece in pieces(file):
        for line, row in records(piece):
            if isinstance(row, DataError):
                raise row
            if not isinstance(row, dict) or row.get("domain") != _DOMAIN:
                problem = f"not a recorded session of {_DOMAIN}"
                raise DataError(problem, file=file, line=line)
            if not row.keys() & {"calls", "steps", "messages"}:
                raise DataError("a session has calls, steps or messages", file=file, line=line)
            yield row


def _made(row: Json) -> Iterator[tuple[str, Json, str]]:
    """The calls of a recorded run in the order of their returns: name, arguments, what was returned."""
    requests: dict[str, Json] = {}
    for message in row["messages"]:
        for one in message.get("tool_calls") or ():
            requests[one["id"]] = one.get("function") or one
        if message["role"] == "tool":
            function = requests[message.get("tool_call_id") or message["id"]]
            text = function["arguments"]
            arguments = json.loads(text) if isinstance(text, str) else text
            yield function["name"], arguments, message["content"]


def _run(row: Json, calls: list[tuple[str, Json, str]], data: Data) -> Iterator[Divergence]:
    """Every call of a run on the clinic as it was; the day it was made on is told by what it returned."""
    dated = (_DATED.search(returned) for _, _, returned in calls)
    data.today = next((match[1] for match in dated if match), data.today)
    for number, (name, arguments, returned) in enumerate(calls, 1):
        got = call(data, name, copy.deepcopy(arguments))
        if not _same(returned, got, "TypeError"):
            yield Divergence(
                session=str(row.get("id")),
                number=number,
                call=f"{name}({arguments})",
                what="output",
                expected=returned,
                got=got,
            )


def _session(row: Json, fresh: Callable[[], Data]) -> Iterator[Divergence]:
    data = fresh()
    session = str(row.get("session_id"))
    if data.digest() != row["initial_db_hash"]:
        yield _state(session, 0, "the untouched records", row["initial_db_hash"], data)
    for number, recorded in enumerate(row["calls"], 1):
        text = f"{recorded['name']}({recorded['kwargs']})"
        got = call(data, recorded["name"], copy.deepcopy(recorded["kwargs"]))
        if not _same(recorded["content"], got, recorded.get("exc_type")):
            yield Divergence(
                session=session,
                number=number,
                call=text,
                what="output",
                expected=recorded["content"],
                got=got,
            )
        if data.digest() != recorded["db_hash"]:
            yield _state(session, number, text, recorded["db_hash"], data)
            # What follows starts from the recorded state no more; it would only repeat this.
            return


def _same(expected: str, got: str, raised: str | None) -> bool:
    if expected == got:
        return True
    errors = expected.startswith("Error: ") and got.startswith("Error: ")
    return errors and raised in _WORDED_BY_PYTHON


def _state(session: str, number: int, text: str, expected: str, data: Data) -> Divergence:
    return Divergence(
        session=session,
        number=number,
        call=text,
        what="state",
        expected=expected,
        got=data.digest(),
    )


def _episode(row: Json, fresh: Callable[[], Data], tasks: list[Json]) -> Iterator[Divergence]:
    task = tasks[int(row["task_id"])]
    session = f"task {row['task_id']} {row.get('label', '')}".strip()
    episode = Episode(task=task, fresh=fresh, user=lambda words: STOP)
    for number, recorded in enumerate(row["steps"], 1):
        name, arguments = recorded["action"]["name"], recorded["action"]["kwargs"]
        if name == RESPOND:
            arguments = {"content": "", **arguments}
        step = episode.step(name, copy.deepcopy(arguments))
        compared = {
            "output": (recorded["observation"], step.observation),
            "reward": (recorded["reward"], step.reward),
            "end": (recorded["done"], step.over),
        }
        for what, (expected, got) in compared.items():
            if not _same(str(expected), str(got), "TypeError"):
                yield Divergence(
                    session=session,
                    number=number,
                    call=f"{name}({arguments})",
                    what=what,
                    expected=str(expected),
                    got=str(got),
                )
