"""Which tasks FAMA's first stage may learn from, so that its arm is not measured on them."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from ledgeragent.files.documents import read_document


def may_learn_from(task: str, domain: str, folder: Path | None) -> bool:
    """True for a task of the harness's own train split; where none is known, for about half of them."""
    train = None if folder is None else _train(folder, domain)
    if train is not None:
        return task in train
    return sha256(f"{domain}/{task}".encode("utf-8", "surrogatepass")).digest()[0] % 2 == 0


@cache
def _train(folder: Path, domain: str) -> frozenset[str] | None:
    file = folder / "benchmarks" / "tau2" / domain / "split_tasks.json"
    if not file.is_file():
        return None
    return frozenset(map(str, read_document(file)["train"]))
