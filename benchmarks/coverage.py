"""The lines and branches that the tests reach, room by room: `make coverage`.

Sums up a report of coverage.py as `benchmarks/results/coverage.json`. What a test starts as a process of
its own is not counted. `--without` names rooms whose tests the run left out: of these nothing is told.

    python -m benchmarks.coverage REPORT.json [--without ROOM ...]
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

RESULT = Path(__file__).parent / "results" / "coverage.json"
ROOT_FILES = "the core"
COUNTS = {
    "lines": "num_statements",
    "lines_reached": "covered_lines",
    "branches": "num_branches",
    "branches_reached": "covered_branches",
}


def rooms(files: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """The counts of every folder of the package, the files beside the folders taken together."""
    sums: dict[str, dict[str, int]] = {}
    for name, report in files.items():
        parts = PurePath(name).parts
        inside = parts[parts.index("ledgeragent") + 1 :]
        counts = sums.setdefault(
            inside[0] if len(inside) > 1 else ROOT_FILES, dict.fromkeys(COUNTS, 0)
        )
        for count, field in COUNTS.items():
            counts[count] += report["summary"][field]
    return dict(sorted(sums.items()))


def main() -> int:
    """Reads the report and writes the result file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("--without", nargs="*", default=[], metavar="ROOM")
    args = parser.parse_args()
    files = json.loads(args.report.read_text(encoding="utf-8"))["files"]
    result = {
        "command": "make coverage",
        "without": args.without,
        "python": platform.python_version(),
        "rooms": {
            name: counts for name, counts in rooms(files).items() if name not in args.without
        },
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
