"""`bench report` on public result files, beside the figures that their authors published of them.

    python -m benchmarks.published FOLDER

FOLDER holds a clone of each repository below, as OWNER/NAME. Only result files are read, at the commit
named here; nothing of them is kept but the figures. The figures are in percent, as they were published.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.ownreport import own_report

RESULT = Path(__file__).parent / "results" / "published.json"
_SUBMISSION = "web/leaderboard/public/submissions/toolorchestra_nvidia_2025-12-02"
_LOGS = "samples/logs/airline_gemini2_5_flash_10tasks_2t"


class PublishedFile(NamedTuple):
    """A result file, and what was published of it: pass^1, pass^2, … and where."""

    repository: str
    commit: str
    file: str
    figures: tuple[str, ...]
    where: str


_TAU = ("sierra-research/tau-bench", "59a200c6d575d595120f1cb70fea53cef0632f6b")
_ORCHESTRA = ("pdhoolia/tau2-bench", "16ef9d2ea447a074c985554c29c5a65b1ee65107")
_ENHANCED = ("jitrc/tau2-enhanced", "4b23a7edc99ca836665784f6d6c0d4d0c79b49ba")
FILES = (
    PublishedFile(
        *_TAU,
        "historical_trajectories/gpt-4o-airline.json",
        ("42.0", "27.3", "22.0", "20.0"),
        "README.md, TC (gpt-4o)",
    ),
    PublishedFile(
        *_ORCHESTRA,
        f"{_SUBMISSION}/trajectories/toolorchestra_airline_gpt-5_1trial.json",
        ("56.0",),
        "the leaderboard's submission.json",
    ),
    PublishedFile(
        *_ORCHESTRA,
        f"{_SUBMISSION}/trajectories/toolorchestra_retail_gpt-5_1trial.json",
        ("84.2",),
        "the leaderboard's submission.json",
    ),
    *(
        PublishedFile(
            *_ENHANCED,
            f"{_LOGS}{agent and f'_{agent}'}.json",
            (rate,),
            f"the sample's analysis_report.md, {agent or 'llm_agent'}",
        )
        for agent, rate in (
            ("", "60.0"),
            ("context_agent", "60.0"),
            ("enhanced_agent", "55.0"),
            ("retry_agent", "60.0"),
        )
    ),
)


def compared(file: PublishedFile, clones: Path) -> dict[str, Any]:
    """The published figures, and those of `bench report`."""
    shown = ["git", "-C", str(clones / file.repository), "show", f"{file.commit}:{file.file}"]
    done = subprocess.run(shown, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{file.repository}: {done.stderr.decode().strip()}")
    row, runs = reported(done.stdout)
    ours = [row[f"pass^{k}"].split(" ")[0] for k in range(1, len(file.figures) + 1)]
    return {
        **file._asdict(),
        "domain": row["domain"],
        "tasks": int(row["tasks"]),
        "runs": runs,
        "reported": ours,
        "agree": ours == list(file.figures),
    }


def reported(content: bytes) -> tuple[dict[str, str], int]:
    """The row of `bench report`'s main results for the only arm of a file, and its runs."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "results.json")
        copy.write_bytes(content)
        report = own_report(["bench", "report", str(copy), "--format", "json"])
    (table,) = (one for one in report if one["name"] == "main")
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    (row,) = (one for one in rows if not one["arm"].endswith("(paper)"))
    return row, int(row["runs"])


def main() -> int:
    """Compares every file, and writes the result file; 1 if a figure differs."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rows = [compared(file, Path(sys.argv[1])) for file in FILES]
    report = {"command": "python -m benchmarks.published FOLDER", "files": rows}
    RESULT.write_text(json.dumps(report, indent=1) + "\n")
    return 0 if all(row["agree"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
