"""Small Parquet tables that grow, and cells that Python has no place for: refused in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.cli.main import main
from ledgeragent.offline.sources import pieces, records
from tests.cli.branches import NAME
from tests.cli.command import RUNS
from tests.fuzz.test_bombs import MEGABYTE, MOST_MEGABYTES, peak_of

pa: Any = pytest.importorskip("pyarrow")
pq: Any = pytest.importorskip("pyarrow.parquet")

LARGE = json.dumps([{"role": "user", "content": "x" * MEGABYTE}])
FEW = 400


def one_cell(file: Path) -> None:
    pq.write_table(pa.table({"messages": [LARGE.replace("x", "x" * 150)]}), file)


def a_cell_of_lists(file: Path) -> None:
    text = "[" + "[]," * (15 * MEGABYTE) + "[]]"
    pq.write_table(pa.table({"messages": [text]}), file, compression="gzip")


def a_list_of_one_word(file: Path) -> None:
    """One row, whose million cells are the same megabyte in the dictionary of the file."""
    indices = pa.array([0] * 1_000_000, pa.int32())
    cells = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * MEGABYTE]))
    lists = pa.ListArray.from_arrays([0, len(indices)], cells)
    pq.write_table(pa.table({"messages": lists}), file, dictionary_pagesize_limit=4 * MEGABYTE)


def plain_list_of_one_word(file: Path) -> None:
    """The same, where nothing in the file says that the cells came from a dictionary."""
    cells = pa.array(["x" * MEGABYTE] * 300)
    lists = pa.ListArray.from_arrays([0, len(cells)], cells)
    pq.write_table(pa.table({"messages": lists}), file, dictionary_pagesize_limit=4 * MEGABYTE)


def very_many_numbers(file: Path) -> None:
    count = 40_000_000
    cells = pa.Array.from_buffers(pa.int8(), count, [None, pa.py_buffer(bytes(count))])
    pq.write_table(pa.table({"messages": pa.ListArray.from_arrays([0, count], cells)}), file)


REFUSED: tuple[Callable[[Path], None], ...] = (
    one_cell,
    a_cell_of_lists,
    a_list_of_one_word,
    plain_list_of_one_word,
    very_many_numbers,
)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="nothing tells a peak here")
@pytest.mark.parametrize("bomb", REFUSED)
def test_a_row_that_grows_is_refused_by_the_name_of_its_file(
    tmp_path: Path, bomb: Callable[[Path], None]
) -> None:
    file = tmp_path / "runs.parquet"
    bomb(file)
    code, megabytes, said = peak_of("replay", str(file), "--domain", NAME)
    assert code == 2 and "Traceback" not in said
    assert f"{file}:1: a row would take more memory" in said and "raises that" in said
    assert megabytes < MOST_MEGABYTES


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="nothing tells a peak here")
@pytest.mark.parametrize("verb", ["replay", "mine", "diff", "traces"])
def test_large_rows_of_a_dictionary_are_read_one_by_one(tmp_path: Path, verb: str) -> None:
    file = tmp_path / "runs.parquet"
    cells = pa.DictionaryArray.from_arrays(pa.array([0] * FEW, pa.int32()), pa.array([LARGE]))
    table = pa.table({"messages": cells})
    pq.write_table(table, file, dictionary_pagesize_limit=4 * MEGABYTE)
    domain = ["--domain", NAME] if verb in ("replay", "diff") else []
    baseline = ["--baseline", str(tmp_path / "none")] if verb == "diff" else []
    code, megabytes, said = peak_of(verb, str(file), *domain, *baseline)
    assert code == 2 and "Traceback" not in said
    assert megabytes < MOST_MEGABYTES


def test_so_are_those_that_share_their_beginning(tmp_path: Path) -> None:
    file = tmp_path / "runs.parquet"
    encoding = {"messages": "DELTA_BYTE_ARRAY"}
    table = pa.table({"messages": [LARGE] * 40})
    pq.write_table(table, file, use_dictionary=False, column_encoding=encoding)
    counts = [len(piece.lines) for piece in pieces(str(file))]
    assert sum(counts) == 40


def test_a_table_of_very_many_columns_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "runs.parquet"
    pq.write_table(pa.table({f"c{n}": [1] for n in range(21_000)}), file)
    assert main(["replay", str(file), "--domain", NAME]) == 2


def test_a_footer_that_is_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEDGERAGENT_MAX_MEMORY_MB", "1")
    file = tmp_path / "runs.parquet"
    table = pa.table({"messages": ["[]"]}).replace_schema_metadata({"a": "x" * 200_000})
    pq.write_table(table, file)
    assert main(["replay", str(file), "--domain", NAME]) == 2
    assert f"{file}: its footer would take more memory" in capsys.readouterr().err


def of_numbers(number: int, kind: Any) -> Any:
    return pa.array([None, number], pa.int64()).cast(kind)


ODD = {
    "day": pa.array([None, 2**31 - 1], pa.int32()).cast(pa.date32()),
    "time": of_numbers(2**62, pa.timestamp("us")),
    "zone": of_numbers(2**40, pa.timestamp("us", "Mars/Olympus")),
    "text": pa.Array.from_buffers(
        pa.string(),
        2,
        [None, pa.py_buffer(b"\0\0\0\0\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")],
    ),
    "names": pa.StructArray.from_arrays([pa.array([1, 2])] * 2, names=["x", "x"]),
}


@pytest.mark.parametrize("kind", ODD)
def test_a_cell_that_cannot_be_told_costs_its_row_alone(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "t"
    odd = pa.chunked_array([ODD[kind].slice(1, 1)] * 3).combine_chunks()
    ids = pa.array(["a", "b", "c"])
    pq.write_table(pa.table({"id": ids, "odd": odd}), file)
    values = [one for piece in pieces(str(file)) for one in records(piece)]
    assert [number for number, _ in values] == [1, 2, 3]
    assert all("a cell cannot be read" in str(value) for _, value in values)


def test_the_rows_beside_it_are_read(tmp_path: Path) -> None:
    run = next(run for run in RUNS if isinstance(run, dict) and "messages" in run)
    file = tmp_path / "t"
    ids, texts = pa.array(["a", "b"]), pa.array([json.dumps(run["messages"])] * 2)
    pq.write_table(pa.table({"id": ids, "messages": texts, "at": ODD["day"]}), file)
    (_, first), (number, second) = (one for piece in pieces(str(file)) for one in records(piece))
    assert first == {"id": "a", "messages": run["messages"]}
    assert number == 2 and "a cell cannot be read" in str(second)


@pytest.mark.parametrize("kind", [pa.timestamp("ns"), pa.timestamp("ns", "UTC"), pa.time64("ns")])
def test_nanoseconds_are_left_out(tmp_path: Path, kind: Any) -> None:
    file = tmp_path / "t"
    at = pa.array([3_600_000_000_001], pa.int64()).cast(kind)
    pq.write_table(pa.table({"at": at, "in": pa.array([[at[0]]], pa.list_(kind))}), file)
    ((_, value),) = (one for piece in pieces(str(file)) for one in records(piece))
    assert isinstance(value, dict) and value["in"] == [value["at"]]
    assert "01:00:00" in str(value["at"]) and "000001" not in str(value["at"])


@pytest.mark.parametrize(
    ("pairs", "kind", "value"),
    [
        ([(date(2025, 1, 2), 1)], pa.map_(pa.date32(), pa.int64()), {"2025-01-02": 1}),
        ([("a", b"b")], pa.map_(pa.string(), pa.binary()), {"a": "b"}),
        ([("a", date(2025, 1, 2))], pa.map_(pa.string(), pa.date32()), {"a": "2025-01-02"}),
    ],
)
def test_maps_are_objects_whatever_their_keys(
    tmp_path: Path, pairs: Any, kind: Any, value: Any
) -> None:
    file = tmp_path / "t"
    pq.write_table(pa.table({"map": pa.array([pairs], kind)}), file)
    ((_, row),) = (one for piece in pieces(str(file)) for one in records(piece))
    assert row == {"map": value}
