"""Which data a run of the harness uses, newer than it ships with, and which files of it a run reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ledgeragent.adapters.tau2 import harness
from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.bench.datasets.needs import NEEDS, TAU2
from ledgeragent.bench.datasets.places import harness_place, installed, place_of
from ledgeragent.errors import MissingExtraError

ENVIRONMENT = "TAU2_DATA_DIR"
_SIMULATIONS = "simulations"


def lay_out(data_dir: Path, into: Path) -> Path:
    """`into`, holding links to data where the harness looks for it: that of `data_dir`, domain by domain.

    What `data_dir` lacks, or has only in part, is the harness's own.
    """
    source, own = data_dir / TAU2, own_folder() / "tau2"
    domains = into / "tau2" / "domains"
    domains.mkdir(parents=True, exist_ok=True)
    for folder in _whole_domains(source):
        _link(folder, domains / folder.name)
    for folder in _folders(own / "domains"):
        _link(folder, domains / folder.name)
    simulator = into / "tau2" / "user_simulator"
    simulator.mkdir(exist_ok=True)
    for root in (source, own):
        for file in sorted((root / simulator.name).glob("*")):
            _link(file, simulator / file.name)
    return into


def _whole_domains(source: Path) -> Iterator[Path]:
    place = place_of(source.parents[1]) if source.is_dir() else None
    for folder in _folders(source):
        need = NEEDS.get(folder.name)
        if place is not None and (need is None or not place.missing(need)):
            yield folder


def _folders(root: Path) -> list[Path]:
    return sorted(folder for folder in root.iterdir() if folder.is_dir()) if root.is_dir() else []


def _link(source: Path, target: Path) -> None:
    if source.exists() and not target.is_symlink():
        target.symlink_to(source.resolve(), target_is_directory=source.is_dir())


def own_folder() -> Path:
    """Where the harness has its data; MissingExtraError where it is not installed."""
    place = installed()
    if place is None:
        raise MissingExtraError("the tau2 harness", "tau2")
    return place.root


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


def files_of(domain: str) -> dict[str, Path]:
    """The files that a run of the domain reads, by name; all of its folder's for one of no paper."""
    need = NEEDS.get(domain)
    named = os.environ.get(DATA_DIR)
    if need is not None and need.trait:
        return place_of(Path(named)).files(need) if named else {}
    if need is not None:
        return harness_place(in_use()).files(need)
    where = in_use() / "tau2" / "domains"
    files = (file for file in (where / domain).rglob("*") if file.is_file())
    return {file.relative_to(where).as_posix(): file for file in files}


def lacking(domain: str) -> list[str]:
    """The files that a run of the domain would read and that are not there."""
    need = NEEDS.get(domain)
    return [] if need is None else sorted(set(need.files) - files_of(domain).keys())
