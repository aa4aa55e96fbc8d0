"""Handing a conversation over to a person."""

from __future__ import annotations

import pytest

from ledgeragent.state import State
from ledgeragent.types import Reply, ToolCall
from tests.packs.telehealth.talk import ANA, GATE, Talk, details, profile, provider, record

DEVICES = "Telemetry devices:\nKIT-1 | status=available | last_audit=2025-07-01 | notes=a"
TECHNICAL = ToolCall(
    name="transfer_to_human_support", arguments={"reason": "no picture in the call"}
)


def test_a_transfer_of_a_known_patient_with_nothing_tried_is_only_recorded() -> None:
    verdict = Talk().located().profile(profile(), ANA).transfer()
    assert verdict.allowed
    assert not verdict.feedback
    assert [f.predicate for f in verdict.shadow] == ["telehealth/transfer-untried"]
    assert verdict.shadow[0].clause == "telehealth/transfer-only-out-of-scope"


def test_a_transfer_that_the_policy_demands_is_never_turned_back() -> None:
    state = State(Talk().located().ledger)
    for _ in range(5):
        state, filtered = state.filter(Reply(calls=(TECHNICAL,)), GATE, "tool_result")
        assert filtered.execute == (TECHNICAL,)


@pytest.mark.parametrize(
    "talk",
    [
        Talk(),
        Talk().located("No patient found with email: x@example.org"),
        Talk().located().details(details()),
        Talk().located().list(f"No appointments found for patient {ANA}."),
        Talk().located().provider(provider()),
        Talk().located().tool("list_available_providers", "No providers found.", specialty="X"),
        Talk().located().prescriptions(),
        Talk().located().tool("get_medical_record", record(), record_id="REC900"),
        Talk().located().suppliers("No suppliers in Mars for Sertraline.", country_filter="Mars"),
        Talk().located().tool("list_telemetry_devices", DEVICES),
    ],
)
def test_a_transfer_after_a_try_or_without_a_patient(talk: Talk) -> None:
    verdict = talk.transfer()
    assert verdict.allowed
    assert not verdict.shadow
