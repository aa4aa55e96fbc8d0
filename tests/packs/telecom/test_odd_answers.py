"""Answers in odd spelling or shape: read where they mean the same, else evidence of nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledgeragent.verdict import Decision
from tests.packs.talk import asked, violated
from tests.packs.telecom.talk import (
    BILL_IDS,
    ON_LINE,
    TelecomTalk,
    awaiting,
    bill,
    customer,
    known,
    line,
    request,
    resume,
)


@pytest.mark.parametrize("status", ["overdue", "OVERDUE", " Overdue "])
def test_the_spelling_of_a_status_is_read_as_the_policy_spells_it(status: str) -> None:
    talk = known().bills(bill("B71", status), bill("B72", "Paid"))
    assert request(talk, "B71").allowed
    assert violated(resume(talk)) == {"telecom/resume-bills-paid"}


@pytest.mark.parametrize("status", ["AWAITING PAYMENT", "awaiting_payment"])
def test_so_is_that_of_a_bill_which_the_customer_can_pay(status: str) -> None:
    talk = known().bills(bill("B71", status), bill("B72", "Paid"))
    assert violated(resume(talk)) == {"telecom/resume-bills-paid"}
    assert 'get_details_by_id(id="B71")' in asked(resume(talk.user("paid")))


ODD = ["Refunded", "", "Paid in full", "Paid\x00", "not overdue", 3, True, ["Paid"], {"is": "Paid"}]


@pytest.mark.parametrize("status", [*ODD, None])
def test_a_status_that_is_none_of_the_data_is_evidence_of_nothing(status: Any) -> None:
    talk = known().bills(bill("B71", status), bill("B72", "Paid"))
    for verdict in (request(talk, "B71"), resume(talk)):
        assert verdict.decision is Decision.REVISE
        assert not verdict.violations
        assert "bills.B71.status was read, but" in verdict.feedback


@pytest.mark.parametrize("status", ODD)
def test_so_is_such_a_status_of_a_line(status: Any) -> None:
    talk = known().bills(bill("B71", "Paid"), bill("B72", "Paid")).details(line(status=status))
    verdict = resume(talk)
    assert verdict.decision is Decision.REVISE
    assert not verdict.violations
    assert "lines.L71.status was read, but" in verdict.feedback


@pytest.mark.parametrize(
    ("end", "ended"),
    [("2025-02-24T00:00:00", True), ("2025-02-25T00:00:00Z", False), ("2025-02-24", True)],
)
def test_a_contract_may_end_at_a_time_of_day(end: str, ended: bool) -> None:
    talk = known().bills(bill("B71", "Paid"), bill("B72", "Paid"))
    verdict = resume(talk.details(line(contract_end_date=end)))
    assert verdict.decision is (Decision.BLOCK if ended else Decision.ALLOW)


@pytest.mark.parametrize("end", ["12/31/2024", "never", "", 20241231])
def test_an_end_that_is_no_date_is_evidence_of_nothing(end: Any) -> None:
    talk = known().bills(bill("B71", "Paid"), bill("B72", "Paid"))
    verdict = resume(talk.details(line(contract_end_date=end)))
    assert verdict.decision is Decision.REVISE
    assert not verdict.violations
    assert "contract_end_date" in verdict.feedback


@pytest.mark.parametrize("field", ["line_ids", "bill_ids"])
@pytest.mark.parametrize("value", ["L71", None, {"L71": 1}, [71], 3])
def test_a_list_of_ids_that_is_none_is_evidence_of_nothing(field: str, value: Any) -> None:
    talk = (
        TelecomTalk()
        .user()
        .tool("get_customer_by_id", customer(**{field: value}), customer_id="C7")
    )
    verdict = talk.details(line()).judge("resume_line", **ON_LINE)
    assert not verdict.allowed
    assert not verdict.violations


def test_a_customer_without_a_field_is_told_of_and_asked_for() -> None:
    record = customer()
    del record["line_ids"]
    talk = TelecomTalk().user().tool("get_customer_by_id", record, customer_id="C7")
    assert "its answer has no `line_ids`" in talk.judge("enable_roaming", **ON_LINE).feedback


@pytest.mark.parametrize("answer", ["Try again later.", "<html>", "[]", "[1]", '"text"', "null"])
def test_a_bill_that_cannot_be_read_stops_no_turn(answer: str) -> None:
    """A record of text alone used to stop the reducer at the customer's next turn."""
    talk = known().tool("get_details_by_id", answer, id="B71").user("and now?")
    assert not request(talk, "B71").allowed
    assert not request(talk, "B71").violations
    talk.tool("refuel_data", {"message": "done"}, **ON_LINE, gb_amount=1)
    assert talk.stale("customers.C7") == {"bill_ids"}


def test_a_record_of_another_id_is_not_the_one_that_was_asked_for() -> None:
    talk = known().tool("get_details_by_id", bill("B99", "Overdue"), id="B71")
    assert not request(talk, "B71").allowed
    assert not request(talk, "B71").violations
    assert talk.value("bills.B99") is None


@pytest.mark.parametrize(
    "answer",
    [
        "Error: Tool 'get_customer_by_id' not found.",
        "Error: 404 page not found",
        "Error: not found",
    ],
)
def test_a_tool_that_is_not_found_proves_nobody_absent(answer: str) -> None:
    verdict = resume(TelecomTalk().tool("get_customer_by_id", answer, customer_id="C7"))
    assert not verdict.violations
    assert 'get_customer_by_id(customer_id="C7")' in asked(verdict)


@pytest.mark.parametrize(
    "wrapped",
    ['{{"result": {0}}}', '{{"result": {1}}}', "{1}"],
)
def test_wrapped_records_are_read(wrapped: str) -> None:
    record = json.dumps(line())
    talk = known().bills(bill("B71", "Paid"), bill("B72", "Paid"))
    talk.tool("get_details_by_id", wrapped.format(record, json.dumps(record)), id="L71")
    assert resume(talk).allowed


# Lists that are not whole


@pytest.mark.parametrize("extra", [{"from_date": "2025-01-01"}, {"status": "Paid"}, {"page": 2}])
def test_a_filtered_list_is_not_the_whole_list(extra: dict[str, Any]) -> None:
    talk = known().bills(bill("B71", "Paid"), **extra)
    assert talk.value("customers.C7")["bill_ids"] == BILL_IDS
    assert not resume(talk).allowed


def test_the_list_is_asked_for_without_a_limit_to_be_made_up() -> None:
    feedback = resume(awaiting().user("paid")).feedback
    assert 'get_bills_for_customer(customer_id="C7")' in feedback
    assert "limit" not in feedback and "?" not in feedback


def test_a_list_that_cannot_be_read_says_nothing_of_the_customer() -> None:
    talk = TelecomTalk().user().tool("get_bills_for_customer", "Try later.", customer_id="C7")
    assert "customers.C7 has not been read yet" in request(talk, "B71").feedback


def test_a_list_with_a_bill_without_id_is_no_list() -> None:
    talk = known().bills(bill("B71", "Paid"), {"status": "Paid"})
    assert talk.value("customers.C7")["bill_ids"] == BILL_IDS


# One reason where others follow


def test_no_payment_is_told_where_none_would_help() -> None:
    ended = known().details(line(contract_end_date="2025-01-31"))
    verdict = resume(ended.bills(bill("B71", "Overdue"), bill("B72", "Paid")))
    assert violated(verdict) == {"telecom/resume-contract-ended"}
    active = known().details(line(status="Active"))
    verdict = resume(active.bills(bill("B71", "Overdue"), bill("B72", "Paid")))
    assert violated(verdict) == {"telecom/resume-suspended-only"}


def test_the_next_step_is_told_by_name() -> None:
    overdue = known().bills(bill("B71", "Overdue"), bill("B72", "Paid"))
    assert 'send_payment_request(customer_id="C7", bill_id="B71")' in resume(overdue).feedback
    assert 'call get_details_by_id(id="B72")' in resume(awaiting()).feedback
    assert resume(overdue).feedback.startswith("resume_line was not executed: bill B71 is Overdue")


def test_a_bill_that_awaits_payment_comes_before_one_that_is_overdue() -> None:
    both = known().bills(bill("B71", "Overdue"), bill("B72", "Awaiting Payment"))
    feedback = resume(both).feedback
    assert "bill B72 is Awaiting Payment" in feedback
    assert "send_payment_request" not in feedback
