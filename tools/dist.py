"""Builds the wheel and the source distribution, and plays the demo from each: `python -m tools.dist`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.markdown import ROOT

DIST = ROOT / "dist"


def build() -> list[Path]:
    """The files in dist/, made anew."""
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", DIST, ROOT], check=True)
    return sorted(DIST.iterdir())


def play(package: Path) -> None:
    """Installs a package into an empty environment and runs the demo there."""
    with TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        scripts = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin")
        pip = [str(scripts / "python"), "-m", "pip", "install", "--quiet", str(package)]
        subprocess.run([*pip, "--disable-pip-version-check"], check=True, cwd=folder)
        command = [str(scripts / "ledgeragent"), "demo", "--plain"]
        shown = subprocess.run(
            command, check=True, cwd=folder, capture_output=True, encoding="utf-8"
        )
        assert "with LedgerAgent 3 of 3" in shown.stdout, shown.stdout
    print(f"{package.name}: the demo runs")


def main() -> None:
    """Builds and tries both."""
    packages = build()
    assert [package.suffix for package in packages] == [".whl", ".gz"], packages
    for package in packages:
        play(package)


if __name__ == "__main__":
    main()
