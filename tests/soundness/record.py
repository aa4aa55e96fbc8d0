"""What a long run of replies came to, on disk: it goes on where it was stopped.

A folder holds one file for each world and seed, so that several processes can play at once. The sum
of a folder is what is committed: `python -m tests.soundness.record FOLDER --output RESULT`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .replies_run import ReplyTally

SOURCE = "src/ledgeragent"


def core() -> dict[str, str]:
    """The commit that is tested, and the id of its source tree; raises SystemExit where it is changed."""
    if _git("status", "--porcelain", "--", SOURCE):
        sys.exit(f"{SOURCE} has changes that are in no commit: commit them, or leave --output out")
    return {"commit": _git("rev-parse", "HEAD"), "source": _git("rev-parse", f"HEAD:{SOURCE}")}


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], check=True, capture_output=True, text=True
    ).stdout.strip()


class Record:
    """The file of one world and seed."""

    def __init__(self, folder: Path, world: str, seed: int) -> None:
        self._head = {"world": world, "seed": seed, **core()}
        self._file = folder / f"{world}-{seed}.json"

    def load(self) -> ReplyTally:
        """What was played so far. Raises SystemExit where another source was tested."""
        if not self._file.exists():
            return ReplyTally()
        data = json.loads(self._file.read_text())
        if data["source"] != self._head["source"]:
            sys.exit(f"{self._file} is of commit {data['commit'][:9]}; choose another folder")
        return tally_of(data)

    def save(self, tally: ReplyTally) -> None:
        """Writes it down, all or nothing."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        draft = self._file.with_suffix(".part")
        draft.write_text(json.dumps({**self._head, **tally_json(tally)}, indent=1) + "\n")
        draft.replace(self._file)


def tally_json(tally: ReplyTally) -> dict[str, Any]:
    """A tally as data."""
    data = {**vars(tally)}
    for name in ("verdicts", "fates", "disagreements"):
        data[name] = dict(sorted(data[name].items()))
    return data


def tally_of(data: Mapping[str, Any]) -> ReplyTally:
    """The tally for its data."""
    fields = {name: data[name] for name in vars(ReplyTally())}
    for name in ("verdicts", "fates", "disagreements"):
        fields[name] = Counter(fields[name])
    return ReplyTally(**fields)


def total(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The sums of several records of one source, by world; raises SystemExit for several sources."""
    sources: dict[str, str] = {}
    seeds: dict[str, list[int]] = {}
    sums: dict[str, ReplyTally] = {}
    for data in records:
        sources[data["source"]] = data["commit"]
        seeds.setdefault(data["world"], []).append(data["seed"])
        _add(sums.setdefault(data["world"], ReplyTally()), tally_of(data))
    if len(sources) != 1:
        sys.exit(f"records of one source are needed, not of {len(sources)}")
    [(source, commit)] = sources.items()
    worlds = {
        name: {"seeds": sorted(seeds[name]), **tally_json(tally)}
        for name, tally in sorted(sums.items())
    }
    return {"commit": commit, "source": source, "worlds": worlds}


def _add(whole: ReplyTally, part: ReplyTally) -> None:
    for name, value in vars(part).items():
        if isinstance(value, Counter):
            vars(whole)[name].update(value)
        elif isinstance(value, dict):
            setattr(whole, name, {**value, **vars(whole)[name]})
        else:
            setattr(whole, name, getattr(whole, name) + value)


def main() -> int:
    """Sums a folder up."""
    parser = argparse.ArgumentParser(description="Sums up what runs of replies came to.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    records = [json.loads(file.read_text()) for file in sorted(options.folder.glob("*.json"))]
    command = "python -m tests.soundness.run --replies N --seed S --output FOLDER"
    result = {"command": command, **total(records)}
    options.output.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
