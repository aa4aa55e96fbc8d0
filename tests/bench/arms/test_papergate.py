"""The paper's arm: as many predicates, telehealth ungated, both running examples, whose turn it is."""

from __future__ import annotations

import json

import pytest

from ledgeragent.agent import LedgerAgent
from ledgeragent.bench.arms.arms import ARMS, OpenGate
from ledgeragent.bench.arms.papergate import LOOP, PREDICATES, paper_gate
from ledgeragent.errors import UsageError
from ledgeragent.packs import load_domain
from ledgeragent.testing import ScriptedModel
from ledgeragent.types import Reply, ToolReturn, UserMessage
from ledgeragent.verdict import Decision
from tests.packs.airline import test_cancel as airline
from tests.packs.retail import test_payments as retail

ARM = ARMS["ledgeragent-paper"]
HELLO = UserMessage(text="Hello.")


def agent(domain: str, *replies: Reply) -> LedgerAgent:
    tools = {tool.tool for tool in load_domain(domain).tools}
    gate = ARM.method.gate(tools)
    return LedgerAgent(gate=gate, model=ScriptedModel(replies), keeps_turn=ARM.method.keeps_turn)


def test_there_are_as_many_as_the_paper_has_and_two_have_its_names() -> None:
    assert {domain: len(some) for domain, some in PREDICATES.items()} == {
        "airline": 10,
        "retail": 12,
        "telecom": 6,
        "telehealth": 0,
    }
    named = {one.named: one.rule for some in PREDICATES.values() for one in some if one.named}
    assert named == {
        "cancel_requires_basis": "airline/cancel-basis",
        "retail_refund_payment_in_order_history": "retail/refund-destination",
    }


@pytest.mark.parametrize("domain", [domain for domain, some in PREDICATES.items() if some])
def test_the_gate_has_these_rules_and_no_other(domain: str) -> None:
    gate = paper_gate(load_domain(domain))
    assert gate is not None and gate.budget > 0
    assert {rule.id for rule in gate.domain.predicates} | {LOOP} == {
        predicate.rule for predicate in PREDICATES[domain]
    }


def test_telehealth_has_no_gate() -> None:
    tools = {tool.tool for tool in load_domain("telehealth").tools}
    assert isinstance(ARM.gate_for(tools), OpenGate)


def test_a_domain_of_no_paper_is_refused() -> None:
    with pytest.raises(UsageError, match="no such domain"):
        paper_gate(load_domain("shop"))


def test_its_first_running_example_is_blocked() -> None:
    playing = agent(
        "airline",
        Reply(calls=(airline.RESERVATION_READ,)),
        Reply(calls=(airline.PROFILE_READ,)),
        Reply(calls=(airline.CANCEL_SI5UKW,)),
    )
    playing.step(UserMessage(text="Cancel SI5UKW. I do not accept no."))
    playing.step(airline.answers(airline.RESERVATION_READ, airline.SI5UKW))
    refusal = playing.step(airline.answers(airline.PROFILE_READ, airline.AMELIA))
    [verdict] = playing.verdicts[-1].verdicts
    assert verdict.decision is Decision.BLOCK
    assert [f.predicate for f in verdict.findings] == ["airline/cancel-basis"]
    assert refusal.calls == () and playing.generations == 3


def test_its_second_running_example_is_revised_and_then_let_pass() -> None:
    lookup = retail.read(
        "find_user_id_by_name_zip", "1", first_name="Chen", last_name="Silva", zip="46281"
    )
    refused, accepted = (
        retail.refund_to(retail.MASTERCARD, "4"),
        retail.refund_to(retail.CHENS_GIFT, "5"),
    )
    playing = agent(
        "retail",
        Reply(calls=(lookup,)),
        Reply(calls=(retail.look(retail.chen(), "2")[0],)),
        Reply(calls=(retail.look(retail.tablets(), "3")[0],)),
        Reply(text="I have refunded your Mastercard.", calls=(refused,)),
        Reply(text="It can only go to the gift card that paid for it. Is that fine?"),
        Reply(calls=(accepted,)),
    )
    playing.step(UserMessage(text="I'm Chen Silva, zip 46281. Return the dearer tablet."))
    playing.step(ToolReturn(call_id="1", content=retail.CHEN))
    playing.step(ToolReturn(call_id="2", content=json.dumps(retail.chen())))
    answer = playing.step(ToolReturn(call_id="3", content=json.dumps(retail.tablets())))
    [verdict] = playing.verdicts[-2].verdicts
    assert verdict.decision is Decision.REVISE
    assert [f.predicate for f in verdict.findings] == ["retail/refund-destination"]
    assert "gift card" in answer.text  # what came with the revised call was not sent
    assert all("Mastercard" not in m.text for m in playing.history if isinstance(m, Reply))
    assert playing.step(UserMessage(text="Fine.")).calls == (accepted,)


def test_only_the_papers_arm_keeps_text_beside_a_revised_call_from_the_customer() -> None:
    assert [arm.name for arm in ARMS.values() if arm.method.keeps_turn] == ["ledgeragent-paper"]
    cancel = retail.refund_to(retail.CHENS_GIFT, "1")
    wordy = Reply(text="Done.", calls=(cancel,))
    kept = agent("retail", wordy, wordy, wordy)
    last = kept.step(HELLO)
    assert kept.generations == 3 and last.text != "Done." and last.calls == ()
    gate = ARMS["ledgeragent"].method.gate({tool.tool for tool in load_domain("retail").tools})
    assert LedgerAgent(gate=gate, model=ScriptedModel([wordy])).step(HELLO).text == "Done."
