"""A fork is what a start is, and what only a start can tell is left to one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cli.forks import ROOT, forks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each command is started")


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (["--version"], b""),
        ([], b""),
        (["replay", "nowhere.jsonl", "--domain", "shop"], b""),
        (["replay", "-", "--domain", "shop", "--format", "json"], b'{"id": "r", "messages": []}\n'),
        (["check", "shop", "--format", "json"], b""),
        (["check", "examples/parking/pack.yaml", "--format", "json"], b""),
        (["test", "--domain", "examples/parking/pack.yaml"], b""),
        (["explain", "shop/no-such-rule"], b""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_fork_does_what_a_start_does(words: list[str], stdin: bytes) -> None:
    command = [sys.executable, "-m", "ledgeragent", *words]
    started = subprocess.run(command, input=stdin, capture_output=True, check=False, cwd=ROOT)
    near = forks()
    assert near is not None
    told = near.run(words, stdin, os.environ)
    assert told == (started.returncode, started.stdout, started.stderr)


def test_a_fork_has_variables_of_its_own() -> None:
    near = forks()
    assert near is not None
    around = {**os.environ, "LEDGERAGENT_FORMAT": "json"}
    assert near.fits(around)
    assert near.run(["check", "shop"], b"", around)[1].startswith(b"{")
    assert not near.run(["check", "shop"], b"", os.environ)[1].startswith(b"{")


@pytest.mark.parametrize("name", ["PYTHONUTF8", "PYTHONPATH", "LC_ALL", "TZ"])
def test_what_a_start_alone_reads_is_left_to_a_start(name: str) -> None:
    near = forks()
    assert near is not None
    assert not near.fits({**os.environ, name: "another"})
