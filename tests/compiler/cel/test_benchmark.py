"""The benchmark of rules in CEL: every sample of the shop's pack can be measured."""

from __future__ import annotations

import pytest

from ledgeragent import load_domain
from ledgeragent.compiler.samples import samples_from_json

pytest.importorskip("cel_expr_python")


def test_every_sample_can_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import cel

    judged = []
    monkeypatch.setattr(cel, "microseconds", lambda work: judged.append(work()) or 1.0)
    domain = load_domain(str(cel.SHOP / "pack.yaml"))
    samples = samples_from_json(cel.SHOP / "pack" / "samples.json")
    assert {cel.cost(sample, domain, 1) for sample in samples} == {1.0}
    assert len(judged) == len(samples) > 10
