"""The time of the gateway's decisions: read once for a reply, kept in the journal, the same in a replay."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ledgeragent.journal import Journal, open_store, read
from ledgeragent.journal.transcripts import exported
from ledgeragent.offline.judging import gate_of_records, judge
from ledgeragent.offline.traces import Trace, read_messages
from ledgeragent.predicates import Broken, View, predicate, violation
from tests.gateway.conftest import Client
from tests.gateway.world import KNOWN, WRITE, run, world
from tests.lending.domain import LIBRARY

TIMES: list[str] = []


@predicate("lending/clocked", guards="lend_book")
def clocked(call: Any, view: View) -> Broken | None:
    """Nothing is lent, and the time is told."""
    TIMES.append(view.now)
    return violation("it is {now}", now=view.now)


DOMAIN = replace(LIBRARY, predicates=(clocked,), timed=True)


def test_a_replay_of_the_journal_gives_the_same_verdicts(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"

    async def scenario() -> None:
        journal = Journal(open_store(file, writable=True), DOMAIN)
        async with world(WRITE, WRITE, WRITE, WRITE, domain=DOMAIN, journal=journal) as w:
            await client.ask(w, *KNOWN)
        journal.close()

    run(scenario())
    store = open_store(file)
    records = [*read(store)]
    store.close()
    judged = [record for record in records if record["event"] == "judged"]
    assert judged
    for record in judged:
        told = datetime.fromisoformat(record["now"])
        assert abs(datetime.now(UTC) - told) < timedelta(minutes=5)
    (conversation,) = exported(records)
    trace = Trace(run="r", messages=read_messages(conversation["messages"]))
    again = judge(trace, gate_of_records(DOMAIN))
    reasons = [
        finding["reason"] for r in judged for v in r["verdicts"] for finding in v["findings"]
    ]
    assert {f.reason for call in again for f in call.verdict.findings} <= set(reasons)
    assert again and all(not call.verdict.errors for call in again)


def test_a_journal_of_rules_without_a_clock_has_no_time(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"

    async def scenario() -> None:
        journal = Journal(open_store(file, writable=True), LIBRARY)
        async with world(WRITE, WRITE, journal=journal) as w:
            await client.ask(w, *KNOWN)
        journal.close()

    run(scenario())
    store = open_store(file)
    assert not [record for record in read(store) if "now" in record]
    store.close()
