"""Recorded runs and labelled cases through the shipped packs: `python -m benchmarks.recorded`.

Needs the public benchmark data (`LEDGERAGENT_DATA_DIR`). Writes what `ledgeragent replay` and
`ledgeragent test` report, without the long lists, to the results folder.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.ownreport import own_report

RESULT = Path(__file__).parent / "results" / "recorded.json"
REPLAYED = ("airline", "retail", "telehealth")
LABELLED = ("airline", "retail", "telecom", "telehealth")
_LISTS = (
    "rejected_executed_writes",
    "shadow_executed_writes",
    "rejected_neutral_calls",
    "near_misses",
    "errors",
    "problems",
)
DATA = "$LEDGERAGENT_DATA_DIR"


def replayed(data: Path, domain: str) -> dict[str, Any]:
    """What `replay` says of every recorded run of a domain; its lists only counted."""
    files = sorted(map(str, (data / "trajectories").glob(f"*_{domain}__*.jsonl.gz")))
    shown = f"ledgeragent replay {DATA}/trajectories/*_{domain}__*.jsonl.gz --domain {domain}"
    report = own_report(["replay", *files, "--domain", domain, "--format", "json"])
    counts = {name: len(report.pop(name, ())) for name in _LISTS}
    return {"command": shown, **report, "counts": counts}


def judged(data: Path, kind: str, domain: str) -> dict[str, Any]:
    """What `test` says of a domain's labelled cases, or situations."""
    file = f"benchmarks/{kind}/{domain}.jsonl.gz"
    words = ["test", "--domain", domain, "--cases", str(data / file), "--format", "json"]
    report = own_report(words, codes=(0, 1))
    del report["by_file"]  # it names a path of this machine
    shown = f"ledgeragent test --domain {domain} --cases {DATA}/{file}"
    return {"command": shown, **report}


def main() -> int:
    """Judges everything and writes the result file."""
    folder = os.environ.get("LEDGERAGENT_DATA_DIR")
    if folder is None:
        sys.exit("set LEDGERAGENT_DATA_DIR to the folder with benchmarks/ and trajectories/")
    data = Path(folder)
    report = {
        "command": "python -m benchmarks.recorded",
        "replay": {domain: replayed(data, domain) for domain in REPLAYED},
        **{
            kind: {domain: judged(data, kind, domain) for domain in LABELLED}
            for kind in ("cases", "situations")
        },
    }
    RESULT.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
