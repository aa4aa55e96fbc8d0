"""The ledger's price in prompt tokens on recorded runs: `python -m benchmarks.cost`.

Needs the public benchmark data (`LEDGERAGENT_DATA_DIR`) and the extra `tokens`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from benchmarks.ownreport import own_report

RESULT = Path(__file__).parent / "results" / "cost.json"
DOMAINS = ("airline", "retail")


def main() -> int:
    """Counts every recorded run of the domains and writes the result file."""
    folder = os.environ.get("LEDGERAGENT_DATA_DIR")
    if folder is None:
        sys.exit("set LEDGERAGENT_DATA_DIR to the folder with benchmarks/ and trajectories/")
    runs = Path(folder) / "trajectories"
    files = [str(f) for name in DOMAINS for f in sorted(runs.glob(f"*_{name}__*.jsonl.gz"))]
    report = own_report(["bench", "cost", *files, "--format", "json"])
    shown = (
        "ledgeragent bench cost $LEDGERAGENT_DATA_DIR/trajectories/*_{airline,retail}__*.jsonl.gz"
    )
    RESULT.write_text(json.dumps({"command": shown, **report}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
