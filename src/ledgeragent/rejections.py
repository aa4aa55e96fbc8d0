"""The loop guard's memory: what was rejected before, and for what."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from ledgeragent.persistent import PersistentMap
from ledgeragent.verdict import Finding, Kind, Verdict

_NONE: PersistentMap[tuple[str, str, str], int] = PersistentMap({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejections:
    """The loop guard's memory: how often each rejection was given.

    A rejection is a call, a predicate, the facts it rests on and the reads it asks for, in short:
    where one of them has changed there was progress, and nothing repeats.
    """

    counts: PersistentMap[tuple[str, str, str], int] = field(default_factory=lambda: _NONE)

    def of(self, verdict: Verdict) -> int:
        """How often this very rejection was given before."""
        if not self.counts:
            return 0
        keys = _rejection_keys(verdict)
        return max((self.counts.get(key) or 0 for key in keys), default=0)

    def add(self, *verdicts: Verdict) -> Rejections:
        """This memory with the rejections of a reply.

        The same one counts once: whoever sent the call twice had not heard of the first.
        """
        keys = {key for verdict in verdicts for key in _rejection_keys(verdict)}
        fresh = {key: (self.counts.get(key) or 0) + 1 for key in keys}
        return Rejections(counts=self.counts.put_all(fresh))


def _rejection_keys(verdict: Verdict) -> list[tuple[str, str, str]]:
    """What is rejected for each violation by itself, and for all that is asked for together.

    Whoever reads one thing of several makes progress, although the others are asked for again.
    """
    missing = [_grounds(finding) for finding in verdict.missing]
    rest = [_grounds(finding) for finding in verdict.findings if finding.kind is not Kind.EVIDENCE]
    grounds = [*rest, " ".join(missing)] if missing else rest
    return [(*verdict.call.intent, ground) for ground in grounds]


def _grounds(finding: Finding) -> str:
    """The predicate, and a digest of what its finding rests on and asks for."""
    facts = [(fact.record, fact.fields, fact.value) for fact in finding.facts]
    requests = [call.intent for call in (*finding.reads, *finding.waits_for)]
    digest = hashlib.blake2b(
        repr((facts, requests)).encode("utf-8", "backslashreplace"), digest_size=8
    )
    return f"{finding.predicate} {digest.hexdigest()}"
