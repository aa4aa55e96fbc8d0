"""Drafting of rules: from a draft of a pack and its recording to the files with rules and samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ledgeragent.mining.callhistory import CallHistory
from ledgeragent.mining.draft import Draft
from ledgeragent.mining.packtext import PackText
from ledgeragent.mining.rules.masking import Mask
from ledgeragent.mining.rules.proof import proven
from ledgeragent.mining.rules.proposal import LEAST_SITUATIONS, DraftRule, proposals, thin_tools
from ledgeragent.mining.rules.rulestext import rules_text, samples_text
from ledgeragent.mining.rules.trial import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftedRules:
    """The rules that stand, the files that hold them, and the reason against each other one.

    `thin` are the writes with too few different situations for any rule, with how many they have.
    """

    proposals: Sequence[DraftRule]
    texts: Mapping[str, str]
    faults: Mapping[str, str]
    thin: Mapping[str, int]

    @property
    def guarded(self) -> frozenset[str]:
        """The writes that they guard."""
        return frozenset(proposal.question.tool for proposal in self.proposals)


def drafted(
    domain: str,
    draft: Draft,
    histories: Iterable[CallHistory],
    redact: Iterable[str] = (),
    least: int = LEAST_SITUATIONS,
) -> DraftedRules:
    """The rules of a draft, from going through its conversations once more.

    `redact` are paths whose texts are masked in samples; a tool has rules from `least` situations on.
    """
    trial = Trial(draft)
    for history in histories:
        trial.add(history)
    listed = proposals(trial, least)
    mask = Mask(redact)
    for proposal in listed:
        for sample in (proposal.allowed, proposal.rejected):
            for path, record in sample.records.items():
                mask.learn(path, record)
    guards = {proposal.question.tool for proposal in listed}
    standing, faults = proven(domain, PackText(draft, domain).text(guards), listed, mask)
    thin = thin_tools(trial, least)
    texts = {
        "rules.yaml": rules_text(domain, standing, thin, least, faults),
        "samples.yaml": samples_text(domain, standing, mask),
    }
    return DraftedRules(proposals=standing, texts=texts, faults=faults, thin=thin)
