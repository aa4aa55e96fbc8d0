"""Conversations at once: the committed measurement in small, and that it would see what is wrong."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from benchmarks.conversations import RESULT, load, measured
from benchmarks.server import free_port, started


def test_conversations_at_once_are_answered_each_from_its_own_ledger() -> None:
    figures = asyncio.run(measured(2, 50))
    assert figures["examples"] == []
    assert figures["errors"] == figures["wrong_or_crossed"] == 0
    assert figures["conversations_finished"] >= 50
    assert len(figures["kinds"]) >= 10


def test_without_a_gateway_every_conversation_is_wrong() -> None:
    """The scripted model answers itself: no verdicts, no ledger, and the forbidden call."""

    async def scenario() -> Any:
        port = free_port()
        serve = [sys.executable, "-m", "benchmarks.conversations", "--serve", str(port)]
        async with started(port, serve):
            return await load(f"http://127.0.0.1:{port}", 0, 12)

    tally = asyncio.run(scenario())
    assert len(tally.wrong) == 5 * 12


def test_the_committed_run_was_clean_and_its_memory_bounded() -> None:
    figures = json.loads(RESULT.read_text())["figures"]
    assert figures["errors"] == figures["wrong_or_crossed"] == 0
    memory = figures["gateway_memory_mib"]
    assert memory["after_60_s"] - memory["after_30_s"] < 0.15 * memory["after_30_s"]
