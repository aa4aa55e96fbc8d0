"""The loop guard's memory: what was rejected before, and for what."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ledgeragent.persistent import PersistentMap
from ledgeragent.verdict import Finding, Kind, Verdict

_Counts: TypeAlias = PersistentMap[tuple[str, str], Mapping[str, int]]
_NONE: _Counts = PersistentMap({})
_ASKS = "asks "


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejections:
    """The loop guard's memory: how often each call was rejected, by its intent, and on what grounds.

    The grounds are a predicate, the facts that it rests on and the reads that it asks for, in short:
    where one of them has changed there was progress, and nothing repeats. Once a call lacks something
    else, what it lacked before has come, and is forgotten: to lack it again is new.
    """

    counts: _Counts = _NONE

    def of(self, verdict: Verdict) -> int:
        """How often this very rejection was given before."""
        counts = self.counts.get(verdict.call.intent) if self.counts else None
        return max((counts.get(key, 0) for key in _grounds(verdict)), default=0) if counts else 0

    def add(self, *verdicts: Verdict) -> Rejections:
        """This memory with the rejections of a reply.

        The same one counts once: whoever sent the call twice had not heard of the first.
        """
        grounds: dict[tuple[str, str], set[str]] = {}
        for verdict in verdicts:
            grounds.setdefault(verdict.call.intent, set()).update(_grounds(verdict))
        fresh = {intent: self._counted(intent, keys) for intent, keys in grounds.items()}
        return Rejections(counts=self.counts.put_all(fresh))

    def _counted(self, intent: tuple[str, str], grounds: set[str]) -> Mapping[str, int]:
        before = self.counts.get(intent) or {}
        asks = any(key.startswith(_ASKS) for key in grounds)
        others = {k: n for k, n in before.items() if not (asks and k.startswith(_ASKS))}
        return {**others, **{key: before.get(key, 0) + 1 for key in grounds}}


def _grounds(verdict: Verdict) -> list[str]:
    """What is rejected for each violation by itself, and for all that is asked for together.

    Whoever reads one thing of several makes progress, although the others are asked for again.
    """
    missing = [_ground(finding) for finding in verdict.missing]
    rest = [_ground(finding) for finding in verdict.findings if finding.kind is not Kind.EVIDENCE]
    return [*rest, _ASKS + " ".join(missing)] if missing else rest


def _ground(finding: Finding) -> str:
    """The predicate, and a digest of what its finding rests on and asks for."""
    facts = [(fact.record, fact.fields, fact.value) for fact in finding.facts]
    requests = [call.intent for call in (*finding.reads, *finding.waits_for)]
    digest = hashlib.blake2b(
        repr((facts, requests)).encode("utf-8", "backslashreplace"), digest_size=8
    )
    return f"{finding.predicate} {digest.hexdigest()}"
