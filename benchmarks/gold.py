"""Every task's gold actions through the arm `ledgeragent`.

    python -m benchmarks.gold [--shipped | --bank]

Runs where the tau2 harness is installed (`make test-tau2` makes such an environment) and keeps, in the
results folder, one record per harness, data set and domain. With `LEDGERAGENT_DATA_DIR` the tasks are
those of its `benchmarks/`; with `--shipped`, those that the harness brings, which has no telehealth;
with `--bank`, the domain banking_knowledge of its official line, searched with bm25.
"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.ownreport import own_report

RESULT = Path(__file__).parent / "results" / "gold.json"
DOMAINS = ("airline", "retail", "telecom", "telehealth", "banking_knowledge")
BANK = DOMAINS[4:]
DATA_DIR = "LEDGERAGENT_DATA_DIR"
_AT_ONCE = 2


def played(domain: str) -> dict[str, Any]:
    """What `bench gold` says of a domain."""
    words = ["bench", "gold", "--domain", domain, "--format", "json"]
    return {"domain": domain, **own_report(words, codes=(0, 1))[domain]}


def merged(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All records, the new ones in the place of older ones of the same harness, data and domain."""
    kept = {_key(record): record for record in [*old, *new]}
    return [kept[key] for key in sorted(kept)]


def _key(record: dict[str, Any]) -> tuple[str, str, int]:
    return record["harness"], record["tasks_from"], DOMAINS.index(record["domain"])


def main() -> int:
    """Plays every task and adds what became of it to the result file."""
    bank = "--bank" in sys.argv[1:]
    shipped = bank or "--shipped" in sys.argv[1:]
    if shipped:
        os.environ.pop(DATA_DIR, None)
    elif DATA_DIR not in os.environ:
        sys.exit(f"set {DATA_DIR} to the folder with benchmarks/, or say --shipped")
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        domains = BANK if bank else DOMAINS[:3] if shipped else DOMAINS[:4]
        found = list(pool.map(played, domains))
    source = "the harness" if shipped else f"${DATA_DIR}"
    new = [{"tasks_from": source, **record} for record in found]
    old = json.loads(RESULT.read_text())["runs"] if RESULT.exists() else []
    report = {"command": "python -m benchmarks.gold", "runs": merged(old, new)}
    RESULT.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
