"""JUnit XML, for continuous integration: one test case per predicate."""

from __future__ import annotations

from ledgeragent.offline.tally import Result
from ledgeragent.report.as_text import rejected_text, stopped_text
from ledgeragent.report.junit import Case, suite
from ledgeragent.report.parts import SENTENCE, place_of, shorten
from ledgeragent.verdict import Enforcement


def replay_junit(result: Result, domain: str) -> str:
    """The result of a replay: a predicate fails if it rejects a write that really executed.

    What a predicate in shadow would have rejected is output of its case, no failure.
    """
    rejected: dict[str, list[str]] = {}
    for row in result.rejected:
        rejected.setdefault(row["predicate"], []).append(rejected_text(row))
    failed: dict[str, list[str]] = {}
    told: dict[str, list[str]] = {}
    for error in result.errors:
        lists = failed if error["enforcement"] == Enforcement.ENFORCE.value else told
        lists.setdefault(error["predicate"], []).append(
            f"{place_of(error)}: {shorten(error['error'], SENTENCE)}"
        )
    for shadow in (*result.shadow, *result.neutral.stopped):
        told.setdefault(shadow["predicate"], []).append(stopped_text(shadow))
    cases = [
        Case(
            name=name,
            error=f"failed on {len(failed.get(name, []))} calls",
            errors=failed.get(name, []),
            failure=f"{len(rejected.get(name, []))} executed writes would be rejected",
            failures=rejected.get(name, []),
            told=told.get(name, []),
        )
        for name in result.by_predicate
    ]
    return suite(f"ledgeragent replay {domain}", domain, cases)
