"""The demo's screen: each conversation up to where the runs part, then both side by side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ledgeragent.demo.columns import Ink, ScreenLine, ScreenSpan, beside, paragraph, wrapped
from ledgeragent.demo.play import Played, SceneCall, SceneEvent, Speech, shared
from ledgeragent.demo.scenarios import Scenario
from ledgeragent.demo.shop.shop import ShopChange
from ledgeragent.domain import Domain
from ledgeragent.ledger import Entry, Evidence
from ledgeragent.types import Json
from ledgeragent.verdict import Decision, Finding, Kind, Verdict

_INDENT = 9
_COLOURS = {Decision.ALLOW: "green", Decision.REVISE: "yellow", Decision.BLOCK: "red"}
_SPEAKERS = {"customer": "blue", "agent": "bold"}
_INTRO = (
    "A garden shop by mail, one scripted model, three conversations. Each is played twice with the "
    "same model, tools and database: as a plain tool-calling agent, and through LedgerAgent, which "
    "keeps a ledger of the records read and judges every change before it is made. ALLOW: the call "
    "runs. REVISE: the model hears why not, and tries again. BLOCK: the action is refused."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """A scenario and how it went without and with LedgerAgent."""

    scenario: Scenario
    plain: Played
    guarded: Played


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """Draws shows to a width, in some ink; `domain` tells how many rules a call has to pass."""

    width: int
    domain: Domain
    ink: Ink

    def draw(self, shows: Sequence[Show]) -> str:
        """The whole demo as text."""
        lines = [(ScreenSpan("LedgerAgent demo", "bold"),), *self._text(_INTRO)]
        for show in shows:
            lines += [(), *self._show(show)]
        lines += [(), *self._outro(shows)]
        return "\n".join(map(self.ink.paint, lines)) + "\n"

    def _text(self, text: str, style: str = "") -> list[ScreenLine]:
        return [(ScreenSpan(part, style),) for part in wrapped(text, self.width)]

    def _show(self, show: Show) -> Iterator[ScreenLine]:
        scenario = show.scenario
        title = f"{scenario.number}  {scenario.title}"
        yield self._title(title, f"clause {scenario.clause}")
        yield from self._text(scenario.moral)
        yield ()
        together = shared(show.plain, show.guarded)
        lit = scenario.spotlight
        yield self._heads(("what both agents do", "what the ledger keeps"), self._halves)
        yield from self._together(show.guarded.events[:together], lit)
        yield self._heads(("plain agent", "with LedgerAgent"), self._halves)
        plain = [line for e in show.plain.events[together:] for line in self._plain(e, lit)]
        ours = [line for e in show.guarded.events[together:] for line in self._guarded(e, lit)]
        yield from self._columns((plain, ours), self._halves)
        yield from self._database(show)

    def _title(self, left: str, right: str) -> ScreenLine:
        double = self.ink.double
        middle = max(self.width - len(left) - len(right) - 8, 1)
        return (
            ScreenSpan(f"{double * 2} ", "dim"),
            ScreenSpan(left, "bold"),
            ScreenSpan(f" {double * middle} ", "dim"),
            ScreenSpan(right),
            ScreenSpan(f" {double * 2}", "dim"),
        )

    def _heads(self, texts: Sequence[str], widths: Sequence[int]) -> ScreenLine:
        rule, spans = self.ink.rule, []
        for n, (text, width) in enumerate(zip(texts, widths, strict=True)):
            if n:
                spans.append(ScreenSpan(f"{rule}{self.ink.joint} ", "dim"))
            heading = f"{text} " if len(text) < width else text[:width]
            spans += [ScreenSpan(heading, "bold"), ScreenSpan(rule * (width - len(heading)), "dim")]
        return tuple(spans)

    def _columns(
        self, blocks: Sequence[Sequence[ScreenLine]], widths: Sequence[int]
    ) -> list[ScreenLine]:
        return beside(blocks, widths, ScreenSpan(f" {self.ink.bar} ", "dim"))

    @property
    def _halves(self) -> tuple[int, int]:
        left = (self.width - 3) // 2
        return left, self.width - 3 - left

    @property
    def _thirds(self) -> tuple[int, int, int]:
        value = (self.width - 6) * 3 // 10
        return self.width - 6 - 2 * value, value, value

    def _together(self, events: Iterable[SceneEvent], lit: Spotlight) -> Iterator[ScreenLine]:
        for event in events:
            right: list[ScreenLine] = []
            if isinstance(event, SceneCall):
                right = [*self._verdict(event.verdict), *self._ledger(event, lit)]
            yield from self._columns(([*self._plain(event, lit)], right), self._halves)

    def _plain(self, event: SceneEvent, lit: Spotlight) -> Iterator[ScreenLine]:
        if isinstance(event, Speech):
            yield from self._line(event.speaker, event.text, _SPEAKERS[event.speaker])
            return
        yield from self._line("calls", str(event.call), "cyan", "cyan")
        yield from self._returned(event, lit)

    def _guarded(self, event: SceneEvent, lit: Spotlight) -> Iterator[ScreenLine]:
        if isinstance(event, Speech):
            yield from self._plain(event, lit)
            return
        yield from self._line("calls", str(event.call), "cyan", "cyan")
        yield from self._verdict(event.verdict)
        yield from self._returned(event, lit)
        yield from self._ledger(event, lit)

    def _line(
        self, label: str, text: str, colour: str = "dim", style: str = ""
    ) -> list[ScreenLine]:
        width = self._halves[0]
        return paragraph(text, width, label=ScreenSpan(label, colour), indent=_INDENT, style=style)

    def _returned(self, event: SceneCall, lit: Spotlight) -> list[ScreenLine]:
        if event.returned is None:
            return []
        text = str(event.returned.content)
        if not event.returned.failed:
            text = _answer(json.loads(text), lit)
        return self._line("tool", text, "dim", "dim")

    def _verdict(self, verdict: Verdict | None) -> Iterator[ScreenLine]:
        guard = self.domain.guard(verdict.call.name) if verdict is not None else None
        if verdict is None or guard is None or not guard.predicates:
            return
        if verdict.allowed:
            yield from self._line("ALLOW", f"{len(guard.predicates)} rules hold", "green")
        for finding in verdict.findings:
            colour = _COLOURS[finding.decision]
            yield from self._line(finding.decision.name, finding.reason, colour, "bold")
            yield from self._facts(finding)
            yield from self._line("rule", finding.predicate)

    def _facts(self, finding: Finding) -> Iterator[ScreenLine]:
        """The facts that the rule had read when it decided, and the calls that supplied them."""
        label = "because" if finding.kind is Kind.VIOLATION else "so far"
        for fact in _telling(finding.evidence):
            yield from self._line(label, f"{fact.path} = {_json(fact.value)}")
            yield from self._line("read by", str(fact.source))

    def _ledger(self, event: SceneCall, lit: Spotlight) -> Iterator[ScreenLine]:
        for entry in event.learned:
            yield from self._line("keeps", _kept(entry, lit), "green")
        marks: dict[str, list[str]] = {}
        for entry, mark in event.staled:
            marks.setdefault(str(entry.path), []).append(".".join(mark.fields))
        if marks:
            fields = "; ".join(f"{path} {', '.join(names)}" for path, names in marks.items())
            yield from self._line("STALE", f"{fields}: unknown until read again", "yellow")

    def _database(self, show: Show) -> Iterator[ScreenLine]:
        """The rows in which the two databases differ; how many more changed alike."""
        sides = [{c.path: c for c in p.changes} for p in (show.plain, show.guarded)]
        paths = sorted({*sides[0], *sides[1]})
        differ = [path for path in paths if sides[0].get(path) != sides[1].get(path)]
        heads = ("database in the end", "plain agent", "with LedgerAgent")
        yield self._heads(heads, self._thirds)
        for path in differ:
            start = next(side[path].before for side in sides if path in side)
            cells = [self._cell(side.get(path), start, show, path) for side in sides]
            name = [(ScreenSpan(part),) for part in wrapped(path, self._thirds[0])]
            yield from self._columns((name, *cells), self._thirds)
        if alike := len(paths) - len(differ):
            noun = "value" if alike == 1 else "values"
            yield from self._text(f"{alike} more {noun} changed, alike in both", "dim")

    def _cell(
        self, change: ShopChange | None, start: Json, show: Show, path: str
    ) -> list[ScreenLine]:
        text = _shown(start)
        if change is not None:
            text = f"{text} {self.ink.arrow} {_shown(change.after)}"
        right = show.scenario.right
        style = ""
        if path in right:
            good = (change.after if change is not None else start) == right[path]
            text = f"{text}  {self.ink.right if good else self.ink.wrong}"
            style = "green" if good else "red"
        return [(ScreenSpan(part, style),) for part in wrapped(text, self._thirds[1])]

    def _outro(self, shows: Sequence[Show]) -> Iterator[ScreenLine]:
        yield (ScreenSpan(self.ink.double * self.width, "dim"),)
        plain, ours = ([getattr(show, side) for show in shows] for side in ("plain", "guarded"))
        good = [sum(map(is_right, shows, played)) for played in (plain, ours)]
        calls = [sum(run.generations for run in played) for played in (plain, ours)]
        of = f"of {len(shows)}"
        yield from self._text(
            f"Database as the policy wants it: plain agent {good[0]} {of}, with LedgerAgent "
            f"{good[1]} {of}.",
            "bold",
        )
        yield from self._text(
            f"Model calls: {calls[0]} plain, {calls[1]} with LedgerAgent. A REVISE costs one, and so "
            "does the read it asks for; a BLOCK is answered without one."
        )
        yield from self._text(
            "All facts read, and the ledger in full: ledgeragent demo --format json"
        )


Spotlight = Mapping[str, tuple[str, ...]]
"""The fields, by kind of record, that a story turns on."""


def is_right(show: Show, played: Played) -> bool:
    """True if the run left the database as the scenario says it should be."""
    after = {change.path: change.after for change in played.changes}
    start = {c.path: c.before for run in (show.plain, show.guarded) for c in run.changes}
    return all(after.get(p, start.get(p)) == value for p, value in show.scenario.right.items())


def _answer(value: Json, lit: Spotlight) -> str:
    """A tool's answer, cut down to what the story turns on."""
    if not isinstance(value, dict):
        return _json(value)
    if "done" in value:
        return str(value["done"])
    names = {name for fields in lit.values() for name in fields}
    parts = [
        f'"{n.rpartition(".")[2]}": {_json(_at(value, n))}' for n in sorted(names) if _has(value, n)
    ]
    return f"{{{', '.join([*parts, '...'])}}}"


def _kept(entry: Entry, lit: Spotlight) -> str:
    """A record as it lies in the ledger, cut down to what the story turns on."""
    if not isinstance(entry.value, Mapping):
        return f"{entry.path} = {_json(entry.value)}"
    names = [name for name in lit.get(entry.path[0], ()) if _has(entry.value, name)]
    parts = [f"{name} = {_json(_at(entry.value, name))}" for name in names]
    return f"{entry.path}: {', '.join([*parts, '...'])}"


def _has(value: Json, name: str) -> bool:
    return _at(value, name) is not None


def _at(value: Json, name: str) -> Json:
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _telling(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The facts without repetition, and without looking into an object of which a part is told."""
    by_path = {fact.path: fact for fact in evidence}
    return [
        fact
        for path, fact in by_path.items()
        if not any(other.startswith(f"{path}.") for other in by_path)
    ]


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shown(value: Json) -> str:
    """A value of the database for reading: amounts with cents."""
    if value is None:
        return "none"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
