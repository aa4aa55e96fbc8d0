"""The clinic's records: loaded from the benchmark's JSON files, changed in place by the tools."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ledgeragent.files.documents import read_document
from ledgeragent.types import Json

Rows = dict[str, Any]
"""Records by their id."""

FOLDER = Path("benchmarks", "tau_trait", "telehealth")
"""Where a data folder keeps the files of this environment."""


@dataclass(slots=True, kw_only=True)
class Data:
    """All the records of the clinic, one attribute per data file. `today` is the clinic's date."""

    patients: Rows
    providers: Rows
    appointments: Rows
    medical_records: Rows
    medication_suppliers: Rows
    drug_interactions: Rows
    telemetry_inventory: list[Any]
    telemetry_uploads: list[Any]
    regimen_plans: Rows
    today: str

    def digest(self) -> str:
        """The SHA-256 that two equal states share: of the text of the records as sorted tuples."""
        records = {name: getattr(self, name) for name in FILES}
        return hashlib.sha256(str(_hashable(records)).encode()).hexdigest()


FILES = tuple(f.name for f in fields(Data) if f.name != "today")


def load(folder: Path, today: str) -> Data:
    """The untouched records; `folder` holds the files, or a data folder that holds them.

    Raises DataError where a file is missing or is no JSON.
    """
    inside = folder / FOLDER
    where = inside if inside.is_dir() else folder
    return Data(**{name: _read(where / f"{name}.json") for name in FILES}, today=today)


def read_tasks(folder: Path) -> list[Json]:
    """The test tasks, in order; raises DataError where they can't be read."""
    inside = folder / FOLDER
    tasks: list[Json] = _read((inside if inside.is_dir() else folder) / "tasks.json")
    return tasks


def _read(file: Path) -> Any:
    return read_document(file)


def _hashable(value: Json) -> Json:
    if isinstance(value, dict):
        return tuple(sorted((key, _hashable(inner)) for key, inner in value.items()))
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    return value
