"""The gate against SOPBench's oracle, on runs of our own in the form that it publishes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.oracle.__main__ import main
from benchmarks.oracle.healthcare import HEALTHCARE
from benchmarks.oracle.outcome import counts, outcome, reasons
from benchmarks.oracle.packs import PACKS
from benchmarks.oracle.runs import is_whole
from tests.bench.oracle.made import Step, run, single

STATED = ["and", [single("logged_in_user"), single("claim_status_denied")]]
NAME = "ast_gpt-x-mode_fc-dep_full-fmt_structured-tool_full-shuffle_False.json"
ADA = {"username": "Ada"}
LOGIN: Step = ("login_user", {**ADA, "identification": "x"}, "True")
APPEAL: Step = ("appeal_claim", {**ADA, "claim_id": "C-1"}, "True")


def claim(status: str) -> Step:
    record = {"claim_id": "C-1", "amount": 5, "status": status, "claim_date": "2024-12-01"}
    return "get_claim_details", {**ADA, "claim_id": "C-1"}, f"(True, {record!r})"


def appeal(*steps: Step, kept: bool = True, **more: Any) -> dict[str, Any]:
    return run(*steps, goal="appeal_claim", stated=STATED, kept=kept, **more)


@pytest.mark.parametrize(
    ("record", "stopped", "violated"),
    [
        (appeal(LOGIN, claim("denied"), APPEAL), False, set()),
        (appeal(LOGIN, claim("pending"), APPEAL, kept=False), True, {"claim-status-denied"}),
        (appeal(LOGIN, APPEAL), True, set()),
        (appeal(claim("denied"), APPEAL, kept=False), True, {"logged-in-user"}),
    ],
)
def test_a_run_is_stopped_where_a_record_contradicts_it_or_was_not_read(
    record: dict[str, Any], stopped: bool, violated: set[str]
) -> None:
    one = outcome(record, HEALTHCARE)
    assert (one.wrote, one.stopped) == (True, stopped)
    assert one.violated == {f"healthcare/{rule}" for rule in violated}


@pytest.mark.parametrize("answer", ["False", "(False, 'no')", "Error: no tool", "KeyError: 'C-1'"])
def test_a_write_that_was_refused_is_none_but_was_tried(answer: str) -> None:
    refused = (*APPEAL[:2], answer)
    one = outcome(appeal(LOGIN, claim("pending"), refused, kept=False), HEALTHCARE)
    assert (one.wrote, one.tried) == (False, True)
    assert not outcome(appeal(LOGIN, claim("denied"), refused), HEALTHCARE).tried


def test_a_read_before_its_own_condition_is_told_apart() -> None:
    assert outcome(appeal(claim("denied"), LOGIN, kept=False), HEALTHCARE).looked
    assert not outcome(appeal(LOGIN, claim("denied")), HEALTHCARE).looked


def test_the_action_of_a_task_has_the_stated_conditions_and_others_have_all() -> None:
    task = {"user_goal": "appeal_claim", "constraints_original": STATED}
    guards = {rule.id: rule.guards for rule in HEALTHCARE.stating(task).predicates}
    before = {rule for rule, tools in guards.items() if "appeal_claim" in tools}
    assert before == {"healthcare/logged-in-user", "healthcare/claim-status-denied"}
    assert "submit_claim" in guards["healthcare/policy-active"]


def test_the_numbers_are_those_of_the_task() -> None:
    update = ("update_policy", {**ADA, "coverage_amount": 30, "annual_income": 100}, "True")
    stated = single("income_proof_enough")
    for most, stopped in ((20, True), (40, False)):
        numbers = {"max_coverage_percentage": most}
        record = run(update, goal="update_policy", stated=stated, numbers=numbers)
        assert outcome(record, HEALTHCARE).stopped is stopped


def test_a_constraint_of_somebody_else_or_a_negated_one_has_its_own_rule() -> None:
    other = single("internal_has_dl", username="target_owner")
    task = {"user_goal": "x", "constraints_original": other}
    assert PACKS["dmv"].stated(task) == {"dmv/internal-has-dl-of-target-owner"}
    task["constraints_original"] = single("not internal_check_username_exist")
    assert PACKS["bank"].stated(task) == {"bank/not-internal-check-username-exist"}
    task["constraints_original"] = ["single", "within_registration_period", None]
    assert PACKS["university"].stated(task) == {"university/within-registration-period"}


def test_what_was_not_stopped_is_told_by_its_reason() -> None:
    refused = (*APPEAL[:2], "False")
    records = [
        appeal(claim("denied"), LOGIN, kept=False),
        appeal(LOGIN, claim("pending"), refused, kept=False),
        appeal(LOGIN, claim("denied"), APPEAL, kept=False),
        appeal(claim("denied"), LOGIN, claim("pending"), APPEAL),
    ]
    outcomes = [outcome(record, HEALTHCARE) for record in records]
    counted = counts(outcomes)
    assert counted["broken_without_a_write"] == 2
    assert (counted["left_by_a_read"], counted["left_by_a_refused_write"]) == (1, 1)
    assert (counted["broken_and_passed"], counted["kept_and_violated"]) == (1, 1)
    assert reasons(outcomes) == {
        "contradicting": {"healthcare/claim-status-denied": 1},
        "passed": {"appeal_claim": 1},
    }


def test_a_conversation_of_another_task_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = appeal(LOGIN, ask="Something else.")
    assert not is_whole(strange)
    folder = tmp_path / "output" / "healthcare"
    folder.mkdir(parents=True)
    good = appeal(LOGIN, claim("pending"), APPEAL, kept=False)
    (folder / NAME).write_text(json.dumps([good, strange, good]))
    assert main([str(tmp_path)]) == 0
    domains = json.loads(capsys.readouterr().out)["domains"]
    assert domains.keys() == {"healthcare"}
    healthcare = domains["healthcare"]
    assert (healthcare["all"]["runs"], healthcare["left_out"]) == (2, 1)
    assert healthcare["models"]["gpt-x"]["broken_and_stopped"] == 2
    assert healthcare["halves"]["odd"]["runs"] == 0


def test_a_constraint_without_a_rule_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "output" / "library"
    folder.mkdir(parents=True)
    stated = single("database_book_not_borrowed", book_title="book_title")
    (folder / NAME).write_text(json.dumps([run(goal="remove_book", stated=stated)]))
    assert main([str(tmp_path)]) == 0
    library = json.loads(capsys.readouterr().out)["domains"]["library"]
    assert library["without_a_rule"] == ["library/database-book-not-borrowed"]


def test_a_folder_without_trajectories_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    assert "holds no trajectories" in capsys.readouterr().err
