"""Every situation is judged as the policy has it, through the reader that everybody uses."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from tests.cli.command import ledgeragent

from . import (
    answers,
    appointments,
    banking,
    bookings,
    callers,
    cancellations,
    changes,
    compensation,
    desk,
    disorder,
    edges,
    handover,
    items,
    laggards,
    lists,
    older,
    orders,
    outcomes,
    parking,
    patients,
    phone_replies,
    shop,
    telecom,
    threefold,
)
from .rows import Rows

ROOT = Path(__file__).parents[2]
PYTHON = (
    *(cancellations, compensation, bookings, changes),
    *(orders, items),
    *(telecom, phone_replies, handover),
    *(appointments, patients),
    shop,
    banking,
)
YAML = {
    "src/ledgeragent/demo/shop/pack.yaml": shop,
    "examples/parking/pack.yaml": parking,
}


def written(rows: Rows, folder: Path) -> Path:
    """The file of the situations."""
    file = folder / "situations.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows.rows))
    return file


def misjudged(rows: Rows, domain: str, folder: Path, *options: str) -> list[str]:
    """What is not as it should be, each with the note of its situation."""
    file = written(rows, folder)
    which = ("--domain", domain, *options, "--cases", file)
    report = ledgeragent("test", *which, "--format", "json").json
    assert report["cases"] == len(rows.rows)
    return [
        f"{m['id']}, {m['note']}: {m['call']} expected {m['expected']}, got {m['decision']}"
        for m in report["mismatches"]
    ]


@pytest.mark.parametrize("module", PYTHON, ids=lambda module: module.__name__.rpartition(".")[2])
def test_situations_of_the_shipped_packs(module: ModuleType, tmp_path: Path) -> None:
    rows: Rows = module.ROWS
    assert misjudged(rows, rows.domain, tmp_path) == []


@pytest.mark.parametrize("rows", answers.ALL, ids=lambda rows: rows.domain)
def test_answers_in_every_form(rows: Rows, tmp_path: Path) -> None:
    assert misjudged(rows, rows.domain, tmp_path) == []


@pytest.mark.parametrize("rows", threefold.ALL, ids=lambda rows: rows.domain)
def test_replies_of_three_calls_in_each_order(rows: Rows, tmp_path: Path) -> None:
    assert misjudged(rows, rows.domain, tmp_path) == []


@pytest.mark.parametrize("version", ["tau", "tau_trait"])
def test_situations_under_an_older_policy(version: str, tmp_path: Path) -> None:
    assert misjudged(older.ROWS, "airline", tmp_path, "--version", version) == []


@pytest.mark.parametrize("rows", disorder.ALL, ids=lambda rows: rows.domain)
def test_disorder_in_the_shipped_packs(rows: Rows, tmp_path: Path) -> None:
    assert misjudged(rows, rows.domain, tmp_path) == []


@pytest.mark.parametrize("rows", outcomes.ALL, ids=lambda rows: rows.domain)
def test_writes_after_a_write_of_every_outcome(rows: Rows, tmp_path: Path) -> None:
    assert misjudged(rows, rows.domain, tmp_path) == []


@pytest.mark.parametrize("rows", edges.ALL, ids=lambda rows: rows.domain)
def test_edges_of_time_of_ids_and_of_amounts(rows: Rows, tmp_path: Path) -> None:
    assert misjudged(rows, rows.domain, tmp_path) == []


@pytest.mark.parametrize("rows", laggards.ALL, ids=lambda rows: rows.domain)
def test_writes_after_an_answer_that_does_not_show_the_write(rows: Rows, tmp_path: Path) -> None:
    assert misjudged(rows, rows.domain, tmp_path) == []


@pytest.mark.parametrize("rows", callers.ALL, ids=lambda rows: rows.domain)
def test_somebody_else_who_comes_up_later(rows: Rows, tmp_path: Path) -> None:
    assert misjudged(rows, rows.domain, tmp_path) == []


@pytest.mark.parametrize("rows", lists.ALL, ids=lambda rows: rows.domain)
def test_lists_among_the_arguments(rows: Rows, tmp_path: Path) -> None:
    assert misjudged(rows, rows.domain, tmp_path) == []


@pytest.mark.parametrize("pack", YAML)
def test_situations_of_packs_written_as_data(pack: str, tmp_path: Path) -> None:
    pytest.importorskip("cel_expr_python")
    assert misjudged(YAML[pack].ROWS, str(ROOT / pack), tmp_path) == []


def test_situations_of_a_pack_with_a_clock(tmp_path: Path) -> None:
    pytest.importorskip("cel_expr_python")
    pack, now = str(ROOT / "examples/bank/pack.yaml"), f"now={desk.NOW}"
    assert misjudged(desk.ROWS, pack, tmp_path, "--param", now) == []
