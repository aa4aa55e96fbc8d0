"""A story: one action of a domain in a run of our own, after the reads that it needs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tests.bench.oracle.made import Step, run

ADA = {"username": "ada"}


@dataclass(frozen=True)
class Story:
    """One action of a domain, after the reads that establish its conditions."""

    domain: str
    tool: str
    arguments: dict[str, Any]
    reads: tuple[Step, ...] = ()
    numbers: dict[str, Any] = field(default_factory=dict)

    def record(self, *, login: bool = True, password: bool = True) -> dict[str, Any]:
        """The run, with the action done and named nowhere else."""
        opening = [("login_user", ADA, "True")] * login
        opening += [("authenticate_admin_password", ADA, "True")] * password
        action = (self.tool, self.arguments, "True")
        return run(*opening, *self.reads, action, goal="", numbers=self.numbers)

    def answering(self, tool: str, answer: str) -> Story:
        """The story where a tool answers otherwise."""
        assert tool in {step[0] for step in self.reads}
        reads = tuple((n, a, answer if n == tool else old) for n, a, old in self.reads)
        return replace(self, reads=reads)

    def without(self, tool: str) -> Story:
        """The story without a read."""
        return replace(self, reads=tuple(step for step in self.reads if step[0] != tool))


def pair(tool: str, answer: object, **arguments: Any) -> Step:
    """A read that answers with a pair."""
    return tool, arguments, repr((True, answer))


def alone(tool: str, answer: str, **arguments: Any) -> Step:
    """A read that answers with the value alone."""
    return tool, arguments, answer
