"""A conversation with the shop's agent: every turn as lines, its calls left, verdicts and ledger right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledgeragent.agent import LedgerAgent, Model
from ledgeragent.demo.columns import Ink, ScreenLine, ScreenSpan, beside, paragraph
from ledgeragent.demo.shop.shop import Shop
from ledgeragent.domain import Domain
from ledgeragent.gate import Filtered, Gate
from ledgeragent.journal.recorder import Recorder, new_session
from ledgeragent.ledger import Ledger
from ledgeragent.paths import quote
from ledgeragent.types import Message, Reply, UserMessage
from ledgeragent.verdict import Decision, Verdict

if TYPE_CHECKING:
    from ledgeragent.journal import Journal

MOST_REPLIES = 12
_INDENT = 9
_COLOURS = {Decision.ALLOW: "green", Decision.REVISE: "yellow", Decision.BLOCK: "red"}


@dataclass(frozen=True, slots=True)
class ChatRow:
    """One thing that happened: what was said or called, and what it meant for gate and ledger."""

    label: str
    text: str
    verdict: Verdict | None = None
    notes: tuple[str, ...] = ()


class ShopChat:
    """One conversation with LedgerAgent in a shop of its own, recorded in `journal` if given."""

    def __init__(self, model: Model, domain: Domain, journal: Journal | None = None) -> None:
        self.shop = Shop()
        self._agent = LedgerAgent(gate=Gate(domain=domain), model=model, watch=self._judged)
        self._recorder = Recorder(domain, journal)
        self._name = new_session()

    @property
    def ledger(self) -> Ledger:
        """The latest observed state."""
        return self._agent.state.ledger

    def turn(self, text: str) -> Iterator[ChatRow]:
        """The rows from a message of the customer until the agent has answered it."""
        yield ChatRow("you", text)
        self._observe(UserMessage(text=text))
        for _ in range(MOST_REPLIES):
            start = len(self._agent.verdicts)
            reply = self._agent.step()
            for filtered in self._agent.verdicts[start:]:
                yield from map(self._called, filtered.verdicts)
            if reply.text or not reply.calls:
                yield ChatRow("agent", reply.text or "(nothing)")
            if not reply.calls:
                return
        yield ChatRow("agent", "(gave up: it went on calling tools)")

    def _called(self, verdict: Verdict) -> ChatRow:
        if not verdict.allowed:
            return ChatRow("calls", str(verdict.call), verdict)
        before = self.ledger
        returned = self.shop.execute(verdict.call)
        self._observe(returned)
        notes = tuple(_changes(before, self.ledger))
        failed = (str(returned.content),) if returned.failed else ()
        return ChatRow("calls", str(verdict.call), verdict, (*notes, *failed))

    def _observe(self, message: Message) -> None:
        before = self._agent.state
        self._agent.observe(message)
        self._recorder.note(self._name, message, before, self._agent.state)

    def _judged(self, reply: Reply, filtered: Filtered) -> None:
        self._recorder.judged(self._name, reply, filtered)


def _changes(before: Ledger, after: Ledger) -> Iterator[str]:
    """The effects of a return on the ledger, one path at a time."""
    for entry in after:
        earlier = before.get(entry.path)
        if earlier is entry:
            continue
        if not entry.stale or earlier is None:
            yield f"{entry.path} is known"
        for mark in entry.stale:
            if earlier is not None and mark not in earlier.stale:
                yield f"{'.'.join((str(entry.path), *map(quote, mark.fields)))} is out of date"


def lines(row: ChatRow, width: int, ink: Ink) -> list[str]:
    """A row as text: what happened left, verdict and ledger right."""
    left_width = (width - 3) * 11 // 20
    right_width = width - 3 - left_width
    style = "cyan" if row.label == "calls" else "bold"
    label = ScreenSpan(row.label, style)
    left = paragraph(row.text, left_width, label=label, indent=_INDENT)
    right = list(_right(row, right_width))
    bar = ScreenSpan(f" {ink.bar} ", "dim")
    return [ink.paint(line) for line in beside((left, right), (left_width, right_width), bar)]


def _right(row: ChatRow, width: int) -> Iterator[ScreenLine]:
    if row.verdict is not None:
        verdict = row.verdict
        decision = ScreenSpan(verdict.decision.name, _COLOURS[verdict.decision])
        yield from paragraph(verdict.feedback, width, label=decision, indent=_INDENT)
    for note in row.notes:
        yield from paragraph(note, width, label=ScreenSpan("ledger", "dim"), indent=_INDENT)


def ledger_lines(ledger: Ledger) -> list[str]:
    """Every path of the ledger, and what of it is out of date."""
    paths = []
    for entry in sorted(ledger, key=lambda e: e.path):
        stale = " (in part out of date)" if entry.stale else ""
        paths.append(f"{entry.path}{stale}")
    return paths or ["nothing has been read yet"]
