"""Which pack gave a verdict: a digest over the files that make it up."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from ledgeragent.files.reading import read_bytes

_SUFFIXES = {".py", ".toml", ".json", ".yaml", ".yml"}


def digest_of(place: Path, included: Iterable[Path] = ()) -> str:
    """The SHA-256, in hex, over names and contents of a pack's file, or of the files in its folder.

    Files that it includes from elsewhere count by name and content, wherever they stand.
    """
    files = [place] if place.is_file() else sorted(f for f in place.rglob("*") if f.is_file())
    total = hashlib.sha256()
    for file in files:
        if file.suffix in _SUFFIXES:
            name = file.name if file == place else file.relative_to(place).as_posix()
            content = hashlib.sha256(read_bytes(file)).hexdigest()
            total.update(f"{name}\0{content}\n".encode())
    for file in included:
        content = hashlib.sha256(read_bytes(file)).hexdigest()
        total.update(f"{file.name}\0{content}\n".encode())
    return total.hexdigest()
