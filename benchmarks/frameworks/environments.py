"""Environments: each script of a client gets its own, from the lines at its head (PEP 723).

They are kept under a folder of the user's cache, or `LEDGERAGENT_ENVIRONMENTS`, by what is installed
in them: a script whose lines have not changed is not installed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_HEAD = re.compile(
    r"(?m)^(?P<mark>#|//) /// script$\n(?P<lines>(?:^(?P=mark)(?: .*)?$\n)+?)^(?P=mark) ///$"
)
_PATIENCE = 1200.0
_LISTING = """
import importlib.metadata, json
print(json.dumps([(each.name, each.version) for each in importlib.metadata.distributions()]))
"""


class InstallationError(RuntimeError):
    """A client that cannot be installed here; says what the installer said last."""


@dataclass(frozen=True, slots=True)
class Script:
    """One client: its file, what it needs from PyPI and from npm, whether it connects per call."""

    file: Path
    dependencies: tuple[str, ...]
    npm: tuple[str, ...]
    reconnects: bool
    about: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> Script:
        """The script with what its head says."""
        text = file.read_text(encoding="utf-8")
        head = _HEAD.search(text)
        assert head is not None, f"{file}: no lines of PEP 723 at its head"
        mark = len(head["mark"]) + 1
        lines = "\n".join(line[mark:] for line in head["lines"].splitlines())
        data: dict[str, Any] = tomllib.loads(lines)
        own = data.get("tool", {}).get("ledgeragent", {})
        about = text.split("/**" if file.suffix == ".mjs" else '"""')[1].split("*/")[0]
        return cls(
            file,
            tuple(data.get("dependencies", ())),
            tuple(own.get("npm", ())),
            bool(own.get("reconnects")),
            about,
            own,
        )

    def installed(self, folder: Path) -> Path:
        """The script beside its environment's modules, where Node looks for them."""
        for file in {self.file, *self.file.parent.glob("_*.mjs")}:
            shutil.copy(file, folder / file.name)
        return folder / self.file.name


def cache_folder() -> Path:
    """Where environments are kept: outside of the checkout, unless the variable says otherwise."""
    default = Path.home() / ".cache" / "ledgeragent" / "environments"
    return Path(os.environ.get("LEDGERAGENT_ENVIRONMENTS", default))


def environment_of(script: Script) -> Path:
    """The folder of a script's environment, made if it isn't there. Raises InstallationError."""
    needs = json.dumps([script.dependencies, script.npm, sys.version_info[:2]])
    name = f"{script.file.stem}-{hashlib.sha256(needs.encode()).hexdigest()[:8]}"
    folder = cache_folder() / name
    if not (folder / "ready").exists():
        folder.mkdir(parents=True, exist_ok=True)
        if script.file.suffix != ".mjs":
            _run([*_maker(), str(folder)], folder)
        if script.dependencies:
            _run([*_installer(folder), *script.dependencies], folder)
        if script.npm:
            _run(["npm", "install", "--no-audit", "--no-fund", *script.npm], folder)
        (folder / "ready").touch()
    return folder


def _maker() -> list[str]:
    """The command that makes an environment, likewise."""
    if shutil.which("uv"):
        return ["uv", "venv", "-q", "--allow-existing", "--python", sys.executable]
    return [sys.executable, "-m", "venv"]


def _installer(folder: Path) -> list[str]:
    """The command that installs into an environment: uv's where there is one, which is faster."""
    python = str(python_of(folder))
    if shutil.which("uv"):
        return ["uv", "pip", "install", "-q", "--python", python]
    return [python, "-m", "pip", "install", "-q"]


def python_of(folder: Path) -> Path:
    """The Python of an environment."""
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def versions_in(folder: Path, script: Script) -> dict[str, str]:
    """The versions of what a script asks for."""
    versions = _versions_of_python(folder, script) if python_of(folder).exists() else {}
    for need in script.npm:
        name = need[0] + need[1:].partition("@")[0]
        package = folder / "node_modules" / name / "package.json"
        versions[name] = json.loads(package.read_text())["version"]
    return dict(sorted(versions.items()))


def _versions_of_python(folder: Path, script: Script) -> dict[str, str]:
    listed = _run([str(python_of(folder)), "-c", _LISTING], folder)
    installed = {name.lower().replace("_", "-"): version for name, version in json.loads(listed)}
    names = {re.split(r"[<>=\[]", need)[0].lower() for need in (*script.dependencies, "mcp")}
    return {name: installed[name] for name in sorted(names) if name in installed}


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        raise InstallationError(lines[-1])
    return done.stdout
