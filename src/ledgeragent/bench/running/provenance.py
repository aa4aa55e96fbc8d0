"""What made a result: this package's version and commit, its packs, the harness, Python, the libraries."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ledgeragent.bench.datasets.needs import digest
from ledgeragent.errors import UsageError
from ledgeragent.packs import load_domain
from ledgeragent.types import Json

_PACKAGE = Path(__file__).parents[2]
_COMMIT = "LEDGERAGENT_COMMIT"


def made_by(domains: Iterable[str], harness: str = "", pack: str | None = None) -> dict[str, Json]:
    """The software behind a result file; `packs` has the digest of each domain's pack, or of `pack`."""
    software: dict[str, Json] = {
        "ledgeragent": _version("ledgeragent"),
        "commit": commit(),
        "source": source(),
        "packs": {domain: _pack(pack or domain) for domain in domains},
        "python": platform.python_version(),
    }
    if harness:
        software |= {"harness": harness, "litellm": _version("litellm")}
    return software


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "unknown"


def _pack(domain: str) -> str:
    try:
        return load_domain(domain).digest
    except UsageError:
        return ""


def commit() -> str:
    """The last commit that changed this package's source, with `-dirty` if it was changed since.

    Where the package does not run from a checkout of its own, what LEDGERAGENT_COMMIT says, as in the
    container, or "".
    """
    root = _PACKAGE.parents[1]
    if _git(root, "rev-parse", "--show-toplevel") != str(root):
        return os.environ.get(_COMMIT, "")
    changed = _git(root, "status", "--porcelain", "--", "src")
    return f"{_git(root, 'log', '-1', '--format=%H', '--', 'src')}{'-dirty' if changed else ''}"


def source() -> str:
    """The SHA-256 of this package's files, made like that of data (`bench data`).

    It tells installed copies of two commits with one version apart, and changes that no commit has.
    """
    files = {
        file.relative_to(_PACKAGE).as_posix(): file
        for file in _PACKAGE.rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
    return f"sha256:{digest(files)}"


def _git(root: Path, *arguments: str) -> str:
    try:
        process = subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return process.stdout.strip() if process.returncode == 0 else ""
