"""A harness's folder of results (`results.json` beside `simulations/`), read as one document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ledgeragent.errors import DataError

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
    folder = Path(file)
    whole = _read(folder / RESULTS)
    if not isinstance(whole, dict):
        raise DataError("not an object", file=str(folder / RESULTS))
    inside = [run for run in whole.get("simulations") or () if isinstance(run, dict)]
    with_messages = [run for run in inside if "messages" in run]
    apart = [_read(one) for one in sorted((folder / _SIMULATIONS).glob("*.json"))]
    return json.dumps({**whole, "simulations": [*with_messages, *apart]}).encode()


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except OSError as error:
        raise DataError(error.strerror or str(error), file=str(file)) from None
    except ValueError as error:
        raise DataError(f"not JSON: {error}", file=str(file)) from None
