"""`ledgeragent explain` through the front door: rules, recorded calls, and what is neither."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from .branches import NAME
from .command import ROOT, RUNS, jsonl, ledgeragent

SHOP = ROOT / "src" / "ledgeragent" / "demo" / "shop" / "pack.yaml"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    file = tmp_path / "runs#1.jsonl.gz"
    file.write_bytes(gzip.compress(jsonl(*RUNS).encode()))
    return file


def test_the_pack_of_a_rule_is_found_from_its_id() -> None:
    done = ledgeragent("explain", "telecom/suspend-basis")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("telecom/suspend-basis (audit)\n")
    assert "audit: recorded, nothing is stopped" in done.out


@pytest.mark.parametrize("domain", [(), ("--domain", "retail")])
@pytest.mark.parametrize("check", ["gate/arguments", "gate/unknown-argument", "gate/unknown-tool"])
def test_what_the_gate_itself_checks_is_explained(check: str, domain: tuple[str, ...]) -> None:
    done = ledgeragent("explain", check, *domain)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{check}\n") and "\naccepts   " in done.out
    report = ledgeragent("explain", check, *domain, "--format", "json").json
    assert (report["rule"], report["clause"], report["decision"]) == (check, None, "revise")
    rule = ledgeragent("explain", "telecom/suspend-basis", "--format", "json").json
    assert rule.keys() <= report.keys()
    assert rule["samples"][0].keys() == report["samples"][0].keys()


@pytest.mark.parametrize("domain", ["shop", SHOP], ids=["python", "yaml"])
def test_a_rule_as_json(domain: str | Path) -> None:
    done = ledgeragent("explain", "shop/voucher-amount", "--domain", domain, "--format", "json")
    assert (done.code, done.err) == (0, "")
    report = done.json
    assert report["clause"]["id"] == report["rule"] == "shop/voucher-amount"
    assert report["guards"] == [{"tool": "apply_voucher", "effect": "write"}]
    assert {"path": "vouchers.{code}", "fields": ["balance"], "tools": ["get_voucher"]} in report[
        "reads"
    ]
    sides = {sample["side"]: sample for sample in report["samples"]}
    assert sides["allowed"]["outcome"] == "satisfied" and sides["allowed"]["decision"] == "allow"
    assert sides["rejected"]["reason"] and sides["rejected"]["evidence"]


def test_what_replay_prints_can_be_explained(runs: Path) -> None:
    replayed = ledgeragent("replay", runs, "--domain", NAME, "--format", "json").json
    row = next(r for r in replayed["rejected_executed_writes"] if r["run"] == "owes")
    place = f"{runs}#{row['run']}:{row['judged']}"
    found = ledgeragent("explain", place, "--domain", NAME, "--format", "json").json
    assert {name: found[name] for name in ("run", "task_id", "judged", "call", "executed")} == {
        "run": "owes",
        "task_id": "3",
        "judged": 1,
        "call": row["call"],
        "executed": True,
    }
    fines = next(rule for rule in found["rules"] if rule["rule"] == row["predicate"])
    assert fines["outcome"] == "violation"
    assert (fines["reason"], fines["evidence"]) == (row["reason"], row["evidence"])
    assert {entry["path"] for entry in found["ledger"]} == {"books.B1", "members.M1"}
    assert [message["role"] for message in found["conversation"]][:3] == ["user", "agent", "tool"]


def test_the_second_judged_call_sees_the_later_ledger(runs: Path) -> None:
    first, second = (
        ledgeragent("explain", f"{runs}#asked:{n}", "--domain", NAME).out for n in (1, 2)
    )
    assert "members.M1 =" not in first and "lending/fines: evidence, revise" in first
    assert "members.M1 =" in second and "[judged 1: revise_evidence]" in second


def test_a_file_with_one_run_needs_no_name(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(jsonl(RUNS[1]))
    done = ledgeragent("explain", f"{file}:1", "--domain", NAME, "--enforce", "lending/days=audit")
    assert done.code == 0
    assert "lending/days (audit): violation, revise: a loan of 99 days" in done.out


def test_a_run_without_an_id_is_named_by_its_place(tmp_path: Path) -> None:
    file = tmp_path / "two.jsonl"
    nameless = [{"domain": "lending", "messages": run["messages"]} for run in RUNS[:2]]
    file.write_text(jsonl(*nameless))
    shown = [
        ledgeragent("explain", f"{file}#{name}:1", "--domain", NAME).out
        for name in ("2", f"{file}:2")
    ]
    assert shown[0] == shown[1]
    assert "a loan of 99 days is too long" in shown[0]


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("retail/refund", "did you mean retail/refund-destination?"),
        ("bank/overdraft", "no pack is named bank; give one with --domain"),
        ("gate/unknown-argumnet", "did you mean gate/unknown-argument?"),
        ("gate/nonsense", "the gate itself has no check gate/nonsense; there is gate/arguments, "),
        ("gates/unknown-tool", "did you mean gate/unknown-tool?"),
        ("retail/unknown-argument", "did you mean gate/unknown-argument?"),
        ("unknown-argument", "did you mean gate/unknown-argument?"),
        ("nonsense", "neither a rule (domain/name) nor a judged call"),
        ("gone.jsonl#r:1", "gone.jsonl: there is no such file"),
        ("{runs}:1", "it holds several runs; write FILE#RUN:N"),
        ("{runs}#nobody:1", "there is no run nobody in it; did you mean good?"),
        ("{runs}#zz:1", "there is no run zz in it; there is"),
        (f"{ROOT / 'README.md'}#good:1", "README.md:1: not JSON"),
        ("{runs}#good:9", "the run has no judged call 9: it has one judged call"),
    ],
)
def test_what_cannot_be_explained_is_told_in_one_line(runs: Path, what: str, told: str) -> None:
    domain = ("--domain", NAME) if "{runs}" in what else ()
    done = ledgeragent("explain", what.replace("{runs}", str(runs)), *domain)
    assert (done.code, done.out) == (2, "")
    assert told in done.err and done.err.count("\n") == 1


def test_the_pack_of_a_run_is_the_one_it_names(tmp_path: Path) -> None:
    file = tmp_path / "shop.jsonl"
    messages = [
        {"role": "user", "content": "stop it"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "c", "function": {"name": "cancel_order", "arguments": "{}"}}],
        },
    ]
    file.write_text(jsonl({"id": "s", "domain": "shop", "messages": messages}))
    assert "by shop 1" in ledgeragent("explain", f"{file}:1").out
    file.write_text(jsonl({"id": "s", "messages": messages}))
    done = ledgeragent("explain", f"{file}:1")
    assert (done.code, done.out) == (2, "")
    assert "the run names no pack; give one with --domain" in done.err
