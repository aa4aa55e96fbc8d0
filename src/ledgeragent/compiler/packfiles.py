"""The files of a pack written as data, and those in its folder that are no part of it."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path as FilePath

from ledgeragent.compiler.source.yamlfile import Node, read_yaml
from ledgeragent.errors import DataError

PIECES = (
    "records.yaml",
    "clauses.yaml",
    "rules.yaml",
    "samples.yaml",
    "rules/*.yaml",
    "samples/*.yaml",
)
"""The files of a folder, besides `pack.yaml`, whose sections are put together with it."""


def pack_files(path: FilePath) -> list[FilePath]:
    """The files of a pack, the main one first; raises DataError where there is none."""
    if not path.is_dir():
        return [path]
    main = path / "pack.yaml"
    if not main.exists():
        hint = "; rename pack.yml" if (path / "pack.yml").exists() else ""
        raise DataError(f"this folder holds no pack.yaml{hint}", file=str(path))
    files = {os.path.realpath(file): file for file in reversed(_pieces(path))}
    files.pop(os.path.realpath(main), None)
    return [main, *sorted(files.values())]


def included_files(main: Node) -> list[FilePath]:
    """The files that a pack includes besides its own; raises DataError for what names none."""
    entries = main.value if isinstance(main.value, dict) else {}
    node = entries.get("include")
    if node is None:
        return []
    files = []
    for item in node.value if isinstance(node.value, list) else [node]:
        if not isinstance(item.value, str):
            raise item.error("include should be the name of a file, or a list of them")
        file = FilePath(item.file).parent / item.value
        if not file.is_file():
            raise item.error(f"there is no file {item.value} to include")
        files.append(file)
    return files


def source_files(path: FilePath) -> list[FilePath]:
    """The files that a pack is read from, those that it includes and its tools file among them."""
    files = pack_files(path)
    main = read_yaml(files[0])
    entries = main.value if isinstance(main.value, dict) else {}
    tools = entries.get("tools")
    named = tools.value if tools is not None and isinstance(tools.value, str) else None
    beside = [FilePath(tools.file).parent / named] if tools is not None and named else []
    return [*files, *included_files(main), *beside]


def _pieces(path: FilePath) -> list[FilePath]:
    """The files of these names, links that lead nowhere included: reading them tells what is wrong."""
    names = {*os.listdir(path)}
    files = [path / piece for piece in PIECES if piece in names]
    return [*files, *(file for piece in PIECES if "*" in piece for file in path.glob(piece))]


def unread_files(path: FilePath, files: Collection[FilePath | None]) -> list[FilePath]:
    """YAML files in the folder of a pack that are no part of it: perhaps rules that nobody enforces."""
    if not path.is_dir():
        return []
    parts = {os.path.realpath(file) for file in files if file is not None}
    candidates = (file for pattern in ("*", "rules/*", "samples/*") for file in path.glob(pattern))
    return sorted(
        file
        for file in candidates
        if file.suffix.lower() in (".yaml", ".yml") and os.path.realpath(file) not in parts
    )
