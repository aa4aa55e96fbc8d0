"""A verdict as data and back: nothing of a finding is lost, and nothing redacted is written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.journal.redaction import REDACTED, Redaction
from ledgeragent.journal.verdicts import (
    finding_json,
    finding_of,
    finding_row,
    verdict_json,
    verdict_of,
)
from ledgeragent.ledger import Evidence
from ledgeragent.paths import Path
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Decision, Enforcement, Finding, Kind, Verdict

WORDS = st.text(st.characters(codec="utf-8"), max_size=8)
SEGMENTS = st.lists(WORDS, min_size=1, max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)
CALLS = st.builds(
    ToolCall,
    name=WORDS,
    arguments=st.dictionaries(WORDS, VALUES, max_size=2),
    id=WORDS,
    malformed=st.none() | WORDS,
)
FACTS = st.builds(
    Evidence,
    record=SEGMENTS.map(Path),
    fields=st.lists(WORDS, max_size=2).map(tuple),
    value=VALUES,
    source=st.builds(ToolCall, name=WORDS),
    turn=st.integers(0, 9),
)
CALL_LISTS = st.lists(CALLS, max_size=2).map(tuple)
FINDINGS = st.builds(
    Finding,
    kind=st.sampled_from(Kind),
    predicate=WORDS,
    clause=st.none() | WORDS,
    decision=st.sampled_from(Decision),
    reason=WORDS,
    reads=CALL_LISTS,
    evidence=st.lists(FACTS, max_size=2).map(tuple),
    enforcement=st.sampled_from(Enforcement),
    error=st.none() | WORDS,
    waits_for=CALL_LISTS,
    public=WORDS,
)
FINDING_LISTS = st.lists(FINDINGS, max_size=2).map(tuple)

REFUND = ToolCall(name="refund", arguments={"order_id": "W1", "reason": "lost"}, id="c2")
FACT = Evidence(Path(("orders", "W1")), ("email",), "ada@x", ToolCall(name="get_order"), 2)
FINDING = Finding(
    kind=Kind.VIOLATION,
    predicate="shop/owner",
    clause=None,
    decision=Decision.BLOCK,
    reason="the order is of ada@x",
    reads=(REFUND,),
    evidence=(FACT,),
    waits_for=(REFUND,),
    public="the order is of somebody else",
)


def travelled(data: dict[str, Json]) -> Any:
    """The data after a journal has written and read it."""
    return json.loads(json.dumps(data))


@given(FINDINGS)
def test_a_finding_comes_back_as_it_was(finding: Finding) -> None:
    assert finding_of(travelled(finding_json(finding))) == finding


@given(CALLS, st.sampled_from(Decision), FINDING_LISTS, FINDING_LISTS)
def test_a_verdict_comes_back_as_it_was(
    call: ToolCall,
    decision: Decision,
    findings: tuple[Finding, ...],
    shadow: tuple[Finding, ...],
) -> None:
    verdict = Verdict(call, decision, findings, shadow)
    data = travelled(verdict_json(verdict))
    assert verdict_of(data) == verdict
    assert data["word"] == verdict.word


def test_every_field_of_a_finding_is_written() -> None:
    assert finding_json(FINDING).keys() == set(Finding._fields)


def test_redacted_values_are_in_no_part_of_a_finding() -> None:
    data = finding_json(FINDING, Redaction(["orders.*.email", "args.reason"]))
    text = json.dumps(data)
    assert "ada@x" not in text and "lost" not in text and "somebody" not in text
    [fact] = finding_of(data).evidence
    assert (fact.path, fact.value) == ("orders.W1.email", REDACTED)


def test_a_call_whose_arguments_are_redacted_comes_back_without_them() -> None:
    data = travelled(finding_json(FINDING, Redaction(["args"])))
    [read] = finding_of(data).reads
    assert (read.name, dict(read.arguments), read.malformed) == (REFUND.name, {}, REDACTED)
    assert str(read) == f"{REFUND.name}({REDACTED})"


def test_a_row_has_the_words_of_the_finding() -> None:
    row = finding_row(FINDING)
    assert row["decision"] == "block" and row["reason"] == FINDING.reason
    assert finding_row(FINDING._replace(error="KeyError: 'x'"))["reason"] == "KeyError: 'x'"
    assert row.keys() < finding_json(FINDING).keys()


def test_a_finding_of_an_older_journal_is_read() -> None:
    data = finding_json(FINDING)
    [fact] = data["evidence"]
    del fact["fields"], data["waits_for"], data["public"]
    finding = finding_of(data)
    assert (finding.waits_for, finding.public) == ((), "")
    assert [fact.path for fact in finding.evidence] == ["orders.W1.email"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"kind": "gossip"}, "no finding: 'gossip' is not a valid Kind"),
        ({"decision": "MAYBE"}, "no finding: there is no 'MAYBE'"),
        (
            {"reads": [{"name": "get_order"}]},
            "no finding: this is no call: there is no 'arguments'",
        ),
        ({"evidence": [{"path": "a..b"}]}, "no finding: this is no fact: "),
        ({"evidence": 3}, "no finding: "),
    ],
)
def test_what_is_no_finding_says_why(change: dict[str, Json], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        finding_of({**finding_json(FINDING), **change})
