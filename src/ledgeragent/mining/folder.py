"""The folder of a mined pack: written whole or not at all, for its owner only."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ledgeragent.errors import UsageError


def write_folder(folder: Path, texts: Mapping[str, str]) -> None:
    """Writes these files into a new folder; raises UsageError where there is something already.

    Comments and samples quote what people's records hold, so nobody else may read them.
    """
    if folder.exists():
        raise UsageError(f"{folder} exists already; remove it, or choose another with -o")
    try:
        temporary = Path(tempfile.mkdtemp(dir=folder.absolute().parent, prefix=f".{folder.name}."))
    except OSError as problem:
        raise UsageError(f"cannot write {folder}: {problem.strerror}") from None
    try:
        for name, text in texts.items():
            handle = os.open(temporary / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
        os.rename(temporary, folder)
    except OSError as problem:
        raise UsageError(f"cannot write {folder}: {problem.strerror}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
