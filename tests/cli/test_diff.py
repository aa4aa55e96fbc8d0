"""`ledgeragent diff` through the front door: two packs, a baseline, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ledgeragent.types import Json

from .branches import NAME
from .command import BOOK, MEMBER, ROOT, RUNS, called, jsonl, ledgeragent, lend, run

SHOP = ROOT / "src" / "ledgeragent" / "demo" / "shop" / "pack.yaml"
ORDER = {
    "order_id": "G-1",
    "customer_id": "C-1",
    "status": "packed",
    "lines": {},
    "parcel_ids": [],
}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two loans that the older library thinks too long, and one that both do."""
    file = tmp_path / "runs.jsonl"
    file.write_text(
        jsonl(
            run("month", BOOK, MEMBER, lend(20), reward=1.0),
            run("long", BOOK, MEMBER, lend(99), reward=0.0),
            run("short", BOOK, MEMBER, lend(3), reward=1.0),
            run("elsewhere", BOOK, domain="shop"),
        )
    )
    return file


def diff(runs: Path, after: str = f"{NAME}@tau2", before: str = f"{NAME}@tau") -> Json:
    done = ledgeragent("diff", runs, "--domain", after, "--against", before, "--format", "json")
    assert done.code in (0, 1) and done.err == ""
    assert done.json["changed"] is bool(done.code)
    return done.json


def test_the_newer_version_allows_what_the_older_rejected(runs: Path) -> None:
    report = diff(runs)
    assert {kind: number for kind, number in report["counts"].items() if number} == {
        "newly_allowed": 1,
        "changed_reason": 1,
    }
    (allowed,) = report["newly_allowed"]
    assert (allowed["run"], allowed["judged"], allowed["after"]["outcome"]) == ("month", 1, "allow")
    (said,) = allowed["before"]["findings"]
    assert said["predicate"] == "lending/days" and "7 at most" in said["reason"]
    assert report["changed_reason"][0]["predicates"] == ["lending/days"]
    assert report["runs"] == 3 and report["skipped_by_reason"] == {"other domain": 1}


def test_the_other_way_round_it_is_newly_rejected(runs: Path) -> None:
    report = diff(runs, f"{NAME}@tau", f"{NAME}@tau2")
    assert [row["run"] for row in report["newly_rejected"]] == ["month"]


def test_nothing_changed_is_exit_0(runs: Path) -> None:
    report = diff(runs, NAME, NAME)
    assert not report["changed"] and report["calls"] == 3


def test_a_rule_in_shadow_lets_through_and_is_marked(runs: Path) -> None:
    done = ledgeragent(
        "diff", runs, "--domain", NAME, "--against", NAME, "--enforce", "lending/days=audit"
    )
    assert done.code == 1
    assert "1 newly allowed" in done.out
    assert "lending/days (audit), revise: a loan of 99 days" in done.out


def test_what_changes_in_shadow_only_is_listed_and_exit_0(runs: Path) -> None:
    shadowed = ("--enforce", "lending/days=audit")
    stored = runs.with_name("base.json")
    ledgeragent("diff", runs, "--domain", NAME, *shadowed, "--baseline", stored, "--update")
    flags = ("--enforce", "lending/days=warn", "--baseline", stored, "--format", "json")
    done = ledgeragent("diff", runs, "--domain", NAME, *flags)
    assert done.code == 0 and not done.json["changed"]
    assert [row["run"] for row in done.json["shadow"]] == ["long"]


def test_the_result_does_not_depend_on_jobs(runs: Path) -> None:
    one, two = (
        ledgeragent("diff", runs, "--domain", f"{NAME}@tau", "--against", NAME, "--jobs", jobs)
        for jobs in ("1", "2")
    )
    assert one == two and one.code == 1


def test_junit_fails_the_rules_that_say_something_else(runs: Path) -> None:
    done = ledgeragent(
        *("diff", runs, "--domain", f"{NAME}@tau2", "--against", f"{NAME}@tau"),
        *("--format", "junit"),
    )
    suite = ElementTree.fromstring(done.out)
    failed = [
        case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None
    ]
    assert done.code == 1
    assert failed == ["lending/days"]
    assert suite.attrib["failures"] == "1" and int(suite.attrib["tests"]) > 4


def test_a_yaml_pack_against_its_python_form(tmp_path: Path) -> None:
    file = tmp_path / "shop.jsonl"
    cancel = called("cancel_order", {"order_id": "G-1"}, "Error: no")
    record = {
        "id": "s",
        "messages": [
            {"role": "user", "content": "cancel it"},
            *called("find_customer", {"email": "a@example.org"}, "C-1"),
            *called("get_order", {"order_id": "G-1"}, ORDER),
            *cancel,
        ],
    }
    file.write_text(jsonl(record))
    same = ledgeragent("diff", file, "--domain", SHOP, "--against", "shop", "--format", "json")
    assert (same.code, same.err) == (0, "")
    assert same.json["calls"] == 1
    shadowed = ("--enforce", "*=audit")
    done = ledgeragent("diff", file, "--domain", SHOP, "--against", "shop", *shadowed)
    assert done.code == 1 and "1 newly allowed" in done.out
    assert "shop/cancel-open (audit), block:" in done.out


# ── Baselines ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("verb", ["diff", "replay"])
def test_a_baseline_is_written_compared_and_updated(verb: str, runs: Path) -> None:
    base = runs.with_name("base.json")
    common = (verb, runs, "--baseline", base)
    missing = ledgeragent(*common, "--domain", NAME)
    assert missing.code == 2 and "there is no such file; write it with --update" in missing.err
    assert not base.exists()

    first = ledgeragent(*common, "--domain", NAME, "--update")
    assert (first.code, first.out) == (0, "")
    assert f"wrote 3 verdicts on 3 runs to {base}" in first.err
    assert ledgeragent(*common, "--domain", NAME).code == 0

    changed = ledgeragent(*common, "--domain", NAME, "--version", "tau", "--format", "json")
    assert changed.code == 1
    assert [row["run"] for row in changed.json["newly_rejected"]] == ["month"]

    updated = ledgeragent(*common, "--domain", NAME, "--version", "tau", "--update")
    assert updated.code == 0 and "Newly rejected (1)" in updated.out
    assert ledgeragent(*common, "--domain", NAME, "--version", "tau").code == 0
    assert ledgeragent(*common, "--domain", NAME).code == 1


def test_runs_that_the_baseline_does_not_know_are_a_change(runs: Path) -> None:
    base = runs.with_name("base.json")
    ledgeragent("diff", runs, "--domain", NAME, "--baseline", base, "--update")
    with runs.open("a") as stream:
        stream.write(jsonl(run("new", BOOK, lend(3))))
    done = ledgeragent("diff", runs, "--domain", NAME, "--baseline", base)
    assert done.code == 1
    assert "Runs that are not in the baseline (1)\n  new" in done.out


def test_a_file_that_is_no_baseline_is_never_overwritten(runs: Path) -> None:
    before = runs.read_text()
    done = ledgeragent("diff", runs, "--domain", NAME, "--baseline", runs, "--update")
    assert (done.code, done.out) == (2, "")
    assert f"{runs}: it is no baseline" in done.err
    assert runs.read_text() == before


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ((), "compare with one: --against NAME or --baseline FILE"),
        (("--against", NAME, "--baseline", "b.json"), "compare with one"),
        (("--against", NAME, "--update"), "--update needs --baseline"),
        (("--against", f"{NAME}@9"), "has no version '9'"),
        (("--against", NAME, "--enforce", "lending/gone=audit"), "has no rule lending/gone"),
    ],
)
def test_options_that_do_not_fit_are_told(flags: tuple[str, ...], told: str, runs: Path) -> None:
    done = ledgeragent("diff", runs, "--domain", NAME, *flags)
    assert (done.code, done.out) == (2, "")
    assert told in done.err and done.err.count("\n") == 1


def test_where_no_run_can_be_judged_nothing_was_compared(tmp_path: Path) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text(jsonl(RUNS[6]))
    done = ledgeragent("diff", file, "--domain", NAME, "--against", NAME)
    assert (done.code, done.out) == (2, "")
    assert "no run could be judged (skipped 1 other domain)" in done.err


def test_a_baseline_is_json_with_a_line_for_each_call(runs: Path) -> None:
    base = runs.with_name("base.json")
    ledgeragent("diff", runs, "--domain", NAME, "--baseline", base, "--update")
    stored = json.loads(base.read_text())
    assert (stored["ledgeragent"], stored["domain"]) == ("baseline/1", "lending")
    assert stored["runs"]["short"] == [
        {
            "message": 5,
            "call": {
                "name": "lend_book",
                "arguments": {"member_id": "M1", "book_id": "B1", "days": 3},
            },
            "outcome": "allow",
        }
    ]
    assert sum('"call"' in line for line in base.read_text().splitlines()) == 3


# ── Rules in shadow, in replay ──────────────────────────────────────────────────────────────────


def test_replay_marks_what_only_a_shadow_rule_would_stop(runs: Path) -> None:
    shadowed = ("replay", runs, "--domain", NAME, "--enforce", "lending/days=audit")
    report = ledgeragent(*shadowed, "--format", "json").json
    days = report["by_predicate"]["lending/days"]
    assert (days["enforcement"], days["allow"], days["shadow"]) == ("audit", 3, 1)
    assert report["rejected_executed_writes"] == []
    (row,) = report["shadow_executed_writes"]
    assert (row["run"], row["judged"], row["enforcement"]) == ("long", 1, "audit")
    text = ledgeragent(*shadowed).out
    assert "lending/days (audit): revise  (run long:1" in text
    junit = ElementTree.fromstring(ledgeragent(*shadowed, "--format", "junit").out)
    assert junit.attrib["failures"] == "0"
    assert any("(audit)" in (out.text or "") for out in junit.iter("system-out"))


def test_every_rule_in_shadow_stops_nothing_and_asks_for_nothing(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(jsonl(*RUNS))
    flags = ("--domain", NAME, "--enforce", "*=audit", "--format", "json")
    report = ledgeragent("replay", file, *flags).json
    stopped = {
        k: v for k, v in report["writes"].items() if k not in ("judged", "executed", "allow")
    }
    assert stopped == {"revise_violation": 0, "revise_evidence": 0, "block": 0}
    assert report["by_predicate"]["gate/arguments"]["shadow"] == 1
    assert report["asked_by_clause"] == {}
    assert {error["enforcement"] for error in report["errors"]} == {"audit"}


def test_of_many_changes_by_a_rule_the_first_thousand_are_listed(tmp_path: Path) -> None:
    """However the work is shared out: the rest is counted, in every form."""
    file = tmp_path / "many.jsonl"
    long, month = run("long", BOOK, MEMBER, lend(99)), run("month", BOOK, MEMBER, lend(20))
    file.write_text(jsonl(long, month, long) * 1_050)
    words = ("diff", file, "--domain", f"{NAME}@tau2", "--against", f"{NAME}@tau", "--format")
    one, two = (ledgeragent(*words, "json", "--jobs", jobs) for jobs in "12")
    assert one == two and one.code == 1
    counts, left_out = one.json["counts"], one.json["cases_left_out"]
    assert counts["newly_allowed"] == 1_050 and counts["changed_reason"] == 2_100
    assert left_out["newly_allowed"] == {"lending/days": 50}
    assert left_out["changed_reason"] == {"lending/days": 1_100}
    assert len(one.json["newly_allowed"]) == len(one.json["changed_reason"]) == 1_000
    text = ledgeragent(*words, "text").out
    assert "Newly allowed (1050)" in text and "... 50 more, of rules with 1,000 above" in text
    assert "3150 verdicts changed" in ledgeragent(*words, "junit").out
