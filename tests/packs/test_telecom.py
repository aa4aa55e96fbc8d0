"""The telecom pack: samples, routes, dual control, staleness, and the labelled cases if present."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path as File
from typing import Any

import pytest

from ledgeragent.absorb import absorb
from ledgeragent.domain import Domain
from ledgeragent.effects import Effect, Read, Write
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger
from ledgeragent.offline.traces import read_messages
from ledgeragent.packs import load_domain
from ledgeragent.paths import Path
from ledgeragent.render import render
from ledgeragent.state import State
from ledgeragent.testing import ledger_of
from ledgeragent.types import ToolCall, ToolReturn
from ledgeragent.verdict import Decision, Kind, Verdict
from tests.packs.talk import Talk

TELECOM = load_domain("telecom")
GATE = Gate(domain=TELECOM)
SAMPLES = json.loads((files("ledgeragent.packs.telecom") / "samples.json").read_text("utf-8"))

LINE_IDS = ["L71", "L72"]
BILL_IDS = ["B71", "B72"]
ON_LINE = {"customer_id": "C7", "line_id": "L71"}


def customer(**changes: Any) -> dict[str, Any]:
    return {
        "customer_id": "C7",
        "full_name": "Noor Haddad",
        "line_ids": LINE_IDS,
        "bill_ids": BILL_IDS,
        **changes,
    }


def line(**changes: Any) -> dict[str, Any]:
    return {
        "line_id": "L71",
        "status": "Suspended",
        "contract_end_date": "2026-05-31",
        "data_refueling_gb": 0.0,
        "roaming_enabled": False,
        **changes,
    }


def bill(bill_id: str, status: str, **changes: Any) -> dict[str, Any]:
    return {
        "bill_id": bill_id,
        "customer_id": "C7",
        "total_due": 48.5,
        "line_items": [],
        "status": status,
        **changes,
    }


class TelecomTalk(Talk):
    def __init__(self, domain: Domain = TELECOM) -> None:
        super().__init__(domain)

    def details(self, record: Mapping[str, Any]) -> TelecomTalk:
        return self.tool("get_details_by_id", record, id=next(iter(record.values())))

    def bills(self, *listed: Mapping[str, Any], **limit: Any) -> TelecomTalk:
        return self.tool("get_bills_for_customer", list(listed), customer_id="C7", **limit)

    def judge(self, name: str, **arguments: Any) -> Verdict:
        return GATE.judge(ToolCall(name=name, arguments=arguments), self.state.ledger)

    def stale(self, path: str) -> set[str]:
        entry = self.ledger.get(Path.parse(path))
        assert entry is not None
        return {".".join(mark.fields) for mark in entry.stale}


def known() -> TelecomTalk:
    """The customer and their suspended line have been read, no bill yet."""
    talk = TelecomTalk().user("hello")
    return talk.tool("get_customer_by_phone", customer(), phone_number="1").details(line())


def resume(talk: TelecomTalk) -> Verdict:
    return talk.judge("resume_line", **ON_LINE)


def request(talk: TelecomTalk, bill_id: str) -> Verdict:
    return talk.judge("send_payment_request", customer_id="C7", bill_id=bill_id)


def violated(verdict: Verdict) -> set[str]:
    return {f.predicate for f in verdict.violations}


def asked(verdict: Verdict) -> set[str]:
    return {str(read) for f in verdict.missing for read in f.reads}


# Samples and clauses


def sample_ledger(sample: Mapping[str, Any]) -> Ledger:
    ledger = ledger_of(sample["ledger"], TELECOM)
    for write in sample.get("writes", ()):
        call = ToolCall(name=write["name"], arguments=write["arguments"])
        ledger = absorb(ledger, call, ToolReturn(call_id="", content="done"), TELECOM).ledger
    return ledger


def sample_cases() -> Iterable[Any]:
    for rule, sides in SAMPLES.items():
        for side, samples in sides.items():
            for number, sample in enumerate(samples):
                yield pytest.param(rule, side, sample, id=f"{rule}-{side}-{number}")


@pytest.mark.parametrize(("rule", "side", "sample"), list(sample_cases()))
def test_samples(rule: str, side: str, sample: Mapping[str, Any]) -> None:
    call = ToolCall(name=sample["call"]["name"], arguments=sample["call"]["arguments"])
    verdict = GATE.judge(call, sample_ledger(sample))
    if side == "allowed":
        assert verdict.decision is Decision.ALLOW
        assert not verdict.shadow
    else:
        assert rule in {f.predicate for f in (*verdict.findings, *verdict.shadow)}


def test_every_predicate_has_samples_and_a_clause() -> None:
    ids = {rule.id for rule in TELECOM.predicates}
    assert set(SAMPLES) == ids
    assert all(sides["allowed"] and sides["rejected"] for sides in SAMPLES.values())
    enforced = {name for clause in TELECOM.clauses for name in clause.predicates}
    assert enforced == ids
    assert {rule.clause for rule in TELECOM.predicates} <= {c.id for c in TELECOM.clauses}


def test_no_sample_makes_a_rule_fail_or_leaves_a_reason_unfilled() -> None:
    for rule, sides in SAMPLES.items():
        for sample in sides["rejected"]:
            call = ToolCall(name=sample["call"]["name"], arguments=sample["call"]["arguments"])
            verdict = GATE.judge(call, sample_ledger(sample))
            for finding in (*verdict.findings, *verdict.shadow):
                assert finding.kind in (Kind.VIOLATION, Kind.EVIDENCE), (rule, finding)
                assert "{" not in finding.reason


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


# Dual control: what the customer may have changed


def awaiting() -> TelecomTalk:
    return known().bills(bill("B71", "Paid"), bill("B72", "Awaiting Payment"))


def test_a_bill_just_read_as_awaiting_payment_is_not_paid() -> None:
    assert violated(resume(awaiting())) == {"telecom/resume-bills-paid"}


def test_after_a_turn_of_the_customer_a_bill_that_awaited_payment_is_unknown() -> None:
    verdict = resume(awaiting().user("I have paid"))
    assert not verdict.violations
    assert 'get_details_by_id(id="B72")' in asked(verdict)
    assert "may have been changed by the customer" in verdict.feedback
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


# The shared data


def rows(file: File) -> Iterable[Any]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def outcome(verdict: Verdict) -> str:
    if verdict.violations or verdict.errors:
        return "reject"
    return "revise_read" if verdict.missing else "allow"


def names_the_read(verdict: Verdict, expect: Mapping[str, Any]) -> bool:
    wanted = [read for read in (expect["read"], *expect.get("read_any", ())) if read]
    reads = [read for f in verdict.missing for read in f.reads]
    return not wanted or any(
        read.name == want["name"] and read.arguments == want["arguments"]
        for read in reads
        for want in wanted
    )


def is_right(verdict: Verdict, expect: Mapping[str, Any]) -> bool:
    got = outcome(verdict)
    if got not in expect.get("accept", [expect["decision"]]):
        return False
    if got == "reject":
        names = expect.get("clause_any", [expect["clause"]])
        return any(f.clause in names for f in verdict.violations)
    return got == "allow" or names_the_read(verdict, expect)


def test_labelled_cases(data_dir: File) -> None:
    policy = json.loads((data_dir / "benchmarks/policy/telecom.json").read_text("utf-8"))
    apart = {c["id"] for c in policy if c["checkable"] in ("dialogue", "mixed")}
    wrong, judged = [], 0
    for row in rows(data_dir / "benchmarks/cases/telecom.jsonl.gz"):
        state = State()
        for message in read_messages(row["messages"]):
            state = state.observe(message, TELECOM)
        call = ToolCall(name=row["call"]["name"], arguments=row["call"]["arguments"])
        if row["clause"] not in apart:
            judged += 1
            if not is_right(GATE.judge(call, state.ledger), row["expect"]):
                wrong.append(row["id"])
    assert judged > 200
    assert wrong == []


def test_no_gold_write_is_a_violation(data_dir: File) -> None:
    executed = 0
    for row in rows(data_dir / "benchmarks/oracle/telecom_gold.jsonl.gz"):
        talk = TelecomTalk().user()
        for step in row["calls"]:
            if step.get("requestor") != "assistant":
                talk.user()
                continue
            verdict = talk.judge(step["name"], **step["arguments"])
            if TELECOM.effect(step["name"]) is Effect.WRITE and not step["error"]:
                executed += 1
                assert not verdict.violations, (row["task_id"], verdict.feedback)
                assert not verdict.errors
            talk.tool(step["name"], step["content"], **step["arguments"])
    assert executed > 100


def test_every_tool_of_the_environment_is_declared(data_dir: File) -> None:
    tools = json.loads((data_dir / "benchmarks/tau2/telecom/tools.json").read_text("utf-8"))
    kinds = {"read": Read, "write": Write}
    assert {tool["name"] for tool in tools} == {tool.tool for tool in TELECOM.tools}
    for tool in tools:
        declared = TELECOM.tool(tool["name"])
        expected = kinds.get(tool["type"])
        assert expected is None or isinstance(declared, expected), tool["name"]
        given = tool["schema"]["function"]["parameters"]
        if isinstance(declared, Write):
            assert set(declared.arguments.__annotations__) <= set(given["properties"])


def test_every_clause_is_in_the_clause_file(data_dir: File) -> None:
    policy = json.loads((data_dir / "benchmarks/policy/telecom.json").read_text("utf-8"))
    assert [(c.id, c.checkable) for c in TELECOM.clauses] == [
        (c["id"], c["checkable"]) for c in policy
    ]
