"""Recorded runs, many times over: `python -m benchmarks.synthetic OUT --runs 200000 FILE...`.

Each copy has a name, a time and a team of its own, so that no two records are equal. The files are JSON
Lines, gzip, and the same for the same arguments.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path

_TEAMS = ("north", "south", "west")
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_APART = timedelta(seconds=13)


def records(files: Sequence[str], runs: int) -> Iterator[bytes]:
    """So many records, one a line, made from those of the files by turns."""
    bodies = [
        json.dumps({key: value for key, value in record.items() if key != "id"})[1:]
        for file in files
        for record in _recorded(file)
    ]
    for number, body in enumerate(islice(cycle(bodies), runs)):
        head = {
            "id": f"synthetic-{number:07}",
            "created_at": (_BEGIN + number * _APART).isoformat(),
            "labels": {"team": _TEAMS[number % len(_TEAMS)]},
        }
        yield f"{json.dumps(head)[:-1]}, {body}\n".encode()


def _recorded(file: str) -> Iterator[dict[str, object]]:
    opener = gzip.open if file.endswith(".gz") else open
    with opener(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def write(folder: Path, files: Sequence[str], runs: int, per_file: int) -> None:
    """Writes the records to files of so many."""
    folder.mkdir(parents=True, exist_ok=True)
    stream = records(files, runs)
    for number in range(-(-runs // per_file)):
        place = folder / f"runs-{number:05}.jsonl.gz"
        with place.open("wb") as raw, gzip.GzipFile("", "wb", 1, raw, mtime=0) as out:
            out.writelines(islice(stream, per_file))


def main() -> None:
    """Writes what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.synthetic", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("files", nargs="+", metavar="FILE", help="recorded runs, JSON Lines")
    parser.add_argument("--runs", type=int, default=200_000)
    parser.add_argument("--per-file", type=int, default=5_000)
    args = parser.parse_args()
    write(args.out, args.files, args.runs, args.per_file)


if __name__ == "__main__":
    main()
