"""Samples: every pack's own are as they say, and one that is not says why."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.compiler.problems import Place
from ledgeragent.compiler.samples import SIDES, Sample, run, sample_of, samples_from_json
from ledgeragent.domain import Domain
from ledgeragent.effects import Read, Write, touch
from ledgeragent.errors import DataError
from ledgeragent.gate import Gate
from ledgeragent.packs import PACKS, load_domain
from ledgeragent.packs import versions as versions_of
from ledgeragent.paths import PathTemplate
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.types import Reply
from ledgeragent.verdict import Decision, Enforcement, Kind

SOURCE = Path(__file__).parents[2] / "src"
PLACE = Place("pack.yaml", 3)
BOX = PathTemplate("boxes.{box_id}", dict[str, str])
UNDECIDED = Kind.UNDECIDED
FULL_LINE = re.compile(r"[^{}\n]+")
CALL = {"name": "open", "arguments": {"box_id": "b"}}


@predicate("box/locked", guards="open", decision=Decision.BLOCK)
def locked(call: Any, ledger: View) -> Broken | None:
    """Only unlocked boxes open."""
    return violation("locked") if ledger[BOX(call["box_id"])]["state"] == "locked" else None


@predicate("box/broken", guards="smash")
def broken(call: Any, ledger: View) -> Broken | None:
    """Fails."""
    raise ZeroDivisionError


DOMAIN = Domain(
    name="box",
    version="1",
    tools=(
        Read(tool="look", to=BOX, parameters=("box_id",)),
        Write(tool="open", arguments=dict, touches=(touch(BOX, "state"),)),
        Write(tool="smash", arguments=dict),
    ),
    predicates=(locked, broken),
)


def sample(side: Any, state: str | None, rule: str = "box/locked", **more: Any) -> Sample:
    ledger = {} if state is None else {"boxes.b": {"state": state}}
    return sample_of({"ledger": ledger, "call": CALL, **more}, rule, side, PLACE)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (sample("allowed", "open"), ""),
        (sample("rejected", "locked"), ""),
        (sample("rejected", None), ""),
        (sample("rejected", "open", writes=[CALL]), ""),
        (sample("allowed", "locked"), "it is not allowed: box/locked: locked"),
        (sample("rejected", "open"), "box/locked does not reject it"),
        (sample("rejected", "locked", rule="box/other"), "box/other does not reject it"),
        (
            sample("rejected", None, call={"name": "smash"}, rule="box/broken"),
            "box/broken failed: ZeroDivisionError: ",
        ),
    ],
)
def test_outcomes(given: Sample, problem: str) -> None:
    outcome = run(given, DOMAIN)
    assert outcome.problem == problem
    assert outcome.passed is (problem == "")


def test_a_rule_in_the_shadow_is_tested_there() -> None:
    audited = replace(DOMAIN, predicates=(replace(locked, enforcement=Enforcement.AUDIT),))
    assert run(sample("rejected", "locked"), audited).passed
    assert "box/locked: locked" in run(sample("allowed", "locked"), audited).problem


def test_writes_are_part_of_the_history() -> None:
    ledger = sample("allowed", "open", writes=[CALL, CALL]).state(DOMAIN)
    assert [write.name for write in ledger.writes] == ["open", "open"]
    assert next(iter(ledger)).stale


def test_what_was_said_is_heard_by_a_domain_that_listens() -> None:
    said = [{"user": "open it"}, {"agent": "I will"}]
    spoken = sample("allowed", "open", said=said)
    heard = spoken.state(replace(DOMAIN, listens=True)).utterances
    assert [(u.speaker, u.text) for u in heard] == [("user", "open it"), ("agent", "I will")]
    assert spoken.state(DOMAIN).utterances == ()


@pytest.mark.parametrize("name", PACKS)
def test_samples_of_the_shipped_packs(name: str) -> None:
    folder = SOURCE / Path(*PACKS[name].split("."))
    samples = samples_from_json(folder / "samples.json")
    assert len(samples) >= 2 * len(load_domain(name).predicates)
    for version, domain in versions_of(name).items():
        rules = {rule.id for rule in domain.predicates}
        spoken = [s for s in samples if s.rule in rules and s.speaks_of(version)]
        assert not [f"{s.place} {p}" for s in spoken if (p := run(s, domain).problem)]
        assert {(s.rule, s.side) for s in spoken} == {(r, side) for r in rules for side in SIDES}


@pytest.mark.parametrize("name", PACKS)
def test_reasons_are_whole_lines_that_name_no_rule(name: str) -> None:
    samples = samples_from_json(SOURCE / Path(*PACKS[name].split(".")) / "samples.json")
    for version, domain in versions_of(name).items():
        for each in samples:
            if each.speaks_of(version):
                verdict = run(each, domain).verdict
                found = [f for f in (*verdict.findings, *verdict.shadow) if f.kind is not UNDECIDED]
                assert {f.kind for f in found} <= {Kind.VIOLATION, Kind.EVIDENCE}, each.place
                assert each.side == "rejected" or not found, each.place
                assert all(FULL_LINE.fullmatch(f.reason) for f in found), each.place
                assert not [f for f in found if f"{name}/" in f.reason], each.place


@pytest.mark.parametrize("name", PACKS)
def test_what_a_customer_is_told_names_no_tool(name: str) -> None:
    samples = samples_from_json(SOURCE / Path(*PACKS[name].split(".")) / "samples.json")
    for version, domain in versions_of(name).items():
        tools = re.compile("|".join(rf"\b{tool.tool}\b" for tool in domain.tools))
        for each in samples:
            if each.speaks_of(version):
                reply = Reply(calls=(each.call,))
                told = Gate(domain=domain).filter(reply, each.state(domain)).refusal
                assert not tools.search(told), f"{each.rule}: {told}"


@pytest.mark.parametrize(
    "item",
    [
        {},
        [],
        {"call": {}},
        {"call": {"name": 3}},
        {"call": {"name": "x", "arguments": 3}},
        {"call": CALL, "ledger": []},
        {"call": CALL, "writes": [3]},
        {"call": CALL, "writes": 3},
        {"call": CALL, "versions": [3]},
        {"call": CALL, "said": "hello"},
        {"call": CALL, "said": [{"tool": "hello"}]},
        {"call": CALL, "said": [{"user": "hello", "agent": "hello"}]},
        {"call": CALL, "said": [{"user": 3}]},
    ],
)
def test_a_sample_that_is_none(item: Any) -> None:
    with pytest.raises(DataError, match=r"pack\.yaml:3: a sample of r is \{ledger"):
        sample_of(item, "r", "allowed", PLACE)


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"", 1, "not JSON"),
        (b'{\n"r": {"allowed": [', 2, "not JSON"),
        (b'{\n"a": "\xff"}', 2, "is not UTF-8 text"),
        (b"[" * 200_000, 1, "nested too deep"),
        (b" " * 21_000_000, 1, "the file is larger than one of its kind may be (20 MB)"),
        (b"[]", 1, "should hold {rule:"),
        (b'{\n"r": 3}', 2, "r: should be as in"),
        (b'{\n"r": {"alowed": []}}', 2, "r: should be as in"),
        (b'{\n"r": {"allowed": null}}', 2, "r: should be as in"),
        (b'{\n"r": {"allowed": {}}}', 2, "r: should be as in"),
        (b'{\n"r": {"allowed": [3]}}', 2, "a sample of r is"),
        (b'{"r": {}, "r": {}}', 1, "the key 'r' is given twice"),
    ],
)
def test_a_file_that_holds_none(tmp_path: Path, content: bytes, line: int, message: str) -> None:
    file = tmp_path / "samples.json"
    file.write_bytes(content)
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        samples_from_json(file)
    assert caught.value.line == line


def test_a_file_gives_each_rule_its_line(tmp_path: Path) -> None:
    file = tmp_path / "samples.json"
    sides = {"allowed": [{"call": CALL}], "rejected": [{"call": CALL}]}
    file.write_text(json.dumps({"a/b": sides, "c/d": sides}, indent=1))
    assert {s.rule: s.place.line for s in samples_from_json(file)} == {"a/b": 2, "c/d": 24}
    assert samples_from_json(tmp_path / "none.json") == ()
