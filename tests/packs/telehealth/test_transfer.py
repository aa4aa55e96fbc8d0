"""Handing a conversation over to a person."""

from __future__ import annotations

import pytest

from ledgeragent.verdict import Decision
from tests.packs.telehealth.talk import ANA, Talk, details, profile, provider, record, violated


def test_a_known_patient_is_not_handed_over_untried() -> None:
    talk = Talk().located().profile(profile(), ANA)
    verdict = talk.transfer()
    assert violated(verdict) == {"transfer-untried"}
    assert verdict.decision is Decision.REVISE
    assert verdict.findings[0].clause == "telehealth/transfer-only-out-of-scope"


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
    ],
)
def test_a_transfer_after_a_try_or_without_a_patient(talk: Talk) -> None:
    assert talk.transfer().allowed
