"""Reads a pack's `clauses.toml`: every policy clause, with its predicates or why it has none."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from ledgeragent.domain import Clause
from ledgeragent.errors import DataError


def read_clauses(package: str) -> tuple[Clause, ...]:
    """The clauses of the pack in `package`, in the file's order."""
    file = files(package) / "clauses.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    return tuple(_clause(item, str(file)) for item in table["clause"])


def _clause(item: dict[str, object], file: str) -> Clause:
    clause = Clause(
        id=str(item["id"]),
        section=str(item["section"]),
        summary=str(item["summary"]),
        checkable=str(item["checkable"]),
        predicates=tuple(item.get("predicates", ())),  # type: ignore[arg-type]
        why=str(item.get("why", "")),
    )
    if clause.checkable not in Clause.CHECKABLE:
        raise DataError(f"{clause.id}: checkable must be one of {Clause.CHECKABLE}", file=file)
    if not clause.predicates and not clause.why:
        raise DataError(f"{clause.id} has neither predicates nor a reason why not", file=file)
    return clause
