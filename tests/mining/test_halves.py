"""The benchmark of mining: each half of the recorded tasks is mined by itself."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

pytest.importorskip("cel_expr_python")


def test_halves_have_no_task_in_common_and_all_together(tmp_path: Path) -> None:
    from benchmarks.mining import HALVES, recorded

    talk = [{"role": "user", "content": "Hello"}]
    runs = [
        {"id": f"{task}-{trial}", "benchmark": "tau2", "task_id": str(task), "messages": talk}
        for task in range(20)
        for trial in range(2)
    ]
    file = tmp_path / "runs.jsonl.gz"
    file.write_bytes(gzip.compress("".join(f"{json.dumps(run)}\n" for run in runs).encode()))
    names = []
    for half in range(len(HALVES)):
        with recorded([str(file)], half) as recording:
            names.append({history.run for history in recording})
    first, second, whole = names
    assert first and second and not first & second
    assert first | second == whole == {run["id"] for run in runs}
    assert {name[:-1] + "0" for name in first} == {name for name in first if name[-1] == "0"}
