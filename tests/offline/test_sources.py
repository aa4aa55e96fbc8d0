"""Sources: the same runs in every kind of file give the same report, and what is broken is left out."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgeragent.engines.local import LocalEngine
from ledgeragent.errors import DataError
from ledgeragent.offline import piece as pieces_module
from ledgeragent.offline.piece import Partition, Piece
from ledgeragent.offline.replay import replay as replayed
from ledgeragent.offline.sources import pieces, records
from ledgeragent.report.replay import replay_json
from tests.cli.branches import NAME
from tests.cli.command import RUNS, jsonl

REPORT = "runs.any"
replay = partial(replayed, allow_faulty=True)


def report(folder: Path, name: str, content: bytes) -> str:
    """The report on a file, without its name."""
    file = folder / name
    file.write_bytes(content)
    return replay_json(replay([str(file)], NAME)).replace(str(file), REPORT)


def parquet(runs: list[Any], folder: Path) -> bytes:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    texts = [
        {key: json.dumps(value) if isinstance(value, list) else value for key, value in run.items()}
        for run in runs
    ]
    columns = dict.fromkeys(key for run in texts for key in run)
    table = pa.table({key: [run.get(key) for run in texts] for key in columns})
    pq.write_table(table, folder / "table", row_group_size=3)
    return (folder / "table").read_bytes()


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_file_is_the_same(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    text = jsonl(*RUNS).encode()
    assert report(tmp_path, "a", compress(text)) == report(tmp_path, "b", text)


def test_a_table_is_the_same(tmp_path: Path) -> None:
    whole = [run for run in RUNS if isinstance(run, dict) and "messages" in run]
    text = jsonl(*whole).encode()
    assert report(tmp_path, "a", parquet(whole, tmp_path)) == report(tmp_path, "b", text)


def test_nested_columns_are_records_and_what_is_null_is_absent(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "name": "A"}]
    pq.write_table(pa.Table.from_pylist([{"id": "a", "messages": messages}]), tmp_path / "t")
    (piece,) = pieces(str(tmp_path / "t"))
    assert [value for _, value in records(piece)] == [{"id": "a", "messages": messages}]


def test_a_table_that_is_damaged_is_told(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "t").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match="no Parquet table"):
        list(pieces(str(tmp_path / "t")))


def test_a_line_that_is_too_long_is_left_out_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEDGERAGENT_MAX_MEMORY_MB", "3")
    long = json.dumps({"id": "long", "messages": [], "note": "x" * (2 << 20)})
    text = jsonl(RUNS[0]) + long + "\n" + jsonl(RUNS[1], RUNS[2])
    (tmp_path / "f").write_text(text)
    result = replay([str(tmp_path / "f")], NAME)
    alone = (
        replay([str(tmp_path / "g")], NAME)
        if (tmp_path / "g").write_text(jsonl(RUNS[0], RUNS[1], RUNS[2]))
        else None
    )
    assert alone is not None and result.runs == alone.runs
    (problem,) = [row for row in result.problems if "memory" in row["problem"]]
    assert problem["line"] == 2 and result.skipped["broken"] == alone.skipped["broken"] + 1


def test_a_file_that_breaks_off_gives_what_stands_before(tmp_path: Path) -> None:
    whole = gzip.compress(jsonl(*RUNS).encode() * 2_000)
    (tmp_path / "f").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "g").write_text(jsonl(*RUNS))
    result = replay([str(tmp_path / "f"), str(tmp_path / "g")], NAME)
    assert result.runs > 8 and any("damaged" in row["problem"] for row in result.problems)


@settings(max_examples=20, deadline=None)
@given(size=st.integers(1, 200_000), piece_bytes=st.sampled_from([400, 3_000, 50_000]))
def test_the_size_of_shares_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, size: int, piece_bytes: int
) -> None:
    file = tmp_path_factory.mktemp("runs") / "runs.jsonl"
    file.write_text(jsonl(*RUNS) * 8 + "{\n" + jsonl(*RUNS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ledgeragent.offline.cutting.PIECE_BYTES", piece_bytes)
        whole = replay([str(file)] * 2, NAME)
        shared = replay([str(file)] * 2, NAME, engine=LocalEngine(share_bytes=size))
    assert replay_json(shared) == replay_json(whole)


def test_a_partition_is_divided_down_to_its_lines() -> None:
    def lines(partition: Partition) -> list[tuple[int, bytes]]:
        parts = partition.parts()
        if not parts:
            (piece,) = partition.pieces
            return list(enumerate(piece.lines, piece.line))
        assert all(partition.name in part.wholes for part in parts)
        return [line for part in parts for line in lines(part)]

    one = Piece(file="f", line=1, lines=(b"a\n", b"b\n", b"c\n"))
    two = Piece(file="f", line=4, lines=(b"d\n",), problem="the rest is damaged")
    assert lines(Partition("00000-000000", (one, two))) == [
        (1, b"a\n"), (2, b"b\n"), (3, b"c\n"), (4, b"d\n"),
    ]  # fmt: skip
    assert pieces_module.Piece(file="f", line=1, lines=(b"{", b"}"), document=True).halves() == ()


def test_what_is_lost_says_which_lines() -> None:
    piece = Piece(file="f", line=4, lines=(b"a\n", b"b\n"), position=9)
    ((number, problem),) = records(piece.lost("it kills"))
    assert number == 4 and str(problem) == "f:4: lines 4 to 5 are left out: it kills"
