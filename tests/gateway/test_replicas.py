"""Two gateways behind a real load balancer and one database: the committed measurement in small."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("psycopg")
pytest.importorskip("cryptography")

from benchmarks.replicas import RESULT, Outcome, is_sound, journalled, run
from ledgeragent.journal import Journal
from ledgeragent.journal.checkpoints import CheckpointPlan
from ledgeragent.journal.signing import make_keys
from tests.journal.test_journal import BANK, play
from tests.postgres import Unavailable


def test_one_gateway_dies_and_the_database_restarts() -> None:
    try:
        [figures] = run(120, 1)
    except Unavailable as problem:
        pytest.skip(str(problem))
    assert is_sound(figures), figures
    ended = figures["conversations_finished"] + figures["conversations_ended_by_a_lost_answer"]
    assert ended == 120
    assert figures["journal_chains"] >= 2
    assert figures["failures_seen"], "nobody noticed that anything went away"


def test_the_committed_runs_lost_nothing() -> None:
    report = json.loads(RESULT.read_text())
    assert len(report["runs"]) >= 3
    for figures in report["runs"]:
        assert is_sound(figures)
        ended = figures["conversations_finished"] + figures["conversations_ended_by_a_lost_answer"]
        assert ended == 1_000


def test_what_the_journal_lacks_is_seen(database: str, tmp_path: Path) -> None:
    """A verdict that a client heard, and a call that it got, of which the journal knows nothing."""
    key = f"{tmp_path}/key"
    make_keys(Path(key))
    plan = CheckpointPlan(key=key)
    with Journal.open(database, BANK, checkpoints=plan.checkpoints(database)) as journal:
        play(journal)
    outcome = Outcome(
        heard=Counter({("A1", "get_account", "ALLOW"): 1, ("A2", "close_account", "ALLOW"): 1}),
        released=Counter({("A1", "get_account"): 1, ("A1", "close_account"): 1}),
    )
    figures = journalled(outcome, database, key)
    assert figures["journal_holds"]
    assert (figures["verdicts_lost"], figures["calls_released_unjudged"]) == (1, 1)
