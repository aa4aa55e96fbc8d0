"""YAML packs: where what a tool returns goes, and what a write makes unknown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledgeragent.absorb import absorb
from ledgeragent.domain import Domain
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger
from ledgeragent.paths import Path as LedgerPath
from ledgeragent.state import State
from ledgeragent.testing import ledger_of
from ledgeragent.types import Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Kind
from tests.compiler.yaml_pack import domain_of, text_of

pytest.importorskip("cel_expr_python")


def read(domain: Domain, tool: str, content: Any, **arguments: Any) -> Ledger:
    """The ledger after one read."""
    call = ToolCall(name=tool, arguments=arguments, id="1")
    return absorb(Ledger(), call, ToolReturn(call_id="1", content=content), domain).ledger


def paths(ledger: Ledger) -> list[str]:
    return sorted(str(entry.path) for entry in ledger)


ROUTES = """\
schema: ledgeragent/v1
domain: routes
records:
  Item: {id: str, n: int}
reads:
  plain: {to: "items.{id}", record: Item}
  renamed: {to: "items.{id}", record: Item, rename: {id: number}}
  wrapped: {to: "items.{id}", record: Item, inside: data.item}
  listed: {to: "items.{id}", record: Item, each: data.items, parameters: [], merge: true}
  bare: {to: "items.{id}", record: Item, each: ., parameters: [text]}
  keyed: {to: "items.{id}", record: Item, each: ., parameters: []}
  word: {to: word, record: str}
  either:
    - {to: "items.{id}", record: Item, when: "args.id.startsWith('I')"}
    - {to: "others.{id}", when: "args.id.startsWith('O')"}
  fails: {to: "items.{id}", record: Item, failed: Sorry, unavailable: "Sorry, never"}
writes:
  change:
    arguments: {id: str, new: str?}
    failed: [Nothing]
    touches:
      - items.{id}: [n]
      - items.{new}
      - word
      - python: tests.compiler.test_routes:touches_others
shared:
  items.{id}: n
"""


def touches_others(arguments: Any, ledger: Ledger) -> Any:
    from ledgeragent.ledger import Touch

    return [Touch(LedgerPath.parse("others.O1"))]


@pytest.mark.parametrize(
    ("tool", "content", "arguments", "stored"),
    [
        ("plain", {"id": "I1", "n": 1}, {"id": "I1"}, ["items.I1"]),
        ("plain", {"n": 1}, {"id": "I1"}, ["items.I1"]),
        ("plain", [1], {"id": "I1"}, ["items.I1"]),  # as text that was not understood
        ("renamed", {"n": 1}, {"number": 7}, ["items.7"]),
        ("wrapped", {"data": {"item": {"id": "I2"}}}, {}, ["items.I2"]),
        ("wrapped", {"data": {}}, {}, []),
        ("listed", {"data": {"items": [{"id": "I1"}, {"id": "I2"}]}}, {}, ["items.I1", "items.I2"]),
        ("listed", {"data": {"items": 3}}, {}, []),
        ("bare", [{"id": "I1"}], {"text": "x"}, ["items.I1"]),
        ("keyed", {"a": {"id": "I1"}, "b": {"id": "I2"}}, {}, ["items.I1", "items.I2"]),
        ("word", "hello", {}, ["word"]),
        ("either", {"n": 1}, {"id": "I1"}, ["items.I1"]),
        ("either", {"n": 1}, {"id": "O1"}, ["others.O1"]),
        ("either", {"n": 1}, {"id": 5}, []),
        ("either", {"n": 1}, {}, []),
        ("fails", "Sorry, try again", {"id": "I1"}, []),
    ],
)
def test_routes(tmp_path: Path, tool: str, content: Any, arguments: Any, stored: list[str]) -> None:
    assert paths(read(domain_of(tmp_path, ROUTES), tool, content, **arguments)) == stored


@pytest.mark.parametrize(
    ("record", "parse", "answer", "stored"),
    [
        ("str", "json", '"C-1"', "C-1"),
        ("str", "json", "C-1", "C-1"),
        ("str", "json", '{"result": "C-1"}', "C-1"),
        ("date", "json", '"2025-03-01"', "2025-03-01"),
        ("[open, closed]", "json", '"open"', "open"),
        ("[open, closed]", "", '"open"', "open"),
        ("[open, closed]", "", '"gone"', None),
        ("str", "json", "7", None),
        ("str", "json", "true", None),
        ("int", "json", "seven", None),
    ],
)
def test_an_answer_that_is_one_text(
    tmp_path: Path, record: str, parse: str, answer: str, stored: str | None
) -> None:
    how = f", parse: {parse}" if parse else ""
    reads = f"get_mark: {{to: 'marks.{{loan_id}}', record: {record}, parameters: [loan_id]{how}}}"
    check = "has(args.card) && string(mark) == args.card"
    pack = text_of(check, requires="{mark: 'marks.{loan_id}'}")
    domain = domain_of(tmp_path, pack.replace("  who: {", f"  {reads}\n  who: {{"))
    ledger = read(domain, "get_mark", answer, loan_id="L1")
    call = ToolCall(
        name="pay", arguments={"loan_id": "L1", "amount": 1.0, "card": stored or answer}
    )
    verdict = Gate(domain=domain).judge(call, ledger)
    assert verdict.allowed is (stored is not None)
    assert all(finding.kind is Kind.EVIDENCE for finding in verdict.findings)


def test_routes_are_inverted(tmp_path: Path) -> None:
    domain = domain_of(tmp_path, ROUTES)
    reads = [str(call) for call in domain.reads_for(LedgerPath.parse("items.I1"))]
    assert 'plain(id="I1")' in reads
    assert 'renamed(number="I1")' in reads
    assert 'either(id="I1")' in reads
    assert [str(call) for call in domain.reads_for(LedgerPath.parse("others.O1"))] == [
        'either(id="O1")'
    ]


def test_what_cannot_be_had(tmp_path: Path) -> None:
    domain = domain_of(tmp_path, ROUTES)
    assert read(domain, "fails", "Sorry, never", id="I1").unavailable
    assert not read(domain, "fails", "Sorry, later", id="I1").unavailable


def test_touches(tmp_path: Path) -> None:
    domain = domain_of(tmp_path, ROUTES)
    records = {"items.I1": {"n": 1}, "items.I2": {"n": 2}, "word": "w", "others.O1": {}}
    state = State(ledger=ledger_of(records, domain))
    call = ToolCall(name="change", arguments={"id": "I1"}, id="1")
    state = state.observe(Reply(calls=(call,)), domain)
    failed = state.observe(ToolReturn(call_id="1", content="Nothing was changed"), domain)
    assert not failed.ledger.writes
    after = state.observe(ToolReturn(call_id="1", content="done"), domain).ledger
    marks = {str(entry.path): [mark.fields for mark in entry.stale] for entry in after}
    assert marks == {"items.I1": [("n",)], "items.I2": [], "word": [()], "others.O1": [()]}


def test_shared_values_are_unknown_after_a_message(tmp_path: Path) -> None:
    domain = domain_of(tmp_path, ROUTES)
    state = State(ledger=ledger_of({"items.I1": {"n": 1}, "word": "w"}, domain))
    after = state.observe(UserMessage(text="hi"), domain).ledger
    assert {str(e.path): [m.fields for m in e.stale] for e in after} == {
        "items.I1": [("n",)],
        "word": [],
    }
