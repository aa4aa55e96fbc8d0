"""The files that a run of each domain reads, by the names that they have in every copy of the data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ledgeragent.files.limits import MEMORY
from ledgeragent.files.reading import read_bytes

TAU2, TRAIT = Path("benchmarks", "tau2"), Path("benchmarks", "tau_trait")
"""Where a data folder keeps both benchmarks."""

_GUIDELINES = "user_simulator/simulation_guidelines.md"
_RECORDS = (
    *("appointments", "drug_interactions", "medical_records", "medication_suppliers", "patients"),
    *("providers", "regimen_plans", "telemetry_inventory", "telemetry_uploads"),
)
_SINGLE = ("db.json", "policy.md", "split_tasks.json", "tasks.json")
_DUAL = (
    *("db.toml", "main_policy.md", "split_tasks.json", "tasks.json"),
    *("tech_support_manual.md", "user_db.toml"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataNeed:
    """The files that a run of one domain reads: `airline/db.json`, below the folder of its benchmark."""

    domain: str
    files: tuple[str, ...]
    trait: bool = False

    @property
    def folder(self) -> Path:
        """Where a data folder keeps them."""
        return TRAIT if self.trait else TAU2


def _need(domain: str, names: tuple[str, ...], *more: str, trait: bool = False) -> DataNeed:
    files = (*(f"{domain}/{name}" for name in names), *more)
    return DataNeed(domain=domain, files=tuple(sorted(files)), trait=trait)


NEEDS: Mapping[str, DataNeed] = {
    need.domain: need
    for need in (
        _need("airline", _SINGLE, _GUIDELINES),
        _need("retail", _SINGLE, _GUIDELINES),
        _need("telecom", _DUAL, "user_simulator/simulation_guidelines_tools.md"),
        _need(
            "telehealth",
            (*(f"{name}.json" for name in _RECORDS), "policy.md", "tasks.json", "tools.json"),
            trait=True,
        ),
    )
}
"""What each domain of the paper needs."""


def listing(files: Mapping[str, Path]) -> str:
    """The files' own SHA-256 sums, a line each, sorted by name, as `sha256sum` writes them."""
    return "".join(f"{_sum_of(files[name])}  {name}\n" for name in sorted(files))


def _sum_of(file: Path) -> str:
    return hashlib.sha256(read_bytes(file, MEMORY)).hexdigest()


def digest(files: Mapping[str, Path]) -> str:
    """The SHA-256 of the listing: equal for files that are equal byte for byte, wherever they lie."""
    return hashlib.sha256(listing(files).encode()).hexdigest()
