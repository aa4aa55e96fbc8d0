"""JSON: the stable interface that docs/formats.md describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ledgeragent.offline.cases import CasesResult, Score
from ledgeragent.offline.judging import ALLOW, BLOCK, REVISE_EVIDENCE, REVISE_VIOLATION
from ledgeragent.offline.neutral import CORRECT, PREMATURE, SOLVED, STOPPED
from ledgeragent.offline.tally import Result
from ledgeragent.report.parts import dump
from ledgeragent.types import Json

_OUTCOMES = (ALLOW, REVISE_VIOLATION, REVISE_EVIDENCE, BLOCK)
_WRITES = ("judged", *_OUTCOMES, "executed")
_PREDICATE = ("judged", *_OUTCOMES, "undecided", "errors", "shadow", "shadow_evidence")
_RUNS = (
    "runs",
    "runs_with_executed_write",
    "runs_with_rejected_executed_write",
    "runs_asked_for_a_read",
    "runs_asked_before_an_executed_write",
)
_REWARDS = ("1", "0", "unscored")


def replay_json(result: Result) -> str:
    """The result of a replay as one JSON object."""
    by_reward = {r: _counts(result.by_reward.get(r, {}), _RUNS) for r in _REWARDS}
    return dump(
        {
            "runs": result.runs,
            "calls": result.calls,
            "skipped": result.skipped.total(),
            "skipped_by_reason": dict(sorted(result.skipped.items())),
            "problems": result.problems,
            "writes": _counts(result.writes, _WRITES),
            "by_predicate": {
                name: {
                    "clause": result.clauses[name],
                    "enforcement": result.levels[name],
                    **_counts(counts, _PREDICATE),
                }
                for name, counts in result.by_predicate.items()
            },
            "by_reward": by_reward,
            "asked_by_clause": {
                clause: {
                    "asked": _counts(counts, _REWARDS),
                    "before_an_executed_write": _counts(
                        result.halted_by_clause.get(clause, {}), _REWARDS
                    ),
                }
                for clause, counts in sorted(result.asked_by_clause.items())
            },
            "rejected_reward_1": result.rejected_solved(),
            "rejected_executed_writes": result.rejected,
            "shadow_executed_writes": result.shadow,
            "neutral_calls": _neutral(result),
            "rejected_neutral_calls": result.neutral.stopped,
            "near_misses": result.near_misses,
            "errors": result.errors,
        }
    )


def cases_json(result: CasesResult) -> str:
    """The result of labelled cases as one JSON object."""
    return dump(_cases(result))


def domains_json(results: Mapping[str, CasesResult]) -> str:
    """The results of several domains as one JSON object."""
    return dump({"domains": {name: _cases(result) for name, result in results.items()}})


def _cases(result: CasesResult) -> Json:
    return {
        **_score(result.decided),
        "by_kind": {kind: _score(score) for kind, score in sorted(result.by_kind.items())},
        "by_file": {file: _score(score) for file, score in result.by_file.items()},
        "mismatches": result.decided.mismatches,
        "apart": {**_score(result.apart), "mismatches": result.apart.mismatches},
        "skipped": result.skipped,
    }


def _neutral(result: Result) -> Json:
    """Guarded calls that write nothing, with what each rule catches and what it disturbs."""
    return {
        **_counts(result.neutral.outcomes, _WRITES),
        "by_predicate": {
            name: {
                "tools": result.neutral.tools[name],
                "enforcement": result.levels[name],
                PREMATURE: _stops(counts, PREMATURE, "caught"),
                CORRECT: _stops(counts, CORRECT, "disturbed"),
                SOLVED: _stops(counts, SOLVED, "disturbed"),
            }
            for name, counts in result.neutral.by_predicate.items()
        },
    }


def _stops(counts: Mapping[str, int], group: str, what: str) -> dict[str, int]:
    return {"runs": counts.get(group, 0), what: counts.get(f"{group}_{STOPPED}", 0)}


def _counts(counts: Mapping[str, int], names: Sequence[str]) -> dict[str, int]:
    return {name: counts.get(name, 0) for name in names}


def _score(score: Score) -> dict[str, int]:
    return {"cases": score.cases, "correct": score.correct}
