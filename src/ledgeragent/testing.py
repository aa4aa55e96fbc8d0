"""Helpers for testing a domain's rules, shipped for users: a ledger in one line, a verdict in one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from ledgeragent.domain import Domain
from ledgeragent.gate import Gate
from ledgeragent.ledger import Entry, Ledger
from ledgeragent.paths import Path
from ledgeragent.types import Json, Message, Reply, ToolCall
from ledgeragent.verdict import Decision, Verdict


class ScriptedModel:
    """A `Model` that gives prepared replies in order, and keeps the prompts it was given."""

    def __init__(self, replies: Iterable[Reply]) -> None:
        self._replies = deque(replies)
        self.prompts: list[tuple[tuple[Message, ...], str, str]] = []

    def generate(self, history: Sequence[Message], context: str, feedback: str) -> Reply:
        """The next prepared reply."""
        self.prompts.append((tuple(history), context, feedback))
        return self._replies.popleft()


def ledger_of(records: Mapping[str, Json], domain: Domain | None = None) -> Ledger:
    """A ledger holding these records: `ledger_of({"orders.#W1": {"status": "pending"}})`.

    With a domain, each record's source is the read that would supply it.
    """
    ledger = Ledger()
    for text, value in records.items():
        path = Path.parse(text)
        reads = domain.reads_for(path) if domain is not None else ()
        source = reads[0] if reads else ToolCall(name="given")
        ledger = ledger.put(Entry(path=path, value=value, source=source, turn=0))
    return ledger


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
    found = [f"{f.predicate}: {f.error or f.reason}" for f in verdict.findings]
    assert verdict.decision is decision, (
        f"expected {decision.name}, got {verdict.decision.name}: {'; '.join(found) or 'no finding'}"
    )
    return verdict
