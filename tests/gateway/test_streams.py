"""Streams through a reload, a drain and a kill: the committed measurement in small."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from benchmarks.streams import RESULT, drained, killed, reloaded

COUNT = 8

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGHUP is POSIX")


def test_a_reload_loses_no_stream(tmp_path: Path) -> None:
    figures = asyncio.run(reloaded(tmp_path, COUNT))
    assert figures == {"whole": COUNT, "served_after": True}


def test_a_drain_loses_no_stream(tmp_path: Path) -> None:
    assert asyncio.run(drained(tmp_path, COUNT)) == {"whole": COUNT, "exit_code": 0}


def test_a_kill_releases_no_call_and_tells_every_client(tmp_path: Path) -> None:
    assert asyncio.run(killed(tmp_path, COUNT)) == {
        "told_as_broken": COUNT,
        "with_a_call_that_nobody_recorded": 0,
        "journal_intact": True,
        "whole_when_asked_again": COUNT,
    }


def test_the_committed_run_lost_nothing_in_200() -> None:
    figures = json.loads(RESULT.read_text())["figures"]
    assert figures["streams"] == 200
    assert figures["reloaded"]["whole"] == figures["drained"]["whole"] == 200
    assert figures["killed"]["told_as_broken"] == figures["killed"]["whole_when_asked_again"] == 200
    assert figures["killed"]["with_a_call_that_nobody_recorded"] == 0
