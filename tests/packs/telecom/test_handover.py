"""Handing over: what is left to do, where the policy demands it, and what was never spoken of."""

from __future__ import annotations

from typing import Any

import pytest

from ledgeragent.gate import Gate
from ledgeragent.state import State
from ledgeragent.types import Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Decision, Verdict
from tests.packs.talk import asked, violated
from tests.packs.telecom.talk import GATE, TELECOM, TelecomTalk, bill, customer, line

NUMBER, OTHER = "555-010-0071", "555-010-0072"
ACTIVE = line(status="Active", phone_number=NUMBER, plan_id="P71")
SUSPENDED = line(phone_number=NUMBER, plan_id="P71")
USAGE = {"customer_id": "C7", "line_id": "L71"}
UNTRIED, UNCHECKED = "telecom/transfer-untried", "telecom/transfer-unchecked"


def usage(used: Any, refuelled: Any = "0.0", limit: Any = "5.0") -> dict[str, Any]:
    return {
        "line_id": "L71",
        "data_used_gb": used,
        "data_limit_gb": limit,
        "data_refueling_gb": refuelled,
        "cycle_end_date": "2025-02-28",
    }


class Call(TelecomTalk):
    """A customer who rings about a line."""

    def __init__(self, record: dict[str, Any] | None = None, said: str = "hello") -> None:
        super().__init__()
        self.user(said)
        self.tool("get_customer_by_phone", customer(phone_number=NUMBER), phone_number=NUMBER)
        if record is not None:
            self.details(record)

    def say(self, text: str) -> Call:
        self.state = self.state.observe(Reply(text=text), self.domain)
        return self

    def use(self, used: Any, refuelled: Any = "0.0", limit: Any = "5.0") -> Call:
        self.tool("get_data_usage", usage(used, refuelled, limit), **USAGE)
        return self

    def lost(self, name: str, **arguments: Any) -> Call:
        call = ToolCall(name=name, arguments=arguments, id="lost")
        self.state = self.state.observe(Reply(calls=(call,)), self.domain)
        answer = ToolReturn(call_id="lost", content="Error: 504 gateway timeout", error=True)
        self.state = self.state.observe(answer, self.domain)
        return self

    def hand_over(self, summary: str = "The customer needs help.") -> Verdict:
        return self.judge("transfer_to_human_agents", summary=summary)


# What is left to do


def test_the_usage_of_an_active_line_is_asked_for() -> None:
    verdict = Call(ACTIVE).hand_over()
    assert verdict.decision is Decision.REVISE
    assert asked(verdict) == {
        'get_data_usage(customer_id="C7", line_id="L71")',
        'get_details_by_id(id="P71")',
    }


def test_an_agent_without_the_tool_for_usage_is_asked_for_the_plan() -> None:
    bound = Gate(domain=TELECOM.bind({"get_details_by_id", "transfer_to_human_agents"}))
    call = ToolCall(name="transfer_to_human_agents", arguments={"summary": "x"})
    assert asked(bound.judge(call, Call(ACTIVE).ledger)) == {'get_details_by_id(id="P71")'}


@pytest.mark.parametrize(
    ("used", "refuelled", "allowed"),
    [("5.1", "0.0", False), ("5.0", "0.0", True), ("5.1", "0.5", True), (5.1, 0, False)],
)
def test_an_exceeded_limit_without_a_refuel_is_left_to_do(
    used: Any, refuelled: Any, allowed: bool
) -> None:
    verdict = Call(ACTIVE).use(used, refuelled).hand_over()
    assert violated(verdict) == (set() if allowed else {UNTRIED})
    assert allowed or 'refuel_data(customer_id="C7", line_id="L71", gb_amount=?)' in str(verdict)


def test_line_and_plan_tell_the_usage_as_well() -> None:
    plan = {"plan_id": "P71", "data_limit_gb": 5.0, "data_refueling_price_per_gb": 2.0}
    over = Call({**ACTIVE, "data_used_gb": 5.5}).details(plan)
    assert violated(over.judge("transfer_to_human_agents", summary="x")) == {UNTRIED}
    under = Call({**ACTIVE, "data_used_gb": 4.5}).details(plan)
    assert under.judge("transfer_to_human_agents", summary="x").allowed


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("La factura B71 de $48,50 está vencida. ¿Le envío una solicitud de pago?", True),
        ("Rechnung B71 über 48.50 $ ist offen. Möchten Sie sie begleichen?", True),
        ("B71 の 48.5 ドルが未払いです。お支払いになりますか？", True),
        ("La factura B71 de $48,50 está vencida.", False),
        ("¿Y la factura B72 de $48,50?", False),
        ("¿Qué puedo hacer por usted?", False),
    ],
)
def test_an_offer_to_pay_is_one_in_any_language(text: str, offered: bool) -> None:
    talk = Call(SUSPENDED).bills(bill("B71", "Overdue"), bill("B72", "Paid")).say(text)
    assert violated(talk.hand_over()) == (set() if offered else {UNTRIED})


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("Sie haben 5,1 von 5 GB verbraucht. Soll ich 2 GB für 4 $ dazugeben?", True),
        ("Sie haben 5,1 von 5 GB verbraucht.", False),
        ("Geht es Ihnen gut?", False),
    ],
)
def test_an_offer_of_data_is_one_in_any_language(text: str, offered: bool) -> None:
    verdict = Call(ACTIVE).use("5.1").say(text).hand_over()
    assert violated(verdict) == (set() if offered else {UNTRIED})


def test_data_that_was_added_or_offered_is_no_longer_left_to_do() -> None:
    added = Call(ACTIVE).use("5.1").tool("refuel_data", {"message": "done"}, **USAGE, gb_amount=1)
    assert added.judge("transfer_to_human_agents", summary="x").allowed
    offered = Call(ACTIVE).use("5.1").say("Shall I add 2 GB of data for 4 dollars?").user("No.")
    assert offered.judge("transfer_to_human_agents", summary="x").allowed
    assert not Call(ACTIVE).use("5.1").say("You are over your limit.").hand_over().allowed


@pytest.mark.parametrize(("refuelled", "allowed"), [("1.0", True), ("0.0", False)])
def test_after_a_refuel_without_a_result_the_usage_tells(refuelled: str, allowed: bool) -> None:
    talk = Call(ACTIVE).use("5.1").lost("refuel_data", **USAGE, gb_amount=1)
    assert asked(talk.hand_over()) == {'get_data_usage(customer_id="C7", line_id="L71")'}
    verdict = talk.use("5.1", refuelled).hand_over()
    assert verdict.allowed is allowed
    assert violated(verdict) == (set() if allowed else {UNTRIED})


@pytest.mark.parametrize(
    ("statuses", "allowed"),
    [
        (("Overdue", "Paid"), False),
        (("Overdue", "Awaiting Payment"), True),
        (("Paid", "Awaiting Payment"), True),
        (("Paid", "Disputed"), True),
    ],
)
def test_an_overdue_bill_of_a_suspended_line_is_left_to_do(
    statuses: tuple[str, str], allowed: bool
) -> None:
    bills = [bill(name, status) for name, status in zip(("B71", "B72"), statuses, strict=True)]
    verdict = Call(SUSPENDED).bills(*bills).judge("transfer_to_human_agents", summary="x")
    assert violated(verdict) == (set() if allowed else {UNTRIED})
    call = 'send_payment_request(customer_id="C7", bill_id="B71")'
    assert allowed or call in verdict.feedback


@pytest.mark.parametrize("other", ["Paid", "Draft", "Issued"])
def test_a_suspended_line_that_owes_nothing_is_left_to_be_resumed(other: str) -> None:
    talk = Call(SUSPENDED).bills(bill("B71", "Paid"), bill("B72", other))
    verdict = talk.judge("transfer_to_human_agents", summary="x")
    assert violated(verdict) == {UNTRIED}
    assert 'resume_line(customer_id="C7", line_id="L71")' in verdict.feedback


def test_once_all_is_paid_the_line_is_left_to_be_resumed() -> None:
    talk = Call(SUSPENDED).bills(bill("B71", "Overdue"), bill("B72", "Paid"))
    talk.tool("send_payment_request", "Payment request sent", customer_id="C7", bill_id="B71")
    talk.user("Paid.").details(bill("B71", "Paid"))
    assert violated(talk.judge("transfer_to_human_agents", summary="x")) == {UNTRIED}


def test_a_line_that_was_resumed_or_cannot_be_is_no_longer_left_to_do() -> None:
    def settled() -> Call:
        talk = Call(SUSPENDED)
        talk.bills(bill("B71", "Paid"), bill("B72", "Paid"))
        return talk

    done = settled().tool("resume_line", "done", customer_id="C7", line_id="L71")
    assert done.user("Still dead").judge("transfer_to_human_agents", summary="x").allowed
    for words in ("I tried to lift the suspension, but it was refused.", "L71 bleibt gesperrt."):
        talk = settled().say(words).user("Then?")
        assert talk.judge("transfer_to_human_agents", summary="x").allowed
    ended = Call({**SUSPENDED, "contract_end_date": "2025-02-24"})
    ended.bills(bill("B71", "Paid"), bill("B72", "Paid"))
    assert ended.hand_over().allowed


def test_the_bills_of_a_suspended_line_are_asked_for() -> None:
    verdict = Call(SUSPENDED).details(bill("B71", "Overdue"))
    assert 'get_bills_for_customer(customer_id="C7")' in asked(
        verdict.judge("transfer_to_human_agents", summary="x")
    )


def test_a_payment_that_was_requested_or_offered_is_no_longer_left_to_do() -> None:
    bills = bill("B71", "Overdue"), bill("B72", "Paid")
    sent = Call(SUSPENDED).bills(*bills)
    sent.tool("send_payment_request", "Payment request sent", customer_id="C7", bill_id="B71")
    assert sent.user().judge("transfer_to_human_agents", summary="x").allowed
    offered = Call(SUSPENDED)
    offered.bills(*bills)
    assert (
        offered.say("Would you like to pay it?")
        .user("No")
        .judge("transfer_to_human_agents", summary="x")
        .allowed
    )
    refused = Call(SUSPENDED).bills(*bills)
    refused.tool("send_payment_request", "Error: no such bill", customer_id="C7", bill_id="B71")
    assert not refused.judge("transfer_to_human_agents", summary="x").allowed


# Where the policy demands it, or the records say nothing


@pytest.mark.parametrize("end", ["2025-01-31", "2025-02-24", "soon"])
def test_a_contract_that_has_ended_demands_it(end: str) -> None:
    overdue = bill("B71", "Overdue"), bill("B72", "Paid")
    talk = Call({**SUSPENDED, "contract_end_date": end}).bills(*overdue)
    assert talk.judge("transfer_to_human_agents", summary="x").allowed


def test_an_active_line_whose_contract_has_ended_is_helped_all_the_same() -> None:
    ended = {**ACTIVE, "contract_end_date": "2025-01-31"}
    assert not Call(ended).use("5.1").hand_over().allowed


@pytest.mark.parametrize(
    ("said", "summary", "allowed"),
    [
        ("The SIM is locked with a PIN.", "x", True),
        ("It wants a PUK code for the SIM.", "x", True),
        ("yes", "The SIM card is locked (PIN).", True),
        ("The SIM is active, it is not locked.", "x", False),
        ("I unlocked my phone.", "x", False),
    ],
)
def test_a_locked_sim_demands_it(said: str, summary: str, allowed: bool) -> None:
    overdue = bill("B71", "Overdue"), bill("B72", "Paid")
    talk = Call(SUSPENDED, said).bills(*overdue)
    assert talk.judge("transfer_to_human_agents", summary=summary).allowed is allowed


@pytest.mark.parametrize("status", ["Closed", "Pending Activation", "Frozen"])
def test_a_line_in_another_status_asks_for_nothing(status: str) -> None:
    assert Call({**ACTIVE, "status": status}).hand_over().allowed


def test_nobody_known_and_no_line_read_ask_for_nothing() -> None:
    assert TelecomTalk().user().judge("transfer_to_human_agents", summary="x").allowed
    assert Call().hand_over().allowed


@pytest.mark.parametrize("answer", ["Sorry, later.", usage("a lot"), {"line_id": "L71"}, [1]])
def test_usage_that_cannot_be_understood_keeps_nobody(answer: Any) -> None:
    talk = Call(ACTIVE).tool("get_data_usage", answer, **USAGE)
    assert talk.judge("transfer_to_human_agents", summary="x").allowed


def test_usage_that_cannot_be_had_keeps_nobody() -> None:
    answer = "Error: Line L71 not found for customer C7"
    talk = Call(ACTIVE).tool("get_data_usage", answer, **USAGE)
    verdict = talk.judge("transfer_to_human_agents", summary="x")
    assert asked(verdict) == {'get_details_by_id(id="P71")'}
    talk.tool("get_details_by_id", "Error: Plan with ID P71 not found", id="P71")
    verdict = talk.judge("transfer_to_human_agents", summary="x")
    assert verdict.allowed and verdict.undecided


def test_a_bill_of_unknown_status_keeps_nobody() -> None:
    talk = Call(SUSPENDED).bills(bill("B71", "Refunded"), bill("B72", "Paid"))
    assert talk.judge("transfer_to_human_agents", summary="x").allowed


# Which line it is about


def test_it_is_about_the_line_whose_number_was_given() -> None:
    second = line(line_id="L72", status="Active", phone_number=OTHER, plan_id="P71")
    talk = Call(ACTIVE).details(second)
    talk.tool("get_data_usage", usage("4.0"), **USAGE)
    talk.tool("get_data_usage", {**usage("9.0"), "line_id": "L72"}, customer_id="C7", line_id="L72")
    assert talk.judge("transfer_to_human_agents", summary="x").allowed
    talk.user("It is about (555) 010 0072.")
    assert violated(talk.judge("transfer_to_human_agents", summary="x")) == {UNTRIED}


def test_lines_of_which_none_was_named_ask_for_nothing() -> None:
    talk = TelecomTalk().user("hello").tool("get_customer_by_id", customer(), customer_id="C7")
    talk.details(ACTIVE)
    assert not talk.judge("transfer_to_human_agents", summary="x").allowed
    talk.details(line(line_id="L72", status="Active", phone_number=OTHER))
    assert talk.judge("transfer_to_human_agents", summary="x").allowed


def test_the_only_line_that_was_read_may_be_another_than_the_one_looked_up() -> None:
    talk = TelecomTalk().user("hello")
    talk.tool("get_customer_by_phone", customer(phone_number="555-010-0070"), phone_number=OTHER)
    assert talk.details(ACTIVE).judge("transfer_to_human_agents", summary="x").allowed
    contact = TelecomTalk().user("hello")
    contact.tool("get_customer_by_phone", customer(phone_number=OTHER), phone_number=OTHER)
    assert not contact.details(ACTIVE).judge("transfer_to_human_agents", summary="x").allowed


def test_the_number_that_was_looked_up_counts_once_bills_were_read_as_well() -> None:
    talk = TelecomTalk().user()
    talk.tool("get_customer_by_phone", customer(phone_number=NUMBER), phone_number=OTHER)
    talk.details(SUSPENDED)
    for statuses in (("Overdue", "Paid"), ("Paid", "Paid")):
        talk.bills(*(bill(name, s) for name, s in zip(("B71", "B72"), statuses, strict=True)))
        assert talk.judge("transfer_to_human_agents", summary="x").allowed


def test_a_line_of_a_stranger_is_not_in_question() -> None:
    stranger = line(line_id="L81", status="Active", phone_number="555-010-0081", plan_id="P71")
    assert Call().details(stranger).judge("transfer_to_human_agents", summary="x").allowed


# What was never spoken of


def warned(said: str, spoken: str, summary: str = "x") -> set[str]:
    state = State().observe(UserMessage(text=said), TELECOM)
    talk = TelecomTalk()
    talk.state = state.observe(Reply(text=spoken), TELECOM)
    verdict = talk.judge("transfer_to_human_agents", summary=summary)
    assert verdict.allowed
    return {finding.predicate for finding in verdict.shadow}


@pytest.mark.parametrize(
    ("said", "spoken", "silent"),
    [
        ("My mobile data is slow.", "Please turn on Data Roaming.", True),
        ("My mobile data is slow.", "Is data roaming on in your phone's settings?", True),
        ("My mobile data is slow.", "I have enabled roaming on your line.", False),
        ("My mobile data is slow.", "Please restart the phone.", False),
        ("I can't send MMS.", "Turn on data roaming on the device.", False),
        ("I can't send MMS.", "Does the app have the storage permission?", False),
        ("I can't send pictures.", "Turn on data roaming. Check the app's permissions.", True),
        ("I have no service.", "Please restart the phone.", True),
        ("The internet is gone, and the SIM is locked.", "I see.", True),
    ],
)
def test_data_and_mms_need_the_switches_of_the_phone(said: str, spoken: str, silent: bool) -> None:
    assert warned(said, spoken) == (set() if silent else {UNCHECKED})


def test_the_warning_names_what_was_not_asked() -> None:
    talk = TelecomTalk().user("I can't send MMS.")
    feedback = talk.judge("transfer_to_human_agents", summary="x").feedback
    assert "data roaming" in feedback and "permissions" in feedback
    assert "not executed" not in feedback


def test_a_remark_in_the_reply_that_hands_over_counts() -> None:
    talk = TelecomTalk().user("My internet is slow.")
    call = ToolCall(name="transfer_to_human_agents", arguments={"summary": "x"})
    _, silent = talk.state.filter(Reply(text="Is data roaming on?", calls=(call,)), GATE, "drop")
    _, told = talk.state.filter(Reply(calls=(call,)), GATE, "drop")
    assert not silent.feedback
    assert "data roaming" in told.feedback


# The call itself


@pytest.mark.parametrize("arguments", [{}, {"summary": 3}, {"summary": "x", "to": "a friend"}])
def test_a_hand_over_takes_a_summary(arguments: dict[str, Any]) -> None:
    assert not TelecomTalk().judge("transfer_to_human_agents", **arguments).allowed
