"""Files that are no text: databases and archives of known tools are unpacked, others named."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
import zlib
from importlib import import_module
from pathlib import Path

from ledgeragent.files.documents import DocumentBudget
from ledgeragent.files.limits import MEMORY, most_bytes
from ledgeragent.offline.forms.agentssdk import MAGIC as SQLITE
from ledgeragent.offline.forms.agentssdk import sessions_in, with_journal
from ledgeragent.types import Json

_ZIP = b"PK\x03\x04"
_ENTRY = b"PK\x01\x02"
_MOST_ENTRIES = 50_000
_OTHERS = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"RIFF": "an image or a sound",
    b"%PDF": "a PDF document",
    b"ARROW1": "an Arrow table; write it as Parquet or JSON Lines",
}


def is_packed(head: bytes) -> bool:
    """True for the first bytes of a file that is no text."""
    return head.startswith((SQLITE, _ZIP, *_OTHERS))


def unpacked(content: bytes, file: str) -> bytes:
    """The JSON document that a file holds; raises ValueError where it holds none that is known.

    DataError for one that would be too large.
    """
    if content.startswith(SQLITE):
        return json.dumps(sessions_in(with_journal(file, content))).encode()
    if content.startswith(_ZIP):
        try:
            return json.dumps(_inspect_log(content, file)).encode()
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as problem:
            raise ValueError(f"the archive is damaged: {problem}") from None
    kind = next(name for head, name in _OTHERS.items() if content.startswith(head))
    raise ValueError(f"it holds no conversation: it is {kind}")


def _inspect_log(content: bytes, file: str) -> Json:
    """An `.eval` log of inspect_ai, by its own reader where that is installed."""
    if content.count(_ENTRY) > _MOST_ENTRIES:
        raise ValueError(f"it is an archive of more than {_MOST_ENTRIES:,} files, and no log")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        size = sum(info.file_size for info in archive.infolist())
        if size > most_bytes():
            raise MEMORY.refusal("unpacked, it would take more memory than one document may", file)
        if "header.json" not in names and not any(n.startswith("samples/") for n in names):
            raise ValueError("it holds no conversation: it is an archive, and no log of inspect_ai")
    try:
        inspect_log = import_module("inspect_ai.log")
    except ImportError:
        return _read_plainly(content, file)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.eval"
        log.write_bytes(content)
        return json.loads(inspect_log.read_eval_log(str(log)).model_dump_json())


def _read_plainly(content: bytes, file: str) -> Json:
    """The log without the library: its samples are JSON files of the archive."""
    budget = DocumentBudget(file)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        try:
            # So zipfile calls a password, and by a subclass a compression that it lacks.
            members = {name: archive.read(name) for name in archive.namelist() if _is_needed(name)}
        except RuntimeError as problem:
            raise ValueError(
                f"it is packed in a way that takes inspect_ai to read: pip install inspect-ai ({problem})"
            ) from None
    header = budget.parse(members.pop("header.json", b"{}"), f"{file}/header.json")
    samples = [budget.parse(members[name], f"{file}/{name}") for name in sorted(members)]
    return {"eval": header.get("eval", {}) if isinstance(header, dict) else {}, "samples": samples}


def _is_needed(name: str) -> bool:
    return name == "header.json" or (name.startswith("samples/") and name.endswith(".json"))
