"""Console sessions in the docs: a page is played in an empty folder, and shows what was printed.

A block with `title="FILE"` is written to that file. In a `console` block each line that begins with `$ `
is run there, and what it prints follows it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import ledgeragent

SOURCE = Path(ledgeragent.__file__).parents[1]
_BLOCK = re.compile(
    r"^```(?P<kind>\w+)(?: title=\"(?P<file>[^\"]+)\")?\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


def is_played(text: str) -> bool:
    """True if the page holds a console session."""
    return "\n```console\n" in text


def played(text: str) -> str:
    """The page with every console session as it runs now."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        return _BLOCK.sub(lambda block: _after(block, folder), text)


def _after(block: re.Match[str], folder: Path) -> str:
    if block["file"]:
        file = folder / block["file"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block["text"], encoding="utf-8")
    if block["kind"] != "console":
        return block[0]
    lines = "".join(_session(block["text"], folder))
    return f"```console\n{lines}```"


def _session(text: str, folder: Path) -> Iterator[str]:
    for line in text.splitlines():
        if line.startswith("$ "):
            yield f"{line}\n{_printed(line[2:], folder)}"


def _printed(command: str, folder: Path) -> str:
    """The standard output of a command, and what it says on standard error."""
    program, *arguments = shlex.split(command)
    programs = {"ledgeragent": [sys.executable, "-m", "ledgeragent"], "python": [sys.executable]}
    environment = {
        **{name: value for name, value in os.environ.items() if name != "LEDGERAGENT_DATA_DIR"},
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONPATH": str(SOURCE),
    }
    run = subprocess.run(
        [*programs.get(program, [program]), *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    if "Traceback (most recent call last)" in run.stdout:
        raise RuntimeError(f"{command}: exit code {run.returncode}\n{run.stdout}")
    return "".join(f"{line.rstrip()}\n" for line in run.stdout.splitlines())
