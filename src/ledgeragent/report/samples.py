"""The samples of a pack and how they were judged, as text or JSON."""

from __future__ import annotations

from ledgeragent.compiler.samples import SIDES, SampleOutcome
from ledgeragent.journal.verdicts import plain_call
from ledgeragent.offline.sampling import SamplesResult
from ledgeragent.predicates import Predicate
from ledgeragent.report.parts import SENTENCE, call_line, dump, joined, listed, mark, shorten, table
from ledgeragent.types import Json


def samples_text(result: SamplesResult) -> str:
    """How the samples of each rule were judged, and every one that was judged otherwise."""
    rows = [
        (f"{rule.id}{mark(rule.enforcement.value)}", *(_share(result, rule, s) for s in SIDES))
        for rule in result.rules
    ]
    passed = len(result.outcomes) - len(result.failures)
    apart = f"; {result.elsewhere} speak of other versions" if result.elsewhere else ""
    return joined(
        [
            [f"{result.domain}: {passed} of {len(result.outcomes)} samples as expected{apart}"],
            table(("rule", *SIDES), rows),
            listed("Samples judged otherwise", map(_failure_text, result.failures)),
        ]
    )


def samples_json(result: SamplesResult) -> str:
    """The same as one JSON object."""
    return dump(
        {
            "domain": result.domain,
            "samples": len(result.outcomes),
            "passed": len(result.outcomes) - len(result.failures),
            "other_versions": result.elsewhere,
            "by_rule": {
                rule.id: {
                    "enforcement": rule.enforcement.value,
                    **{side: _counts(result, rule, side) for side in SIDES},
                }
                for rule in result.rules
            },
            "failures": [_failure_json(outcome) for outcome in result.failures],
        }
    )


def _counts(result: SamplesResult, rule: Predicate, side: str) -> dict[str, int]:
    own = [o for o in result.outcomes if o.sample.rule == rule.id and o.sample.side == side]
    return {"samples": len(own), "passed": sum(outcome.passed for outcome in own)}


def _share(result: SamplesResult, rule: Predicate, side: str) -> str:
    counts = _counts(result, rule, side)
    return f"{counts['passed']}/{counts['samples']}"


def _failure_text(outcome: SampleOutcome) -> str:
    sample = outcome.sample
    lines = [
        f"  {sample.place}: {sample.rule}, {sample.side}: {shorten(outcome.problem, SENTENCE)}",
        f"    {call_line(plain_call(sample.call))}",
    ]
    return "\n".join(lines)


def _failure_json(outcome: SampleOutcome) -> Json:
    sample, verdict = outcome.sample, outcome.verdict
    return {
        "rule": sample.rule,
        "side": sample.side,
        "file": sample.place.file,
        "line": sample.place.line,
        "call": plain_call(sample.call),
        "problem": outcome.problem,
        "decision": verdict.decision.name.lower(),
        "predicates": [finding.predicate for finding in verdict.findings],
        "shadow": [finding.predicate for finding in verdict.shadow],
    }
