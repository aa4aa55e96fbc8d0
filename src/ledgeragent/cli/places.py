"""Places of recorded runs on the command line: files, folders, patterns, and objects in a store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from errno import ENOENT
from glob import glob
from pathlib import Path

from ledgeragent.errors import DataError
from ledgeragent.files.objects import bytes_of, is_object, is_wild, objects_at
from ledgeragent.offline.folders import results_folders

_ENDINGS = (
    ".json",
    ".jsonl",
    ".ndjson",
    ".gz",
    ".zst",
    ".bz2",
    ".xz",
    ".parquet",
    ".eval",
    ".sqlite",
    ".sqlite3",
    ".db",
)


def files_in(places: Sequence[str]) -> list[str]:
    """The files of a command: those in folders and stores, in their order, by how their names end.

    A harness's folder of results stands for itself, and so does what a place or a pattern names.
    Raises DataError for a place without any.
    """
    return [file for place in places for file in _files_at(place)]


def bytes_in(files: Sequence[str]) -> int:
    """How many bytes the files have together, standard input apart."""
    here = sum(os.path.getsize(file) for file in files if file != "-" and os.path.isfile(file))
    return here + bytes_of([file for file in files if is_object(file)])


def _files_at(place: str) -> list[str]:
    if is_object(place):
        return _objects_at(place)
    if place == "-" or os.path.isfile(place):
        return [place]
    folder = Path(place)
    if folder.is_dir():
        inside = _files_below(folder)
    elif is_wild(place) and not os.path.lexists(place):
        inside = sorted(file for file in glob(place, recursive=True) if os.path.isfile(file))
        if not inside:
            raise DataError("no file fits this pattern", file=place)
    elif os.path.lexists(place):
        return [place]
    else:
        raise DataError(os.strerror(ENOENT), file=place)
    if not inside:
        raise DataError(f"no file in it ends in {', '.join(_ENDINGS)}", file=place)
    return inside


def _objects_at(place: str) -> list[str]:
    names = [*objects_at(place)]
    if names != [place] and not is_wild(place):
        names = [name for name in names if name.lower().endswith(_ENDINGS)]
    if not names and is_wild(place):
        raise DataError("no object fits this pattern", file=place)
    if not names:
        raise DataError(
            f"no object there, or none whose name ends in {', '.join(_ENDINGS)}", file=place
        )
    return names


def _files_below(folder: Path) -> list[str]:
    wholes = results_folders(folder)
    apart = (file for file in folder.rglob("*") if _is_recorded(file, folder))
    alone = [file for file in apart if wholes.isdisjoint(file.parents)]
    return sorted(map(str, (*wholes, *alone)))


def _is_recorded(file: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return file.suffix.lower() in _ENDINGS and file.is_file() and not hidden
