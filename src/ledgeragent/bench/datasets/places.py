"""The places that may hold a domain's files: a data folder, a checkout, the installed harness."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

from ledgeragent.bench.datasets.needs import NEEDS, DataNeed
from ledgeragent.bench.datasets.trait import CHECKOUT, converted
from ledgeragent.errors import UsageError
from ledgeragent.files.limits import MEMORY
from ledgeragent.files.reading import read_bytes

Contents: TypeAlias = Mapping[str, bytes]
"""Files by the names of a `DataNeed`."""

_DATA_FOLDER = "the data folder"
_GUIDELINES = "user_simulator/"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPlace:
    """A place with data: what kind it is, and where each needed file lies in it.

    `converts` makes the files of a place that keeps them in another form.
    """

    kind: str
    root: Path
    locate: Callable[[DataNeed, str], Path]
    converts: Callable[[Path], Contents] | None = None
    trait: bool | None = None

    def holds(self, need: DataNeed) -> bool:
        """True if this kind of place may have the domain at all."""
        return self.trait is None or self.trait == need.trait

    def files(self, need: DataNeed) -> dict[str, Path]:
        """The needed files that are here, by name."""
        located = {name: self.locate(need, name) for name in need.files}
        return {name: file for name, file in located.items() if file.is_file()}

    def contents(self, need: DataNeed) -> Contents:
        """The needed files, read or made, by name; DataError where one cannot be."""
        if self.converts is not None:
            return self.converts(self.root)
        return {name: read_bytes(file, MEMORY) for name, file in self.files(need).items()}

    def missing(self, need: DataNeed) -> list[str]:
        """The needed files that are not here; of a place that converts, the folder it converts from."""
        if not self.holds(need):
            return list(need.files)
        if self.converts is not None:
            return []
        return [name for name in need.files if name not in self.files(need)]


def own_folder() -> Path | None:
    """Where the installed harness has its data: in the package, or beside the sources of a checkout.

    None without a harness. Nothing of it is imported: its official line settles on a folder when it is.
    """
    spec = find_spec("tau2")
    if spec is None or spec.origin is None:
        return None
    package = Path(spec.origin).parent
    inside = package / "data"
    return inside if inside.is_dir() else package.parents[1] / "data"


def place_of(folder: Path) -> DataPlace:
    """The place that a named folder is, by what is in it; UsageError if it is none."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder")
    if (folder / "benchmarks").is_dir():
        return _data_folder(folder)
    for inside in (folder / "data", folder):
        if (inside / "tau2" / "domains").is_dir():
            return harness_place(inside, "a checkout of tau2-bench")
    if (folder / CHECKOUT).is_dir():
        return DataPlace(
            kind="a checkout of tau-trait",
            root=folder,
            locate=lambda need, name: folder / name,
            converts=converted,
            trait=True,
        )
    raise UsageError(
        f"{folder} holds no data: it is neither a data folder (benchmarks/), nor a checkout of "
        f"tau2-bench (data/tau2/domains/), nor one of tau-trait ({CHECKOUT.as_posix()}/)"
    )


def _data_folder(folder: Path) -> DataPlace:
    return DataPlace(
        kind=_DATA_FOLDER,
        root=folder,
        locate=lambda need, name: folder / need.folder / name,
    )


def harness_place(inside: Path, kind: str = "the tau2 harness's data") -> DataPlace:
    """The place that a harness reads from: `inside` holds tau2/domains."""

    def locate(need: DataNeed, name: str) -> Path:
        below = inside / "tau2"
        return below / name if name.startswith(_GUIDELINES) else below / "domains" / name

    return DataPlace(kind=kind, root=inside, locate=locate, trait=False)


def installed() -> DataPlace | None:
    """The data that the installed harness brings; None without one."""
    own = own_folder()
    return None if own is None else harness_place(own, "the installed tau2 harness")


def known_places(named: Iterable[Path]) -> Iterator[DataPlace]:
    """The named places, then the installed harness."""
    yield from map(place_of, named)
    if (harness := installed()) is not None:
        yield harness


def chosen(places: Iterable[DataPlace]) -> dict[str, DataPlace]:
    """For each domain, the first place that has all of its files; a domain that none has is left out."""
    listed = list(places)
    return {
        domain: place
        for domain, need in NEEDS.items()
        for place in [next((one for one in listed if not one.missing(need)), None)]
        if place is not None
    }


def guidelines_elsewhere(
    need: DataNeed, place: DataPlace, places: Iterable[DataPlace]
) -> tuple[dict[str, Path], DataPlace | None]:
    """The customer's guidelines that a run reads from a data folder, not from `place`; and which folder.

    The harness has one set for all domains: that of the first data folder that has it. Empty where
    the domain's are of `place` too.
    """
    if need.trait or place.kind == _DATA_FOLDER:
        return {}, None
    names = [name for name in need.files if name.startswith(_GUIDELINES)]
    for folder in places:
        there = folder.files(need) if folder.kind == _DATA_FOLDER else {}
        if located := {name: there[name] for name in names if name in there}:
            return located, folder
    return {}, None
