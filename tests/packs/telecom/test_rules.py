"""Bills, owners, lines and amounts."""

from __future__ import annotations

from typing import Any

import pytest

from ledgeragent.gate import Gate
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision, Kind
from tests.packs.talk import asked, violated
from tests.packs.telecom.talk import (
    BILL_IDS,
    ON_LINE,
    TELECOM,
    TelecomTalk,
    awaiting,
    bill,
    customer,
    known,
    line,
    request,
    resume,
)

# A list of bills, and bills one by one


def test_reading_every_bill_equals_reading_the_list() -> None:
    paid = [bill(name, "Paid") for name in BILL_IDS]
    listed = resume(known().bills(*paid))
    one_by_one = known()
    for record in paid:
        one_by_one.details(record)
    assert listed.allowed
    assert resume(one_by_one).allowed


def test_unread_bills_are_asked_for_by_list_or_by_id() -> None:
    verdict = resume(known().details(bill("B71", "Paid")))
    assert asked(verdict) == {
        'get_bills_for_customer(customer_id="C7")',
        'get_details_by_id(id="B72")',
    }
    assert verdict.decision is Decision.REVISE
    assert not verdict.violations


def test_a_bill_list_does_not_identify_the_customer() -> None:
    talk = TelecomTalk().user().bills(*(bill(name, "Overdue") for name in BILL_IDS))
    verdict = request(talk, "B71")
    assert asked(verdict) == {
        'get_customer_by_id(customer_id="C7")',
        'get_details_by_id(id="C7")',
    }


def test_one_overdue_bill_decides_whatever_is_unknown_of_the_others() -> None:
    verdict = resume(known().details(bill("B72", "Overdue")))
    assert violated(verdict) == {"telecom/resume-bills-paid"}
    assert not verdict.missing


# Bills that await payment


def test_a_second_request_waits_for_the_first_to_be_read_as_paid() -> None:
    overdue = [bill(name, "Overdue") for name in BILL_IDS]
    talk = known().bills(*overdue)
    assert request(talk, "B71").allowed
    talk.tool("send_payment_request", "Payment request sent", customer_id="C7", bill_id="B71")
    assert 'get_details_by_id(id="B71")' in asked(request(talk, "B72"))
    assert not request(talk, "B72").violations
    talk.details(bill("B71", "Awaiting Payment"))
    assert violated(request(talk, "B72")) == {"telecom/single-awaiting"}
    talk.user("paid").details(bill("B71", "Paid"))
    assert request(talk, "B72").allowed


def test_a_bill_that_awaits_payment_is_not_in_its_own_way() -> None:
    assert violated(request(awaiting(), "B72")) == {"telecom/bill-overdue"}


# Who owns what


def test_nothing_is_done_before_the_customer_was_looked_up() -> None:
    verdict = TelecomTalk().user("I am C7").judge("enable_roaming", **ON_LINE)
    assert verdict.decision is Decision.REVISE
    assert not verdict.violations
    assert 'get_customer_by_id(customer_id="C7")' in asked(verdict)


def test_a_customer_that_does_not_exist_is_not_asked_for_again() -> None:
    talk = TelecomTalk().tool(
        "get_customer_by_id", "Error: Customer with ID C7 not found", customer_id="C7"
    )
    verdict = resume(talk)
    assert "telecom/customer-identified" in violated(verdict)
    assert not asked(verdict)


def test_an_outage_proves_nothing() -> None:
    talk = TelecomTalk().tool("get_customer_by_id", "Error: timeout", customer_id="C7")
    assert not resume(talk).violations
    assert 'get_customer_by_id(customer_id="C7")' in asked(resume(talk))


def test_a_line_of_somebody_else_is_rejected_and_never_asked_for() -> None:
    verdict = known().judge("resume_line", customer_id="C7", line_id="L81")
    assert violated(verdict) == {"telecom/line-belongs"}
    assert not verdict.missing
    assert "L71 or L72" in verdict.feedback


@pytest.mark.parametrize("line_id", ["l71", "L71 ", "L7", "L71.status", 'L"71', "L71\n"])
def test_a_look_alike_of_a_line_is_another_line(line_id: str) -> None:
    verdict = known().judge("enable_roaming", customer_id="C7", line_id=line_id)
    assert violated(verdict) == {"telecom/line-belongs"}


def test_a_bill_says_itself_whose_it_is() -> None:
    theirs = known().bills(bill("B71", "Paid"), bill("B72", "Paid"))
    theirs.details(bill("B81", "Overdue", customer_id="C8"))
    assert violated(request(theirs, "B81")) == {"telecom/bill-belongs"}
    newer = known().bills(bill("B71", "Paid"), bill("B72", "Paid"), limit=2)
    newer.details(bill("B79", "Overdue"))
    assert request(newer, "B79").allowed


def test_the_read_of_a_line_that_failed_is_no_observation() -> None:
    odd = 'L{"line_id": "L71", "status": "Suspended"}'
    talk = TelecomTalk().tool("get_customer_by_id", customer(), customer_id="C7")
    talk.bills(bill("B71", "Paid"), bill("B72", "Paid"))
    talk.tool("get_details_by_id", f"Error: Line with ID {odd} not found", id=odd)
    assert asked(resume(talk)) == {'get_details_by_id(id="L71")'}


# Lines and amounts


@pytest.mark.parametrize(
    ("end", "allowed"), [("2025-02-24", False), ("2025-02-25", True), (None, True)]
)
def test_a_contract_that_ends_today_still_runs(end: str | None, allowed: bool) -> None:
    talk = known().bills(bill("B71", "Paid"), bill("B72", "Paid"))
    verdict = resume(talk.details(line(contract_end_date=end)))
    assert verdict.decision is (Decision.ALLOW if allowed else Decision.BLOCK)


@pytest.mark.parametrize("status", ["Active", "Closed", "Pending Activation"])
def test_only_a_suspended_line_is_resumed(status: str) -> None:
    talk = known().bills(bill("B71", "Paid"), bill("B72", "Paid"))
    verdict = resume(talk.details(line(status=status)))
    assert violated(verdict) == {"telecom/resume-suspended-only"}
    assert status in verdict.feedback


@pytest.mark.parametrize("amount", [0.1, 1, 2, 2.0, "2", "0.5"])
def test_up_to_two_gigabytes_are_added(amount: Any) -> None:
    assert known().judge("refuel_data", **ON_LINE, gb_amount=amount).allowed


@pytest.mark.parametrize("amount", [2.01, 3, "2.5", 1e9])
def test_more_is_too_much_even_as_text(amount: Any) -> None:
    verdict = known().judge("refuel_data", **ON_LINE, gb_amount=amount)
    assert violated(verdict) == {"telecom/refuel-max"}
    assert "at most 2 GB" in verdict.feedback


@pytest.mark.parametrize("amount", [0, -1, "0", "-0.5"])
def test_nothing_is_no_amount(amount: Any) -> None:
    verdict = known().judge("refuel_data", **ON_LINE, gb_amount=amount)
    assert violated(verdict) == {"telecom/refuel-positive"}


@pytest.mark.parametrize("amount", ["NaN", "inf", "2 GB", None, [2], True])
def test_what_is_no_number_never_reaches_the_tool(amount: Any) -> None:
    verdict = known().judge("refuel_data", **ON_LINE, gb_amount=amount)
    assert violated(verdict) == {"gate/arguments"}


def test_a_suspension_without_a_basis_is_recorded_but_allowed() -> None:
    talk = known().bills(bill("B71", "Paid"), bill("B72", "Paid"))
    verdict = talk.judge("suspend_line", **ON_LINE, reason="holiday")
    assert verdict.allowed
    assert {(f.predicate, f.kind) for f in verdict.shadow} == {
        ("telecom/suspend-basis", Kind.VIOLATION)
    }
    talk.details(line(contract_end_date="2024-12-31"))
    assert not talk.judge("suspend_line", **ON_LINE, reason="contract over").shadow


def test_a_run_without_the_detail_tool_is_asked_for_the_list_only() -> None:
    bound = Gate(domain=TELECOM.bind({"get_bills_for_customer", "resume_line"}))
    verdict = bound.judge(ToolCall(name="resume_line", arguments=ON_LINE), known().ledger)
    assert asked(verdict) == {'get_bills_for_customer(customer_id="C7")'}
