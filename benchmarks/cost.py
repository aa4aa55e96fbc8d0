"""The ledger's price in prompt tokens on recorded runs: `python -m benchmarks.cost`.

Needs the public benchmark data (`LEDGERAGENT_DATA_DIR`) and the extra `tokens`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

RESULT = Path(__file__).parent / "results" / "cost.json"
DOMAINS = ("airline", "retail")


def main() -> int:
    """Counts every recorded run of the domains and writes the result file."""
    folder = os.environ.get("LEDGERAGENT_DATA_DIR")
    if folder is None:
        sys.exit("set LEDGERAGENT_DATA_DIR to the folder with benchmarks/ and trajectories/")
    runs = Path(folder) / "trajectories"
    files = [str(f) for name in DOMAINS for f in sorted(runs.glob(f"*_{name}__*.jsonl.gz"))]
    command = [sys.executable, "-m", "ledgeragent", "bench", "cost", *files, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    shown = (
        "ledgeragent bench cost $LEDGERAGENT_DATA_DIR/trajectories/*_{airline,retail}__*.jsonl.gz"
    )
    RESULT.write_text(json.dumps({"command": shown, **json.loads(done.stdout)}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
