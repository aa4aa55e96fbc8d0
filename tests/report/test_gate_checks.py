"""How the gate's own checks are told: a sample is judged while it is printed, and may be wrong."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ledgeragent.offline.gatechecks import CHECKS, GateCheck
from ledgeragent.report.explanation import check_json, check_text


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_sample_on_the_wrong_side_is_told(check: GateCheck) -> None:
    assert all(sample["passed"] for sample in json.loads(check_json(check))["samples"])
    assert "NOT AS EXPECTED" not in check_text(check)
    swapped = replace(check, allowed=check.rejected, rejected=check.allowed)
    told = json.loads(check_json(swapped))["samples"]
    assert told and not any(sample["passed"] or not sample["problem"] for sample in told)
    assert check_text(swapped).count("NOT AS EXPECTED") == len(told)
