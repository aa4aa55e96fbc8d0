"""A conversation with the shop's agent: every turn as lines, its calls left, verdicts and ledger right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ledgeragent.agent import Model
from ledgeragent.demo.columns import Ink, ScreenLine, ScreenSpan, beside, paragraph
from ledgeragent.demo.shop.shop import Shop
from ledgeragent.domain import Domain
from ledgeragent.ledger import Ledger
from ledgeragent.paths import quote
from ledgeragent.session import Session
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


@dataclass(slots=True, kw_only=True)
class ShopChat:
    """One conversation in a shop of its own, through a session."""

    model: Model
    domain: Domain
    journal: Journal | None = None
    shop: Shop = field(default_factory=Shop)
    history: list[Message] = field(default_factory=list)
    session: Session = field(init=False)

    def __post_init__(self) -> None:
        self.session = Session(self.domain, journal=self.journal)

    def turn(self, text: str) -> Iterator[ChatRow]:
        """The rows from a message of the customer until the agent has answered it."""
        yield ChatRow("you", text)
        self.session.heard(text)
        self.history.append(UserMessage(text=text))
        feedback = ""
        for _ in range(MOST_REPLIES):
            reply = self.model.generate(self.history, self.session.context(), feedback)
            filtered = self.session.filter(reply)
            feedback = filtered.feedback
            self.history += [filtered.reply, *filtered.returns]
            for verdict in filtered.verdicts:
                yield self._called(verdict)
            if filtered.decision is Decision.BLOCK and not filtered.execute:
                refusal = filtered.refusal
                self.history.append(Reply(text=refusal))
                yield ChatRow("agent", refusal)
                return
            if reply.text or not reply.calls:
                yield ChatRow("agent", reply.text or "(nothing)")
            if not reply.calls:
                return
        yield ChatRow("agent", "(gave up: it went on calling tools)")

    def _called(self, verdict: Verdict) -> ChatRow:
        if not verdict.allowed:
            return ChatRow("calls", str(verdict.call), verdict)
        before = self.session.ledger
        returned = self.shop.execute(verdict.call)
        self.history.append(returned)
        self.session.observe(returned)
        notes = tuple(_changes(before, self.session.ledger))
        failed = (str(returned.content),) if returned.failed else ()
        return ChatRow("calls", str(verdict.call), verdict, (*notes, *failed))


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
