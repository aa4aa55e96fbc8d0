"""Recorded runs, many times over, judged by one process and by Ray: `python -m benchmarks.scale`.

Needs the public benchmark data (`LEDGERAGENT_DATA_DIR`), the extra `ray`, and 1 GB of disk. Shows that a
report is the same by either engine, and what the command that writes it holds in memory: by Ray that is the
driver, without the cluster's own processes, but with what it shares with them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.alone import alone
from benchmarks.synthetic import write

RESULT = Path(__file__).parent / "results" / "scale.json"
_PER_FILE = 1_000


def measured(folder: Path, runs: int, engine: str) -> dict[str, Any]:
    """What it took to judge so many of the runs in a folder."""
    files = sorted(map(str, folder.glob("*.jsonl.gz")))[: runs // _PER_FILE]
    words = ["replay", *files, "--domain", "retail", "--format", "json", "--engine", engine]
    took = alone(words)
    report = json.loads(took.output)
    if report["runs"] + report["skipped"] != runs or report["problems"]:
        sys.exit(f"{runs:,} runs by {engine}: the report has {report['runs']:,}")
    row = {
        "engine": engine,
        "runs": runs,
        "judged": report["runs"],
        "calls": report["calls"],
        "seconds": took.seconds,
        "processor_seconds": took.processor_seconds,
        "megabytes": took.megabytes,
        "own_megabytes": took.own_megabytes,
        "report": sha256(took.output).hexdigest(),
    }
    print(json.dumps(row), flush=True)
    return row


def _sizes(text: str) -> list[int]:
    sizes = [int(size) for size in text.split(",") if size]
    if any(size % _PER_FILE or not size for size in sizes):
        raise argparse.ArgumentTypeError(f"give multiples of {_PER_FILE:,}")
    return sizes


def main() -> int:
    """Measures, and writes the result; 1 where the reports of two engines differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--local", type=_sizes, default=_sizes("1000,20000,200000"))
    parser.add_argument("--ray", type=_sizes, default=_sizes("20000,200000"))
    parser.add_argument("--folder", type=Path, help="where the runs are kept, or made")
    args = parser.parse_args()
    data = os.environ.get("LEDGERAGENT_DATA_DIR")
    if data is None:
        sys.exit("set LEDGERAGENT_DATA_DIR to the folder with trajectories/")
    recorded = sorted(map(str, Path(data, "trajectories").glob("*_retail__*.jsonl.gz")))
    most = max(*args.local, *args.ray)
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or Path(temporary)
        if len([*folder.glob("*.jsonl.gz")]) * _PER_FILE < most:
            write(folder, recorded, most, _PER_FILE)
        sizes = [("local", size) for size in args.local] + [("ray", size) for size in args.ray]
        rows = [measured(folder, size, engine) for engine, size in sizes]
    report = {
        "command": "python -m benchmarks.scale",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "rows": rows,
    }
    RESULT.write_text(json.dumps(report, indent=1) + "\n")
    return 1 if differing(rows) else 0


def differing(rows: list[dict[str, Any]]) -> list[int]:
    """The numbers of runs of which two engines wrote different reports."""
    reports: dict[int, set[str]] = {}
    for row in rows:
        reports.setdefault(row["runs"], set()).add(row["report"])
    return [runs for runs, seen in reports.items() if len(seen) > 1]


if __name__ == "__main__":
    sys.exit(main())
