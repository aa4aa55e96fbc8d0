"""The curves of judging recorded runs again."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import fixture
from benchmarks.alone import alone
from benchmarks.dialogue import request_body
from benchmarks.growth.curve import Curve


def runs(most: int) -> list[Curve]:
    """n runs are judged again in one process of their own. They are one conversation with other keys."""
    curves = [
        Curve("runs are judged again", "runs"),
        Curve("memory of the process that judges them (MB in place of ms)", "runs"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for size in (1_000, 10_000, 100_000, 1_000_000):
            if size > most:
                break
            file = Path(folder, "runs.jsonl")
            with file.open("w") as stream:
                stream.writelines(_lines(size))
            took = alone(["replay", str(file), "--domain", "retail", "--format", "json"])
            report = json.loads(took.output)
            assert report["runs"] == size, report["skipped_by_reason"]
            curves[0].add(size, took.processor_seconds)
            curves[1].add(size, took.megabytes / 1e3)
    return curves


def _lines(count: int) -> Iterator[str]:
    body = json.loads(request_body(False))
    text = json.dumps({"id": "0000000", "messages": body["messages"], "domain": "retail"})
    for number in range(count):
        line = text.replace(fixture.ORDER_ID, f"#W{number:07}")
        yield line.replace("0000000", f"{number:07}", 1) + "\n"
