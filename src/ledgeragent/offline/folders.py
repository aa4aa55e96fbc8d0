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


def merged(file: str) -> bytes:
    """The document, its simulations in the order of their files; DataError for a part that is no JSON."""
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
    with_messages = [run for run in inside if "messages" in run]
    apart = [part_at(one) for one in sorted((folder / _SIMULATIONS).glob("*.json"))]
    return json.dumps({**whole, "simulations": [*with_messages, *apart]}).encode()
