"""A conversation in the making, for tests of a pack's rules and routes."""

from __future__ import annotations

import json
from typing import Any, Self

from ledgeragent.domain import Domain
from ledgeragent.ledger import Ledger
from ledgeragent.paths import Path
from ledgeragent.state import State
from ledgeragent.types import Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Verdict


class Talk:
    """Each step returns the conversation, so that steps can be chained.

    Every call carries the same id, as in recorded runs that repeat theirs.
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.state = State()

    def user(self, text: str = "") -> Self:
        self.state = self.state.observe(UserMessage(text=text), self.domain)
        return self

    def tool(self, name: str, answer: Any, **arguments: Any) -> Self:
        content = answer if isinstance(answer, str) else json.dumps(answer)
        call = ToolCall(name=name, arguments=arguments, id="same")
        self.state = self.state.observe(Reply(calls=(call,)), self.domain)
        returned = ToolReturn(call_id="same", content=content)
        self.state = self.state.observe(returned, self.domain)
        return self

    @property
    def ledger(self) -> Ledger:
        return self.state.ledger

    def value(self, path: str) -> Any:
        entry = self.ledger.get(Path.parse(path))
        return entry.value if entry is not None else None


def violated(verdict: Verdict) -> set[str]:
    """The rules that observed facts contradict."""
    return {finding.predicate for finding in verdict.violations}


def asked(verdict: Verdict) -> set[str]:
    """The reads that the verdict asks for."""
    return {str(read) for finding in verdict.missing for read in finding.reads}
