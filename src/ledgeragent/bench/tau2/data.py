"""Which data a run of the harness uses, newer than it ships with, and a hash that tells them apart."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from ledgeragent.adapters.tau2 import harness
from ledgeragent.errors import MissingExtraError, UsageError

DOMAINS = ("airline", "retail", "telecom", "mock")
ENVIRONMENT = "TAU2_DATA_DIR"
_SHARED = Path("benchmarks", "tau2")
_SIMULATIONS = "simulations"


def lay_out(data_dir: Path, into: Path) -> Path:
    """`into`, holding links to the data of `data_dir` where the harness looks for it."""
    source = data_dir / _SHARED
    if not source.is_dir():
        raise UsageError(f"{data_dir} has no {_SHARED}")
    (into / "tau2" / "domains").mkdir(parents=True, exist_ok=True)
    for name in DOMAINS:
        _link(source / name, into / "tau2" / "domains" / name)
    _link(source / "user_simulator", into / "tau2" / "user_simulator")
    return into


def _link(source: Path, target: Path) -> None:
    if source.is_dir() and not target.is_symlink():
        target.symlink_to(source.resolve(), target_is_directory=True)


def own_folder() -> Path:
    """Where the harness has its data: in the package, or beside the sources of a checkout.

    Nothing of the harness is imported: its official line settles on a folder when it is.
    """
    spec = find_spec("tau2")
    if spec is None or spec.origin is None:
        raise MissingExtraError("the tau2 harness", "tau2")
    package = Path(spec.origin).parent
    inside = package / "data"
    return inside if inside.is_dir() else package.parents[1] / "data"


def keep_results(own: Path, into: Path) -> None:
    """Has results below `into` end up in the harness's `own` folder, where its viewer looks for them.

    Where that can't be written, they go below the working directory.
    """
    folder = own / _SIMULATIONS
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path.cwd() / _SIMULATIONS
        folder.mkdir(exist_ok=True)
    _link(folder, into / _SIMULATIONS)


def select(folder: Path) -> None:
    """Has the harness read its data from `folder`; must come before anything else of it."""
    os.environ[ENVIRONMENT] = str(folder)
    # One line of the harness takes the variable, the other keeps the folder in its own modules.
    for module in (harness("tau2.utils.utils"), harness("tau2.utils")):
        if hasattr(module, "DATA_DIR"):
            module.DATA_DIR = folder


def in_use() -> Path:
    """The folder that the harness reads."""
    folder: Path = harness("tau2.utils.utils").DATA_DIR
    return folder


def digest(folder: Path, domain: str) -> str:
    """The SHA-256 of a domain's data files below `folder`: their names and contents."""
    where = folder / "tau2" / "domains" / domain
    return digest_of(where, (f for f in where.rglob("*") if f.is_file()))


def digest_of(root: Path, files: Iterable[Path]) -> str:
    """The SHA-256 of some files below `root`: their names and contents."""
    total = hashlib.sha256()
    for file in sorted(files):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        total.update(f"{file.relative_to(root)} {content}\n".encode())
    return total.hexdigest()
