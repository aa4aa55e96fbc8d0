"""What no tool can supply is undecided: blocked unless the operator says else, and never plain ALLOW."""

from __future__ import annotations

import json
import logging
from dataclasses import fields
from pathlib import Path

import pytest

from ledgeragent.gate import Gate
from ledgeragent.journal import Journal
from ledgeragent.verdict import Decision
from tests.gateway.conftest import Client
from tests.gateway.world import HELLO, WRITE, run, world
from tests.journal.reading import records_of
from tests.lending.domain import LIBRARY

NARROW = LIBRARY.bind({"lend_book"})


def test_the_tools_of_a_request_excuse_no_rule(client: Client) -> None:
    """What can be read, whoever runs the gateway says; a request lists what may be called now."""

    async def scenario() -> None:
        async with world(WRITE, max_revisions=0) as w:
            got = await client.ask(w, HELLO, tools=("lend_book",))
            assert got.called == []
            assert got.verdicts == "lend_book=REVISE"

    run(scenario())


def test_nor_do_they_add_to_what_the_operator_lists(client: Client) -> None:
    async def scenario() -> None:
        async with world(WRITE, domain=NARROW) as w:
            got = await client.ask(w, HELLO)
            assert got.called == []
            assert got.verdicts == "lend_book=UNDECIDED"
            assert got.reply is not None
            assert got.reply.text == "I can't do that right now."

    run(scenario())


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
@pytest.mark.parametrize("undecided", [Decision.BLOCK, Decision.ALLOW])
def test_every_account_says_undecided(
    client: Client,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    undecided: Decision,
    mode: str,
) -> None:
    file = tmp_path / "journal.jsonl"
    passes = undecided is Decision.ALLOW or mode == "shadow"

    async def scenario() -> None:
        with Journal.open(file, NARROW) as journal:
            async with world(
                WRITE, WRITE, domain=NARROW, undecided=undecided, journal=journal, mode=mode
            ) as w:
                got = await client.ask(w, HELLO)
                assert got.called == (["lend_book"] if passes else [])
                assert got.verdicts == ("" if mode == "shadow" and client.stream else SAID)
                counted = w.gateway.metrics.text()
                assert 'decisions_total{tool="lend_book",decision="UNDECIDED"} 1' in counted
                assert "ALLOW" not in counted

    with caplog.at_level(logging.WARNING, "ledgeragent.gateway"):
        run(scenario())
    (line,) = [record.getMessage() for record in caplog.records]
    assert "UNDECIDED" in line and "lending/available" in line
    assert "B1" not in line, "which record it was is not told"
    (verdict,) = [v for event in records_of(file) for v in event.get("verdicts", ())]
    assert (verdict["word"], verdict["decision"]) == ("UNDECIDED", undecided.name)
    assert json.dumps(verdict)


SAID = "lend_book=UNDECIDED"


def test_a_traced_gate_judges_as_the_one_that_it_traces() -> None:
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    from ledgeragent.gateway.spans import Spans

    gate = Gate(
        domain=NARROW,
        stale="value",
        order="listed",
        budget=7,
        undecided=Decision.ALLOW,
        unknown=Decision.BLOCK,
    )
    spans = Spans(NARROW, "enforce", trace.TracerProvider())
    traced = spans.begin("/v1/messages", {}).gate(gate)
    for field in fields(Gate):
        assert getattr(traced, field.name) == getattr(gate, field.name), field.name
