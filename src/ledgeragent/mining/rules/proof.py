"""The proof of drafted rules: those that `check` or their own samples speak against are left out."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ledgeragent.check import findings_of
from ledgeragent.compiler.problems import Severity
from ledgeragent.compiler.samples import run
from ledgeragent.errors import DataError
from ledgeragent.mining.rules.masking import Mask
from ledgeragent.mining.rules.proposal import DraftRule
from ledgeragent.mining.rules.rulestext import rule_id, rules_text, samples_text


def proven(
    domain: str, pack: str, proposals: Sequence[DraftRule], mask: Mask
) -> tuple[Sequence[DraftRule], Mapping[str, str]]:
    """(the rules that stand, and the reason against each other one by its id).

    Raises DataError where the pack has a fault that is none of a rule.
    """
    from ledgeragent.compiler.loader import read_outline

    with tempfile.TemporaryDirectory(prefix="ledgeragent-mine-") as place:
        folder = Path(place)
        folder.joinpath("pack.yaml").write_text(pack, encoding="utf-8")
        folder.joinpath("rules.yaml").write_text(
            rules_text(domain, proposals, {}, 0, {}), encoding="utf-8"
        )
        samples = samples_text(domain, proposals, mask)
        folder.joinpath("samples.yaml").write_text(samples, encoding="utf-8")
        outline = read_outline(folder)
        faults: dict[str, str] = {}
        for finding in findings_of(outline):
            if finding.rule:
                faults.setdefault(finding.rule, finding.message)
            elif finding.severity is Severity.ERROR:
                raise DataError(f"the draft is no pack: {finding.message}", file="pack.yaml")
        whole = outline.domain or outline.trial
        for sample in outline.samples if whole is not None else ():
            outcome = run(sample, whole) if whole is not None else None
            if outcome is not None and not outcome.passed:
                faults.setdefault(sample.rule, f"its {sample.side} sample: {outcome.problem}")
    standing = [p for p in proposals if rule_id(domain, p) not in faults]
    return standing, faults
