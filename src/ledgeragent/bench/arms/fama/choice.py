"""The choice of FAMA's first stage: per model and domain, the helpers to run with, and why."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ledgeragent.bench.arms.fama.causes import CAUSES
from ledgeragent.bench.arms.helpers import HELPERS
from ledgeragent.errors import DataError
from ledgeragent.files.documents import read_document
from ledgeragent.files.private import write_private


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperChoice:
    """For a model in a domain: `helpers`, from `failed` runs of these `tasks`.

    `causes` and `votes` say how many failed runs had each cause, and how many called for each helper.
    """

    model: str
    domain: str
    helpers: tuple[str, ...]
    failed: int
    causes: Mapping[str, int]
    votes: Mapping[str, int]
    tasks: tuple[str, ...]


def choose(
    looked_at: Mapping[tuple[str, str], set[str]], rows: Iterable[Mapping[str, Any]], share: float
) -> list[HelperChoice]:
    """For every model and domain: the helpers that at least this share of its failed runs calls for.

    Where failures agree on none that much, the one that most call for; none where nothing failed.
    """
    by_group: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        by_group[row["model"], row["domain"]].append(row)
    return [
        _choice(model, domain, tasks, by_group[model, domain], share)
        for (model, domain), tasks in sorted(looked_at.items())
    ]


def _choice(
    model: str, domain: str, tasks: set[str], rows: list[Mapping[str, Any]], share: float
) -> HelperChoice:
    votes = Counter(name for row in rows for name in row["helpers"])
    causes = Counter(name for row in rows for name in row["causes"])
    most = max(votes.values(), default=0)
    needed = min(share * len(rows), most)
    return HelperChoice(
        model=model,
        domain=domain,
        helpers=tuple(name for name in HELPERS if votes[name] and votes[name] >= needed),
        failed=len(rows),
        causes={name: causes[name] for name in CAUSES},
        votes={name: votes[name] for name in HELPERS},
        tasks=tuple(sorted(tasks)),
    )


def write(file: Path, choices: Iterable[HelperChoice], made_by: Mapping[str, Any]) -> None:
    """The choices as a file, with what they were made by."""
    content = {"made_by": dict(made_by), "choices": [asdict(choice) for choice in choices]}
    write_private(file, (json.dumps(content, indent=1) + "\n").encode())


def read(file: str) -> list[HelperChoice]:
    """The choices that a file holds; DataError if it is none."""
    try:
        listed = read_document(file)["choices"]
        return [
            HelperChoice(**{**one, "helpers": tuple(one["helpers"]), "tasks": tuple(one["tasks"])})
            for one in listed
        ]
    except (ValueError, KeyError, TypeError):
        raise DataError("no choice of helpers", file=file) from None


def chosen(file: str, model: str, domain: str) -> tuple[str, ...]:
    """The helpers that a file has for a model in a domain; DataError where it has none for it."""
    for choice in read(file):
        if (choice.model, choice.domain) == (model, domain):
            return choice.helpers
    raise DataError(f"no choice for {model} in {domain}", file=file)
