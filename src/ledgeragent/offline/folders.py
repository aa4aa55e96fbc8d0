"""A harness's folder of results (`results.json` beside `simulations/`), read as one document."""

from __future__ import annotations

import json
from pathlib import Path

from ledgeragent.errors import DataError
from ledgeragent.files.documents import DocumentBudget
from ledgeragent.files.limits import MEMORY
from ledgeragent.files.reading import read_bytes
from ledgeragent.types import Json

RESULTS = "results.json"
_SIMULATIONS = "simulations"


def is_results_folder(file: str) -> bool:
    """True for a folder that a harness keeps its results in."""
    folder = Path(file)
    return file != "-" and (folder / RESULTS).is_file() and (folder / _SIMULATIONS).is_dir()


def results_folders(folder: Path) -> set[Path]:
    """Every such folder below one, itself included."""
    return {file.parent for file in folder.rglob(RESULTS) if is_results_folder(str(file.parent))}


def merged(file: str) -> tuple[bytes, list[DataError]]:
    """The document, its simulations in the order of their files, and what is wrong with parts left out.

    DataError where `results.json` or every part cannot be read, or the whole takes more memory than it may.
    """
    folder, budget = Path(file), DocumentBudget(file)

    def part_at(part: Path) -> Json:
        return budget.parse(read_bytes(part, MEMORY), str(part))

    whole = part_at(folder / RESULTS)
    if not isinstance(whole, dict):
        raise DataError("not an object", file=str(folder / RESULTS))
    listed = whole.get("simulations") or []
    if not isinstance(listed, list):
        raise DataError("`simulations` is no list", file=str(folder / RESULTS))
    inside = [run for run in listed if isinstance(run, dict)]
    runs, problems = [run for run in inside if "messages" in run], list[DataError]()
    for part in sorted((folder / _SIMULATIONS).glob("*.json")):
        try:
            runs.append(part_at(part))
        except DataError as problem:
            if problem.file != str(part):
                raise
            problems.append(problem)
    if problems and not runs:
        raise problems[0]
    return json.dumps({**whole, "simulations": runs}).encode(), problems
