"""Two judgements side by side: every kind of change, and the baseline that keeps one of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledgeragent.errors import DataError
from ledgeragent.journal.verdicts import FindingRow
from ledgeragent.offline.answers import Answered, CallAnswer, RecordedAnswer, RunAnswers
from ledgeragent.offline.baseline import (
    Baseline,
    baseline_of,
    compared,
    read_baseline,
    write_baseline,
)
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.diff import CHANGES, Difference
from ledgeragent.offline.judging import ALLOW, BLOCK, REVISE_EVIDENCE, REVISE_VIOLATION
from ledgeragent.offline.rows import RunRow

RUN = RunRow(run="r", benchmark=None, task_id="1", reward=1.0)


def said(
    reason: str, rule: str = "d/one", kind: str = "violation", level: str = "enforce"
) -> FindingRow:
    return FindingRow(
        predicate=rule,
        clause=rule,
        kind=kind,
        decision="revise",
        enforcement=level,
        reason=reason,
    )


ALLOWED = RecordedAnswer(outcome=ALLOW, findings=[], shadow=[])
REJECTED = RecordedAnswer(outcome=REVISE_VIOLATION, findings=[said("too long")], shadow=[])
BLOCKED = RecordedAnswer(outcome=BLOCK, findings=[said("too long")], shadow=[])
REWORDED = RecordedAnswer(outcome=REVISE_VIOLATION, findings=[said("much too long")], shadow=[])
ASKED = RecordedAnswer(outcome=REVISE_EVIDENCE, findings=[said("read", kind="evidence")], shadow=[])
AUDITED = RecordedAnswer(outcome=ALLOW, findings=[], shadow=[said("too long", level="audit")])


def call(answer: RecordedAnswer, judged: int = 1, message: int = 3, name: str = "w") -> CallAnswer:
    return CallAnswer(
        judged=judged, message=message, call={"name": name, "arguments": {}}, answer=answer
    )


def kinds(before: list[CallAnswer], after: list[CallAnswer]) -> dict[str, int]:
    found = Difference()
    found.compare(RUN, before, after)
    return {kind: changes.number for kind, changes in found.changes.items() if changes}


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (ALLOWED, REJECTED, "newly_rejected"),
        (ASKED, BLOCKED, "newly_rejected"),
        (REJECTED, ALLOWED, "newly_allowed"),
        (ASKED, ALLOWED, "newly_allowed"),
        (ALLOWED, ASKED, "newly_asked"),
        (REJECTED, ASKED, "newly_asked"),
        (REJECTED, REWORDED, "changed_reason"),
        (ALLOWED, AUDITED, "shadow"),
        (REJECTED, AUDITED, "newly_allowed"),
    ],
)
def test_every_change_has_its_kind(
    before: RecordedAnswer, after: RecordedAnswer, kind: str
) -> None:
    assert kinds([call(before)], [call(after)]) == {kind: 1}


@pytest.mark.parametrize("answer", [ALLOWED, REJECTED, BLOCKED, ASKED, AUDITED])
def test_the_same_answer_is_no_change(answer: RecordedAnswer) -> None:
    assert kinds([call(answer)], [call(answer)]) == {}


def test_what_changes_in_shadow_only_is_no_change_for_an_agent() -> None:
    found = Difference()
    found.compare(RUN, [call(ALLOWED)], [call(AUDITED)])
    assert not found.changed
    assert found.changes["shadow"].rows[0]["predicates"] == ["d/one"]


def test_a_call_that_only_one_side_judges_counts_as_allowed_on_the_other() -> None:
    assert kinds([], [call(REJECTED)]) == {"newly_rejected": 1}
    assert kinds([call(REJECTED)], []) == {"newly_allowed": 1}
    assert kinds([call(ALLOWED)], []) == {}


def test_calls_are_paired_by_place_and_content_not_by_number() -> None:
    extra = call(ALLOWED, judged=1, message=1, name="neutral")
    assert kinds([call(REJECTED, judged=1)], [extra, call(REJECTED, judged=2)]) == {}
    twice = [call(ALLOWED), call(REJECTED, judged=2)]
    assert kinds(twice, twice) == {}
    assert kinds(twice, [call(ALLOWED), call(ALLOWED, judged=2)]) == {"newly_allowed": 1}


def test_a_row_names_run_call_and_both_answers() -> None:
    found = Difference()
    found.compare(RUN, [call(ALLOWED)], [call(REJECTED, judged=4)])
    (row,) = found.changes["newly_rejected"]
    assert (row["run"], row["judged"], row["reward"]) == ("r", 4, 1.0)
    assert (row["before"], row["after"]) == (ALLOWED, REJECTED)


# ── Baselines ───────────────────────────────────────────────────────────────────────────────────


def answered(*runs: tuple[str, list[CallAnswer]]) -> Answered:
    rows = [
        RunAnswers(run=name, benchmark=None, task_id=None, reward=None, calls=calls)
        for name, calls in runs
    ]
    return Answered(runs=len(rows), answers=rows)


NOW = answered(("one", [call(REJECTED), call(AUDITED, 2, 5)]), ("none", []), ("one", [call(ASKED)]))
SHOP = Binding(name="shop")


def changes(found: Difference) -> dict[str, int]:
    return {kind: found.changes[kind].number for kind in CHANGES if found.changes[kind]}


def test_a_baseline_survives_the_file(tmp_path: Path) -> None:
    file = tmp_path / "base.json"
    baseline = baseline_of(NOW, "shop")
    write_baseline(baseline, str(file))
    read = read_baseline(str(file), "shop")
    assert read == baseline
    assert [*baseline.runs] == ["one", "none", "one (2)"] and baseline.calls == 3
    assert json.loads(file.read_text())["runs"]["none"] == []
    assert [path.name for path in tmp_path.iterdir()] == ["base.json"]


def test_what_was_just_stored_has_not_changed() -> None:
    found = compared(baseline_of(NOW, "shop"), NOW, SHOP)
    assert not found.changed and found.runs == 3 and found.calls == 3


def test_a_change_since_the_baseline_is_found() -> None:
    later = answered(
        ("one", [call(REWORDED), call(AUDITED, 2, 5)]), ("none", []), ("one", [call(BLOCKED)])
    )
    found = compared(baseline_of(NOW, "shop"), later, SHOP)
    assert changes(found) == {"newly_rejected": 1, "changed_reason": 1}


def test_runs_that_came_or_went_are_a_change() -> None:
    found = compared(baseline_of(NOW, "shop"), answered(("one", [call(REJECTED)]), ("x", [])), SHOP)
    assert found.only_before == ["none", "one (2)"] and found.only_after == ["x"]
    assert found.changed


def test_there_need_be_no_baseline_yet(tmp_path: Path) -> None:
    assert read_baseline(str(tmp_path / "none.json"), "shop") is None
    assert compared(None, NOW, SHOP).only_after == ["one", "none", "one (2)"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"ledgeragent": "baseline/9", "domain": "shop", "runs": {}}',
        '{"ledgeragent": "baseline/1", "domain": "shop", "runs": []}',
        '{"ledgeragent": "baseline/1", "domain": "shop", "runs": {"r": [{"call": {}}]}}',
        '{"ledgeragent": "baseline/1", "domain": "shop", "runs": {"r": 1}}',
    ],
)
def test_what_is_no_baseline_is_told_and_left_alone(text: str, tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(text)
    with pytest.raises(DataError, match="it is no baseline"):
        read_baseline(str(file), "shop")
    assert file.read_text() == text


def test_the_baseline_of_another_domain_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "base.json"
    write_baseline(Baseline(domain="bank", runs={}), str(file))
    with pytest.raises(DataError, match="a baseline of bank, not of shop"):
        read_baseline(str(file), "shop")


def test_a_baseline_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "base.json"
    file.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ledgeragent.files.private.os.fsync", full)
    with pytest.raises(DataError, match="No space left"):
        write_baseline(baseline_of(NOW, "shop"), str(file))
    assert [path.name for path in tmp_path.iterdir()] == ["base.json"]
    assert file.read_text() == "old"
