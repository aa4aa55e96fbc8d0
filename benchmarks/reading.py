"""What a replay costs beside the least that it has to do: `python -m benchmarks.reading`.

The least is to decompress the files and decode each line, by the standard library and by the extra `fast`.
Times are of the processor, in one process, the best of several rounds in which all take turns. Needs the
public benchmark data (`LEDGERAGENT_DATA_DIR`). Writes `benchmarks/results/reading.json`.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from ledgeragent.files import decoding
from ledgeragent.offline import runlines
from ledgeragent.offline.replay import replay
from ledgeragent.offline.sources import pieces, records
from ledgeragent.offline.traces import together, traces_of

RESULT = Path(__file__).parent / "results" / "reading.json"
ROUNDS = 7
DOMAIN = "retail"


def seconds(works: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The least processor time of each."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            start = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - start)
    return best


def unpack(files: list[str]) -> list[bytes]:
    """All lines of some files."""
    return [line for file in files for line in gzip.open(file)]


def read(files: list[str]) -> None:
    """Every value of the files, as a replay reads them."""
    for file in files:
        for piece in pieces(file, together):
            for _ in records(piece):
                pass


def follow(files: list[str]) -> None:
    """Every conversation of the files."""
    for file in files:
        for piece in pieces(file, together):
            for _ in traces_of(piece):
                pass


def additions() -> float:
    """Seconds of a plain loop: by it figures of different machines and builds of Python compare."""
    start, total = time.process_time(), 0
    for number in range(10_000_000):
        total += number
    return time.process_time() - start


def slowly(work: Callable[[], object]) -> Callable[[], object]:
    """The same without the extra `fast`."""

    def without() -> None:
        fast = decoding._fast
        decoding._fast = runlines._fast = None
        try:
            work()
        finally:
            decoding._fast = runlines._fast = fast

    return without


def main() -> int:
    """Measures, and writes the result file."""
    folder = os.environ.get("LEDGERAGENT_DATA_DIR")
    if folder is None:
        sys.exit("set LEDGERAGENT_DATA_DIR to the folder with trajectories/")
    files = sorted(map(str, Path(folder, "trajectories").glob(f"*_{DOMAIN}__*.jsonl.gz")))
    lines = unpack(files)
    result, every = replay(files, DOMAIN), replay(files, DOMAIN, nonstandard=True)
    library = json.JSONDecoder().decode
    times = seconds(
        {
            "decompress": lambda: unpack(files),
            "decode": lambda: [library(line.decode()) is None for line in lines],
            "decode_fast": lambda: [msgspec.json.decode(line) is None for line in lines],
            "read": slowly(lambda: read(files)),
            "read_fast": lambda: read(files),
            "conversations_fast": lambda: follow(files),
            "replay": slowly(lambda: replay(files, DOMAIN)),
            "replay_fast": lambda: replay(files, DOMAIN),
            "replay_every_fast": lambda: replay(files, DOMAIN, nonstandard=True),
        }
    )
    floor = times["decompress"] + times["decode"]
    floor_fast = times["decompress"] + times["decode_fast"]
    report = {
        "command": "python -m benchmarks.reading",
        "python": " ".join(sys.version.split()),
        "ten_million_additions": round(min(additions() for _ in range(ROUNDS)), 2),
        "records": len(lines),
        "megabytes": round(sum(map(len, lines)) / 1e6, 1),
        "runs_judged": result.runs,
        "calls_judged": result.calls,
        "every_run": every.runs,
        "every_call": every.calls,
        "seconds": {name: round(value, 3) for name, value in times.items()},
        "times_the_floor": {
            "read": round(times["read"] / floor, 2),
            "replay": round(times["replay"] / floor, 2),
            "replay_fast": round(times["replay_fast"] / floor, 2),
            "replay_every_fast": round(times["replay_every_fast"] / floor, 2),
            "replay_fast_to_the_fast_floor": round(times["replay_fast"] / floor_fast, 2),
        },
        "calls_a_second": {
            "floor": round(result.calls / floor),
            "replay": round(result.calls / times["replay"]),
            "replay_fast": round(result.calls / times["replay_fast"]),
            "replay_every_fast": round(every.calls / times["replay_every_fast"]),
        },
    }
    RESULT.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
