"""Drift: where a pack says otherwise than recorded conversations show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ledgeragent.compiler.shapes import shape_of
from ledgeragent.domain import Domain
from ledgeragent.effects import Read, Route, Write
from ledgeragent.mining.aftermath import Aftermath
from ledgeragent.mining.callhistory import AnsweredCall, CallHistory
from ledgeragent.mining.conduct import subject
from ledgeragent.mining.profile import Profile
from ledgeragent.mining.recording import RecordedRuns
from ledgeragent.mining.typedrift import fields_seen, type_drift
from ledgeragent.offline.binding import Binding
from ledgeragent.returned import parse_return, unwrapped
from ledgeragent.types import Json

CODES = {
    "unlisted-tool": "a tool that the conversations call and the pack does not list",
    "always-fails": "a read that never answered",
    "unreadable": "returns that no route of the tool can read",
    "type": "values of another type than the declared one",
    "outside-list": "values outside a declared list",
    "sometimes-absent": "a field that is declared without ? and is absent or null at times",
    "never-seen": "a declared field that no return has",
    "undeclared-field": "a field of returns that the record does not declare",
    "never-changed": "a touch that no look before and after the write confirms",
    "undeclared-change": "a change after a write alone that the write does not declare",
}
"""What can differ, by code."""

_LEAST_CALLS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Discrepancy:
    """One way in which a pack and the conversations differ: `times` of `of` cases show it."""

    code: str
    tool: str
    text: str
    times: int
    of: int


def compare(binding: Binding, recording: RecordedRuns) -> list[Discrepancy]:
    """The differences between a pack, in YAML or Python, and conversations.

    Those that record values of its parameters are compared with the pack as it is with these.
    """
    comparison = _Comparison(binding.domain())
    for history in recording:
        recording.intake.count_values(binding.own_values(history.parameters))
        comparison.add(history, binding.domain_with(history.parameters))
    return [*comparison.differences()]


class _Comparison:
    """What the conversations so far show of the tools of a domain."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._calls: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._unlisted: Counter[str] = Counter()
        self._unread: dict[str, Counter[str]] = {}
        self._profiles: dict[str, tuple[str, Route[Any], Profile]] = {}
        self._aftermath = Aftermath(domain)

    def add(self, history: CallHistory, domain: Domain) -> None:
        """Counts a conversation; `domain` is the pack as it is for this one."""
        for step in history.steps:
            if self._domain.tool(step.tool) is None:
                self._unlisted[step.tool] += 1
                continue
            self._calls[step.tool] += 1
            self._failed[step.tool] += step.failure is not None
            if step.failure is None:
                self._read(step, history.number, domain)
        self._aftermath.add(history, domain)

    def _read(self, step: AnsweredCall, run: int, domain: Domain) -> None:
        """Takes in the records of a return, as the routes of its tool have them."""
        problems = []
        tool = domain.tool(step.tool)
        all_routes: Sequence[Route[Any]] = domain.routes(step.tool)
        if isinstance(tool, Write):
            all_routes = tool.returns
        routes = [route for route in all_routes if route.when(step.call.arguments)]
        for route in routes:
            try:
                records = [*_records(route, step)]
            except Exception as problem:  # whatever a pack's own parser does with an odd return
                problems.append(str(problem) or type(problem).__name__)
                continue
            *_, profile = self._profiles.setdefault(route.to.text, (step.tool, route, Profile()))
            for record in records:
                profile.add(record, run, subject(step.call))
        if problems and len(problems) == len(routes):
            self._unread.setdefault(step.tool, Counter())[problems[0][:120]] += 1

    # ── Differences ─────────────────────────────────────────────────────────────────────────────

    def differences(self) -> Iterator[Discrepancy]:
        """What differs, tool by tool, then family by family, then write by write."""
        for tool, times in sorted(self._unlisted.items()):
            text = f"called {times:,} times, and the pack does not list it"
            yield _of("unlisted-tool", tool, text, times, times)
        yield from self._of_reads()
        yield from self._of_types()
        yield from self._of_touches()

    def _of_types(self) -> Iterator[Discrepancy]:
        typed = [
            (tool, path, shape_of(route.to.record), profile)
            for path, (tool, route, profile) in sorted(self._profiles.items())
        ]
        seen = {field for _, _, shape, profile in typed for field in fields_seen(shape, profile)}
        for tool, path, shape, profile in typed:
            for drift in type_drift(shape, profile, path):
                if drift.code != "never-seen" or drift.field not in seen:
                    yield _of(
                        drift.code, tool, f"{drift.place} {drift.text}", drift.times, drift.of
                    )

    def _of_reads(self) -> Iterator[Discrepancy]:
        for tool, calls in sorted(self._calls.items()):
            if not self._domain.routes(tool):
                continue
            failed = self._failed[tool]
            if failed == calls >= _LEAST_CALLS:
                yield _of("always-fails", tool, f"all of {calls:,} calls failed", calls, calls)
            for problem, times in self._unread.get(tool, Counter()).most_common(3):
                text = f"{times:,} of {calls - failed:,} returns cannot be read: {problem}"
                yield _of("unreadable", tool, text, times, calls - failed)

    def _of_touches(self) -> Iterator[Discrepancy]:
        for touch, looks in self._aftermath.never_changed():
            tool, path, field = touch
            if isinstance(self._domain.tool(tool), Write):
                text = (
                    f"touches {path}{field and f': {field}'}, which no one of {looks:,} looks saw"
                )
                yield _of("never-changed", tool, f"{text} change", 0, looks)
        for (tool, path, field), times, looks in self._aftermath.undeclared():
            text = f"{path}: {field} changed after it in {times:,} of {looks:,} looks, undeclared"
            yield _of("undeclared-change", tool, text, times, looks)


def _records(route: Route[Any], step: AnsweredCall) -> Iterator[Json]:
    raw = step.returned.content
    content = unwrapped(raw, route.own)
    if isinstance(content, str):
        if isinstance(route, Read) and route.failed(content):
            return
        content = parse_return(raw, content, route.parse, route.own)
    yield from route.records(content, step.call.arguments)


def _of(code: str, tool: str, text: str, times: int, of: int) -> Discrepancy:
    return Discrepancy(code=code, tool=tool, text=text, times=times, of=of)
