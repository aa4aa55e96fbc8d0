"""Replay as a function: bindings, counts that add up, and the same result in any number of processes."""

from __future__ import annotations

import json
from dataclasses import replace as changed
from pathlib import Path

import pytest

from ledgeragent.engines.local import LocalEngine
from ledgeragent.errors import UsageError
from ledgeragent.offline.binding import Binding, versions
from ledgeragent.offline.piece import Piece
from ledgeragent.offline.replay import replay
from ledgeragent.offline.sources import pieces
from ledgeragent.offline.tally import ReplayResult
from ledgeragent.offline.traces import Trace
from tests.cli.branches import NAME, NEW, OLD
from tests.cli.command import RUNS, jsonl

LIBRARIES = Binding(name=NAME, allow_faulty=True)


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A file of recorded runs."""
    runs = tmp_path / "runs.jsonl"
    runs.write_text(jsonl(*RUNS))
    return str(runs)


def of(benchmark: str | None = None, **known: object) -> Trace:
    """A run of which only this is known."""
    return Trace(run="r", messages=(), benchmark=benchmark, **known)  # type: ignore[arg-type]


def test_the_result_counts_every_call_once(file: str) -> None:
    result = replay([file], NAME, allow_faulty=True)
    writes = result.writes
    outcomes = ("allow", "revise_violation", "revise_evidence", "block")
    assert (result.runs, result.skipped.total()) == (8, 2)
    assert writes["judged"] == sum(writes[outcome] for outcome in outcomes) == 9
    for counts in result.by_predicate.values():
        assert counts["judged"] == sum(counts[outcome] for outcome in outcomes)


def test_the_results_of_two_files_add_up(file: str) -> None:
    one, two = (
        replay([file], NAME, allow_faulty=True),
        replay([file, file], NAME, allow_faulty=True),
    )
    twice = ReplayResult()
    twice.add(one)
    twice.add(replay([file], NAME, allow_faulty=True))
    assert two == twice


def test_the_number_of_processes_changes_nothing(file: str) -> None:
    two = LocalEngine(jobs=2)
    assert replay([file] * 3, NAME, allow_faulty=True, engine=two) == replay(
        [file] * 3, NAME, allow_faulty=True
    )


def test_progress_tells_how_far_it_is(file: str) -> None:
    done: list[Piece] = []
    replay([file], NAME, allow_faulty=True, progress=done.append)
    assert [(piece.file, piece.position) for piece in done] == [(file, Path(file).stat().st_size)]


def test_a_long_file_comes_in_pieces_that_hold_every_line_once(tmp_path: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    runs.write_text("".join(json.dumps({"n": n, "pad": "x" * 1000}) + "\n" for n in range(3000)))
    cut = list(pieces(str(runs)))
    assert len(cut) > 1
    assert [piece.line for piece in cut][1] == len(cut[0].lines) + 1
    assert b"".join(line for piece in cut for line in piece.lines) == runs.read_bytes()


def test_a_file_that_cannot_be_read_is_left_out_and_told(file: str) -> None:
    result = replay(["nowhere", file], NAME, allow_faulty=True)
    assert result.runs == 8 and result.skipped["broken"] == 1
    assert {"file": "nowhere", "line": None, "problem": "No such file or directory"} in (
        result.problems
    )


@pytest.mark.parametrize(
    ("benchmark", "version"),
    [("tau2", "tau2"), ("tau", "tau"), ("tau_trait", "tau"), ("other", "tau2"), (None, "tau2")],
)
def test_the_benchmark_picks_the_version(benchmark: str | None, version: str) -> None:
    assert LIBRARIES.domain_for(of(benchmark)).version == version


def test_a_version_that_is_named_is_used() -> None:
    assert changed(LIBRARIES, version="tau").domain_for(of("tau2")).version == OLD.version
    with pytest.raises(UsageError, match="no version '3'"):
        changed(LIBRARIES, version="3").domain()


def test_the_tools_are_those_given_else_those_of_the_run_else_those_of_the_version() -> None:
    recorded = frozenset({"get_book"})
    given = frozenset({"get_member"})
    assert changed(LIBRARIES, tools=given).domain_for(of(tools=recorded)).available == given
    assert LIBRARIES.domain_for(of(tools=recorded)).available == recorded
    assert LIBRARIES.domain_for(of("tau")).available == OLD.available
    assert LIBRARIES.domain_for(of("tau2")).available is None


@pytest.mark.parametrize(
    ("benchmark", "domain", "served"),
    [
        (None, None, True),
        ("tau2", "telecom", True),
        ("tau2", "retail", False),
        ("tau_trait", "telecom", False),
    ],
)
def test_runs_of_another_domain_are_not_served(
    benchmark: str | None, domain: str | None, served: bool
) -> None:
    assert Binding(name="telecom").serves(of(benchmark, domain=domain)) is served


def test_a_domain_of_ones_own_is_found_by_module_and_attribute() -> None:
    assert versions(NAME, True) == {"tau2": NEW, "tau": OLD}
    assert versions("tests.cli.branches:OLD", True) == {"tau": OLD}


@pytest.mark.parametrize("name", ["nowhere", "nowhere:IT", "tests.cli.branches:NAME", ":", "a:"])
def test_a_domain_that_does_not_exist_is_told(name: str) -> None:
    with pytest.raises(UsageError):
        versions(name)
