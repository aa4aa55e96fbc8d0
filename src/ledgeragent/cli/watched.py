"""The files that a gateway is read from and that may change while it runs, each with a mark."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from ledgeragent.packs import is_data

FileMarks: TypeAlias = dict[str, tuple[int, int, int]]
"""By file, what changes when it does."""


def pack_marks(name: str | None) -> FileMarks:
    """The marks of a pack written as data, with what it includes and its tools; else there are none.

    The folder of a pack stands for what may come into it.
    """
    return marks_of([name, *_sources(name)]) if name is not None and is_data(name) else {}


def marks_of(places: Iterable[str]) -> FileMarks:
    """The marks of those of these files and folders that are there."""
    marks: FileMarks = {}
    for place in map(Path, places):
        for file in (place, *_inside(place)):
            with suppress(OSError, ValueError):
                info = file.stat()
                marks[str(file)] = (info.st_mtime_ns, info.st_size, info.st_ino)
    return marks


def _inside(place: Path) -> list[Path]:
    try:
        return [*place.rglob("*.y*ml"), *place.rglob("*.cel")] if place.is_dir() else []
    except OSError:  # A folder that is just being replaced.
        return []


def _sources(pack: str) -> list[str]:
    from ledgeragent.compiler.packfiles import source_files

    try:
        return [str(file) for file in source_files(Path(pack))]
    except Exception:  # What cannot be read just now is told by the reload that it leads to.
        return []
