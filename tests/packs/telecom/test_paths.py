"""Where the telecom's reads land, and what its writes and the customer's turns make unknown."""

from __future__ import annotations

from typing import Any

import pytest

from ledgeragent.effects import Effect
from ledgeragent.paths import Path
from ledgeragent.render import render
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

# Routes


@pytest.mark.parametrize(
    ("record", "path"),
    [
        (customer(), "customers.C7"),
        (line(), "lines.L71"),
        (bill("B71", "Paid"), "bills.B71"),
        ({"device_id": "D71", "device_type": "phone"}, "devices.D71"),
        ({"plan_id": "P71", "name": "Small"}, "plans.P71"),
    ],
)
def test_details_land_where_the_shape_of_the_id_says(record: dict[str, Any], path: str) -> None:
    talk = TelecomTalk().details(record)
    assert talk.value(path) == record
    assert len(talk.ledger) == 1


def test_an_id_of_unknown_shape_is_stored_nowhere() -> None:
    talk = TelecomTalk().tool("get_details_by_id", {"x": 1}, id="X71")
    assert len(talk.ledger) == 0


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_customer_by_phone", {"phone_number": "1"}),
        ("get_customer_by_id", {"customer_id": "C7"}),
    ],
)
def test_a_lookup_stores_the_customer(tool: str, arguments: dict[str, str]) -> None:
    assert TelecomTalk().tool(tool, customer(), **arguments).value("customers.C7") == customer()


def test_a_lookup_by_name_stores_each_customer_it_found() -> None:
    namesake = customer(customer_id="C8")
    talk = TelecomTalk().tool(
        "get_customer_by_name", [customer(), namesake], full_name="N", dob="D"
    )
    assert talk.value("customers.C7") == customer()
    assert talk.value("customers.C8") == namesake


@pytest.mark.parametrize("answer", ["Error: Customer with phone number 1 not found", "null", "[]"])
def test_a_lookup_that_finds_nobody_stores_nothing(answer: str) -> None:
    talk = TelecomTalk().tool("get_customer_by_phone", answer, phone_number="1")
    assert len(talk.ledger) == 0


@pytest.mark.parametrize("answer", ['{"bill_id": "B71"}', '["B71"]', "[[]]", "12", '"text"'])
def test_a_bill_list_of_the_wrong_shape_stores_nothing(answer: str) -> None:
    talk = TelecomTalk().tool("get_bills_for_customer", answer, customer_id="C7")
    assert len(talk.ledger) == 0


def test_data_usage_keeps_its_own_path_because_its_numbers_are_text() -> None:
    usage = {"line_id": "L71", "data_used_gb": "8.7", "data_refueling_gb": "0.0"}
    talk = known().tool("get_data_usage", usage, customer_id="C7", line_id="L71")
    assert talk.value("usage.L71") == usage
    assert talk.value("lines.L71") == line()


def test_every_tool_has_one_effect() -> None:
    kinds: dict[Effect, set[str]] = {effect: set() for effect in Effect}
    for tool in TELECOM.tools:
        kinds[TELECOM.effect(tool.tool)].add(tool.tool)
    assert len(kinds[Effect.READ]) == 6
    assert len(kinds[Effect.WRITE]) == 6
    assert kinds[Effect.NEUTRAL] == {"transfer_to_human_agents"}


# Lists that are whole, and lists that may not be


@pytest.mark.parametrize("limit", [1, "5", 0, -1])
def test_a_limited_list_is_partial(limit: Any) -> None:
    """The customer has a bill that their record, read before, does not tell of."""
    talk = known().bills(bill("B71", "Paid"), limit=limit)
    assert talk.value("customers.C7")["bill_ids"] == BILL_IDS
    assert 'get_details_by_id(id="B72")' in asked(resume(talk))


@pytest.mark.parametrize("limit", [{}, {"limit": 4}, {"limit": None}])
def test_a_whole_list_is_an_observation_of_all_bill_ids(limit: dict[str, Any]) -> None:
    new = bill("B73", "Overdue")
    talk = known().bills(bill("B71", "Paid"), bill("B72", "Paid"), new, **limit)
    assert talk.value("customers.C7") == customer(bill_ids=[*BILL_IDS, "B73"])
    assert violated(resume(talk)) == {"telecom/resume-bills-paid"}


def test_a_list_as_long_as_its_default_limit_may_have_been_cut_off() -> None:
    many = [f"B{number}" for number in range(100, 113)]
    talk = TelecomTalk().tool("get_customer_by_id", customer(bill_ids=many), customer_id="C7")
    talk.details(line()).bills(*(bill(name, "Paid") for name in many[:12]))
    verdict = resume(talk)
    assert asked(verdict) == {
        'get_bills_for_customer(customer_id="C7", limit=14)',
        'get_details_by_id(id="B112")',
    }
    talk.bills(*(bill(name, "Paid") for name in many), limit=14)
    assert resume(talk).allowed


# Dual control: what the customer may have changed


def test_a_bill_just_read_as_awaiting_payment_is_not_paid() -> None:
    assert violated(resume(awaiting())) == {"telecom/resume-bills-paid"}


def test_after_a_turn_of_the_customer_a_bill_that_awaited_payment_is_unknown() -> None:
    verdict = resume(awaiting().user("I have paid"))
    assert not verdict.violations
    assert 'get_details_by_id(id="B72")' in asked(verdict)
    assert "may have been changed by the user" in verdict.feedback
    assert "bills.B72" in verdict.feedback


@pytest.mark.parametrize(("status", "allowed"), [("Paid", True), ("Awaiting Payment", False)])
def test_reading_the_bill_again_settles_it_either_way(status: str, allowed: bool) -> None:
    talk = awaiting().user("I have paid").details(bill("B72", status))
    assert resume(talk).allowed is allowed
    assert not resume(talk).missing


@pytest.mark.parametrize("status", ["Overdue", "Paid", "Issued", "Draft", "Disputed"])
def test_other_bills_keep_their_last_read_value_over_turns(status: str) -> None:
    talk = known().bills(bill("B71", "Paid"), bill("B72", status)).user().user().user()
    assert not talk.stale("bills.B72")
    assert not talk.stale("lines.L71")
    assert not resume(talk).missing


def test_only_the_status_becomes_unknown_and_the_mark_is_made_once() -> None:
    talk = awaiting().user().user()
    entry = talk.ledger.get(Path.parse("bills.B72"))
    assert entry is not None
    assert [(mark.fields, mark.by) for mark in entry.stale] == [(("status",), None)]


def test_the_rendered_ledger_shows_what_the_customer_may_have_changed() -> None:
    before, after = render(awaiting().ledger), render(awaiting().user().ledger)
    assert "STALE" not in before
    marked = next(row for row in after.splitlines() if "STALE" in row)
    assert marked.startswith("bills.B72")
    assert "status possibly changed by the customer" in marked


# What writes make unknown


def test_a_request_makes_the_status_of_its_bill_unknown() -> None:
    talk = known().bills(bill("B71", "Overdue"), bill("B72", "Paid"))
    talk.tool("send_payment_request", "Payment request sent", customer_id="C7", bill_id="B71")
    assert talk.stale("bills.B71") == {"status"}
    assert not talk.stale("bills.B72")
    assert not request(talk, "B71").violations
    assert 'get_details_by_id(id="B71")' in asked(request(talk, "B71"))


def test_a_resumed_line_is_neither_suspended_nor_active_until_read_again() -> None:
    talk = known().bills(bill("B71", "Paid"), bill("B72", "Paid"))
    assert resume(talk).allowed
    talk.tool("resume_line", {"message": "done", "line": line(status="Active")}, **ON_LINE)
    assert talk.stale("lines.L71") == {"status", "suspension_start_date"}
    assert talk.value("lines.L71")["status"] == "Suspended"
    verdict = resume(talk)
    assert asked(verdict) == {'get_details_by_id(id="L71")'}
    assert not verdict.violations
    assert violated(resume(talk.details(line(status="Active")))) == {
        "telecom/resume-suspended-only"
    }


def test_a_failed_write_makes_nothing_unknown() -> None:
    talk = known().bills(bill("B71", "Paid"), bill("B72", "Paid"))
    talk.tool("resume_line", "Error: Line must be suspended to resume", **ON_LINE)
    assert not talk.stale("lines.L71")
    assert resume(talk).allowed


def test_roaming_leaves_the_status_of_the_line_known() -> None:
    talk = known().bills(bill("B71", "Paid"), bill("B72", "Paid"))
    talk.tool("enable_roaming", "Roaming enabled", **ON_LINE)
    assert talk.stale("lines.L71") == {"roaming_enabled"}
    assert resume(talk).allowed


def test_a_refuel_is_charged_to_the_draft_bill() -> None:
    talk = known().bills(bill("B71", "Paid"), bill("B72", "Draft"))
    talk.tool("get_data_usage", {"line_id": "L71", "data_refueling_gb": "0.0"}, **ON_LINE)
    talk.tool("refuel_data", {"message": "done"}, **ON_LINE, gb_amount=1)
    assert talk.stale("lines.L71") == {"data_refueling_gb"}
    assert talk.stale("usage.L71") == {"data_refueling_gb"}
    assert talk.stale("bills.B72") == {"total_due", "line_items"}
    assert not talk.stale("bills.B71")
    assert not talk.stale("customers.C7")
    assert resume(talk).allowed


def test_a_refuel_without_a_draft_bill_may_add_a_bill() -> None:
    talk = known().bills(bill("B71", "Paid"), bill("B72", "Paid"))
    talk.tool("refuel_data", {"message": "done"}, **ON_LINE, gb_amount=1)
    assert talk.stale("customers.C7") == {"bill_ids"}
    assert not resume(talk).violations
    assert resume(talk).missing
    talk.bills(bill("B71", "Paid"), bill("B72", "Paid"), bill("B73", "Draft"))
    assert resume(talk).allowed
    assert talk.judge("enable_roaming", **ON_LINE).allowed
