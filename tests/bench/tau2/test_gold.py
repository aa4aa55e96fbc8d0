"""`bench gold` as a process: what it says, and on which stream."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.tau2.test_verb import OFFICIAL, needs_harness
from tests.cli.command import Done, ledgeragent

SOURCE = Path(__file__).parents[3] / "src"


def _words(*domains: str) -> list[str]:
    named = [word for domain in domains for word in ("--domain", domain)]
    return ["bench", "gold", "--tasks", "1", *named]


@needs_harness
def test_the_harness_log_is_in_nobodys_way() -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "LEDGERAGENT_DATA_DIR": ""}
    environment |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    # Started, and no fork of what has imported the harness's libraries: these may say something too.
    command = [sys.executable, "-m", "ledgeragent", *_words("airline", "telecom")]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=False, timeout=300
    )
    assert done.stderr == "" and done.returncode in (0, 1)
    assert [line.split(":")[0] for line in done.stdout.splitlines() if line[0] != " "] == [
        "airline",
        "telecom",
    ]


def _gold(domain: str) -> Done:
    return ledgeragent(*_words(domain), env={"LEDGERAGENT_DATA_DIR": ""})


@needs_harness
@pytest.mark.skipif(OFFICIAL, reason="the official line of the harness has the domain")
def test_a_domain_of_the_official_harness_says_so() -> None:
    done = _gold("banking_knowledge")
    assert done.code == 2 and not done.out
    (line,) = done.err.splitlines()
    assert "there is no domain 'banking_knowledge'" in line and "the official harness" in line


@needs_harness
def test_a_domain_whose_data_is_named_nowhere_says_so() -> None:
    assert "telehealth" in (done := _gold("telehealth")).err and done.code == 2
    assert "LEDGERAGENT_DATA_DIR" in done.err
