"""The arms: which gate each has."""

from __future__ import annotations

from ledgeragent.bench.arms.arms import ARMS
from ledgeragent.packs import load_domain
from ledgeragent.testing import ledger_of
from ledgeragent.types import ToolCall

TOOLS = {tool.tool for tool in load_domain("retail").tools}
CANCEL = ToolCall(name="cancel_pending_order", arguments={"order_id": "#W1", "reason": "x"})


def test_the_arms_are_those_of_the_experiment() -> None:
    assert list(ARMS) == [
        "fc",
        "ledgeragent",
        "ledger-only",
        "gate-only",
        "ledgeragent-paper",
        "ledger-empty",
        "irma",
        "fama",
    ]


def test_only_arms_with_a_gate_reject() -> None:
    empty = ledger_of({})
    rejects = {
        name: not arm.gate_for(TOOLS).judge(CANCEL, empty).allowed
        for name, arm in ARMS.items()
        if arm.kind == "ledger"
    }
    assert [name for name, rejected in rejects.items() if rejected] == [
        "ledgeragent",
        "gate-only",
        "ledgeragent-paper",
    ]


def test_the_papers_arm_judges_stale_values_as_they_were() -> None:
    assert ARMS["ledgeragent-paper"].gate_for(TOOLS).stale == "value"
    assert ARMS["ledgeragent"].gate_for(TOOLS).stale == "unknown"


def test_the_empty_arm_knows_no_tool() -> None:
    gate = ARMS["ledger-empty"].gate_for(TOOLS)
    assert gate.domain.tools == ()
    assert gate.judge(CANCEL, ledger_of({})).allowed
