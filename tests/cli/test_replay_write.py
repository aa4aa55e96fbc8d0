"""`replay --write`: a row for each judged call, and the questions of the documentation asked of it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from .branches import NAME
from .command import ROOT, RUNS, Done, jsonl, ledgeragent

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

PAGE = (ROOT / "docs" / "how-to" / "ask-with-sql.md").read_text(encoding="utf-8")
SECTIONS = (section.partition("\n") for section in PAGE.split("\n## ")[1:])
QUERIES = {
    title: body.partition("```sql\n")[2].partition("```")[0]
    for title, _, body in SECTIONS
    if "```sql\n" in body
}
TEAMS = ("south", "north")


def dated(runs: list[Any]) -> list[Any]:
    """The runs, two a day, of two teams by turns; the first of all once more, weeks before."""
    marked = [
        {**run, "created_at": f"2026-11-{10 + n // 2}T10:00:00Z", "labels": {"team": TEAMS[n % 2]}}
        for n, run in enumerate(runs)
    ]
    return [*marked, *({**run, "id": "before", "created_at": 1.79e9} for run in marked[1:2])]


def written(folder: Path, *more: str, runs: list[Any] = RUNS) -> Done:
    """What the command did that wrote `verdicts.parquet` in the folder."""
    file = folder / "runs.jsonl"
    file.write_text(jsonl(*dated(runs)))
    table = folder / "verdicts.parquet"
    command = ("replay", file, "--domain", NAME, "--allow-faulty", "--write", table, *more)
    return ledgeragent(*command)


def rows(folder: Path, query: str) -> list[dict[str, Any]]:
    """The answer to a query over the table in the folder."""
    text = query.replace("verdicts.parquet", str(folder / "verdicts.parquet"))
    answer = duckdb.sql(text)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.fetchall()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("verdicts")
    assert written(place).code == 0
    return place


def test_a_row_for_each_judged_call_with_what_the_report_counts(folder: Path) -> None:
    done = ledgeragent("replay", folder / "runs.jsonl", "--domain", NAME, "--format", "json")
    counts = rows(folder, "SELECT outcome, count(*) AS n FROM 'verdicts.parquet' GROUP BY ALL")
    writes = done.json["writes"]
    assert {row["outcome"]: row["n"] for row in counts} == {
        outcome: writes[outcome]
        for outcome in ("allow", "revise_violation", "revise_evidence", "block")
    }
    (executed,) = rows(folder, "SELECT sum(executed::INT) AS n FROM 'verdicts.parquet'")
    assert executed["n"] == writes["executed"]


def test_a_row_holds_the_call_and_what_speaks_against_it(folder: Path) -> None:
    (row,) = rows(folder, "SELECT * FROM 'verdicts.parquet' WHERE run = 'owes'")
    (finding,) = row["findings"]
    assert json.loads(row["arguments"])["days"] == 5 and row["labels"] == {"team": "south"}
    assert (row["decision"], row["rules"], row["reward"]) == ("block", ["lending/fines"], 1.0)
    assert {"path": "members.M1.fines", "value": "2.5", "tool": "get_member", "turn": 1} in (
        finding["evidence"]
    )


def test_it_is_the_same_by_any_number_of_processes(folder: Path, tmp_path: Path) -> None:
    file = folder / "runs.jsonl"
    command = ("replay", file, "--domain", NAME, "--jobs", "2", "--write", tmp_path / "v")
    assert ledgeragent(*command).code == 0
    assert (tmp_path / "v").read_bytes() == (folder / "verdicts.parquet").read_bytes()


def test_only_its_owner_reads_it_and_its_schema_has_a_version(folder: Path) -> None:
    assert os.name == "nt" or (folder / "verdicts.parquet").stat().st_mode & 0o777 == 0o600
    metadata = rows(folder, "SELECT key, value FROM parquet_kv_metadata('verdicts.parquet')")
    assert {"key": b"ledgeragent.verdicts", "value": b"1"} in metadata


def test_the_page_lists_every_column(folder: Path) -> None:
    columns = duckdb.sql(f"SELECT * FROM '{folder / 'verdicts.parquet'}'").columns
    cells = [line.split("|")[1] for line in PAGE.partition("| column |")[2].splitlines()[2:]]
    assert sorted(re.findall(r"`(\w+)`", " ".join(cells))) == sorted(columns)


ANSWERS: dict[str, dict[str, Any]] = {
    "What would a rule": {"team": "north", "rule": "lending/days", "calls": 1, "runs": 1},
    "What does the gate": {"tool": "lend_book", "outcome": "block", "calls": 1, "executed": 1},
    "Does a rule drift": {"rule": "lending/fines", "stopped": 3},
    "Which writes were near": {"run": "unread", "unread": ["members.M1"]},
    "Which rules reject": {"rule": "lending/fines", "tasks": 1, "runs": ["owes"]},
    "Which facts decide": {"read_by": "get_member", "records": "members", "facts": 1},
}


def test_the_page_has_six_queries() -> None:
    assert len(QUERIES) == len(ANSWERS) == 6


@pytest.mark.parametrize("question", ANSWERS)
def test_a_query_of_the_page_answers_its_question(folder: Path, question: str) -> None:
    (query,) = [text for title, text in QUERIES.items() if title.startswith(question)]
    assert rows(folder, f"EXPLAIN {query}")
    answers = [{key: row[key] for key in ANSWERS[question]} for row in rows(folder, query)]
    assert ANSWERS[question] in answers


def test_text_that_no_encoding_has_is_kept_as_an_escape(tmp_path: Path) -> None:
    odd = json.loads(json.dumps(RUNS[1]).replace("long", "\\ud800long"))
    assert written(tmp_path, runs=[odd]).code == 0
    assert rows(tmp_path, "SELECT run FROM 'verdicts.parquet'") == [{"run": "\\ud800long"}]


@pytest.mark.parametrize("more", [("--baseline", "b.json"), ("--domain", "nowhere")])
def test_a_command_that_cannot_run_writes_nothing(tmp_path: Path, more: tuple[str, ...]) -> None:
    assert written(tmp_path, *more).code == 2
    assert [file.name for file in tmp_path.iterdir()] == ["runs.jsonl"]


def test_where_nothing_can_be_judged_what_stood_there_stays(tmp_path: Path) -> None:
    (tmp_path / "verdicts.parquet").write_text("as it was")
    (tmp_path / "runs.jsonl").write_text("{\n")
    table = tmp_path / "verdicts.parquet"
    done = ledgeragent("replay", tmp_path / "runs.jsonl", "--domain", NAME, "--write", table)
    assert done.code == 2 and table.read_text() == "as it was"
    assert len([*tmp_path.iterdir()]) == 2


def test_a_place_that_ends_in_a_slash_is_a_folder_of_parts(folder: Path, tmp_path: Path) -> None:
    command = ("replay", folder / "runs.jsonl", "--domain", NAME, "--write", f"{tmp_path}/parts/")
    assert ledgeragent(*command).code == 0
    names = sorted(file.name for file in (tmp_path / "parts").iterdir())
    assert names == ["_SUCCESS", "part-00000.parquet"]
    assert os.name == "nt" or (tmp_path / "parts").stat().st_mode & 0o777 == 0o700
    query = "SELECT * FROM 'verdicts.parquet'"
    parts = duckdb.sql(f"SELECT * FROM '{tmp_path}/parts/*.parquet'").fetchall()
    assert parts == [tuple(row.values()) for row in rows(folder, query)]
    again = ledgeragent(*command)
    assert again.code == 2 and "something stands there" in again.err


def test_parts_of_a_command_that_fails_do_not_stay(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text("{\n")
    command = ("replay", tmp_path / "runs.jsonl", "--domain", NAME, "--write", f"{tmp_path}/parts/")
    assert ledgeragent(*command).code == 2
    assert [file.name for file in tmp_path.iterdir()] == ["runs.jsonl"]


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    table = tmp_path / "none" / "v.parquet"
    done = ledgeragent("replay", ROOT / "README.md", "--domain", NAME, "--write", table)
    assert done.code == 2 and str(tmp_path / "none") in done.err
