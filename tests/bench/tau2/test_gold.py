"""`bench gold` as a process: what it says, and on which stream."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.bench.tau2.test_verb import OFFICIAL, SOURCE, needs_harness


def _gold(*domains: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "LEDGERAGENT_DATA_DIR": ""}
    environment |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    command = [sys.executable, "-m", "ledgeragent", "bench", "gold", "--tasks", "1"]
    command += [word for domain in domains for word in ("--domain", domain)]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, check=False, timeout=300
    )


@needs_harness
def test_the_harness_log_is_in_nobodys_way() -> None:
    done = _gold("airline", "telecom")
    assert done.stderr == "" and done.returncode in (0, 1)
    assert [line.split(":")[0] for line in done.stdout.splitlines() if line[0] != " "] == [
        "airline",
        "telecom",
    ]


@needs_harness
@pytest.mark.skipif(OFFICIAL, reason="the official line of the harness has the domain")
def test_a_domain_of_the_official_harness_says_so() -> None:
    done = _gold("banking_knowledge")
    assert done.returncode == 2 and not done.stdout
    (line,) = done.stderr.splitlines()
    assert "there is no domain 'banking_knowledge'" in line and "the official harness" in line


@needs_harness
def test_a_domain_whose_data_is_named_nowhere_says_so() -> None:
    assert "telehealth" in (done := _gold("telehealth")).stderr and done.returncode == 2
    assert "LEDGERAGENT_DATA_DIR" in done.stderr
