"""Helpers for testing a domain's rules, shipped for users: a ledger in one line, a verdict in one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from ledgeragent.domain import Domain
from ledgeragent.gate import Gate
from ledgeragent.state import ledger_of
from ledgeragent.types import Json, Message, Reply, ToolCall
from ledgeragent.verdict import Decision, Verdict

__all__ = [
    "ScriptedModel",
    "assert_allows",
    "assert_blocks",
    "assert_revises",
    "judge",
    "ledger_of",
]


class ScriptedModel:
    """A `Model` that gives prepared replies in order, and keeps the prompts it was given."""

    def __init__(self, replies: Iterable[Reply]) -> None:
        self._replies = deque(replies)
        self.prompts: list[tuple[tuple[Message, ...], str, str]] = []

    def generate(self, history: Sequence[Message], context: str, feedback: str) -> Reply:
        """The next prepared reply."""
        self.prompts.append((tuple(history), context, feedback))
        return self._replies.popleft()


def judge(domain: Domain, records: Mapping[str, Json], tool: str, **arguments: Json) -> Verdict:
    """The verdict on a call when these records have been observed."""
    call = ToolCall(name=tool, arguments=arguments)
    return Gate(domain=domain).judge(call, ledger_of(records, domain))


def assert_allows(
    domain: Domain, records: Mapping[str, Json], tool: str, **arguments: Json
) -> Verdict:
    """Fails unless the call is allowed."""
    return _expect(Decision.ALLOW, judge(domain, records, tool, **arguments))


def assert_revises(
    domain: Domain, records: Mapping[str, Json], tool: str, **arguments: Json
) -> Verdict:
    """Fails unless the call is answered with REVISE."""
    return _expect(Decision.REVISE, judge(domain, records, tool, **arguments))


def assert_blocks(
    domain: Domain, records: Mapping[str, Json], tool: str, **arguments: Json
) -> Verdict:
    """Fails unless the call is answered with BLOCK."""
    return _expect(Decision.BLOCK, judge(domain, records, tool, **arguments))


def _expect(decision: Decision, verdict: Verdict) -> Verdict:
    findings = [f"{f.predicate}: {f.error or f.reason}" for f in verdict.findings]
    assert verdict.decision is decision, (
        f"expected {decision.name}, got {verdict.decision.name}: {'; '.join(findings) or 'no finding'}"
    )
    return verdict
