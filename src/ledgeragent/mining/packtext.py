"""The text of a mined pack: YAML in which each line tells what supports it, and guesses ask for review."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledgeragent.compiler.filters import filters
from ledgeragent.compiler.guesses import words_of
from ledgeragent.compiler.recordlines import NotedField, RecordLines, yaml_line, yaml_text
from ledgeragent.compiler.shapes import (
    SCALARS,
    Choice,
    Field,
    ListOf,
    MapOf,
    Object,
    Shape,
    is_text,
)
from ledgeragent.mining.conduct import Conduct
from ledgeragent.mining.draft import Draft
from ledgeragent.mining.families import MinedRoute
from ledgeragent.mining.kindred import KeysOf
from ledgeragent.mining.world import WHOLE

_FEW_CALLS = 20
_ADVICE = """\
# The lines tell in how many conversations something was seen. "review" marks a guess: confirm it or
# mend it. Then: `ledgeragent check`, `ledgeragent replay`, and now and then `ledgeragent mine --check`.
# What no recording shows: clocks, tables, rules with an either-or, what people agreed to, and rules that
# agents break by habit. Write those from your policy."""


class PackText:
    """Writes a draft down."""

    def __init__(self, draft: Draft, name: str) -> None:
        self._draft = draft
        self._name = name
        self._records = RecordLines()
        self._keys = KeysOf(draft.routes, draft.conducts)

    def text(self, guarded: Iterable[str] = ()) -> str:
        """The whole `pack.yaml`. `guarded` are the writes that drafted rules guard."""
        guards = frozenset(guarded)
        reads = self._section("reads", self._reads())
        writes = self._section("writes", self._writes(guards))
        neutrals = self._section("neutrals", self._neutrals())
        records = self._section("records", self._records.lines())
        return "\n".join(part for part in (self._head(), records, reads, writes, neutrals) if part)

    def _head(self) -> str:
        lines = [
            f"# Drafted by `ledgeragent mine` from {_of(self._draft.runs, 'conversation')}.",
            *_ADVICE.splitlines(),
            *(
                f"# review: left out: {t}: all {n:,} calls failed"
                for t, n in self._draft.silent.items()
            ),
            *(
                f"# review: left out: {t}: none of its {n:,} calls was answered"
                for t, n in self._draft.unanswered.items()
            ),
            *(f"# review: left out: {t} may change {p}: {w}" for t, p, w in self._draft.left_out),
            "schema: ledgeragent/v1",
            f"domain: {yaml_text(self._name)}",
            'version: "1"',
        ]
        return "\n".join(map(yaml_line, lines)) + "\n"

    def _section(self, name: str, lines: Iterator[str]) -> str:
        text = "\n".join(map(yaml_line, lines))
        return f"{name}:\n{text}\n" if text else ""

    # ── Reads ───────────────────────────────────────────────────────────────────────────────────

    def _reads(self) -> Iterator[str]:
        for conduct in self._draft.named("read"):
            routes = self._draft.routes_of(conduct.tool)
            if not routes:
                yield from self._unseen(conduct)
                continue
            yield f"  {yaml_text(conduct.tool)}:  # {_calls(conduct)}; {self._why(conduct)}"
            for route in routes:
                lines = [*self._route(route)]
                first, rest = ("    - ", "      ") if len(routes) > 1 else ("    ", "    ")
                yield f"{first}{lines[0]}"
                yield from (f"{rest}{line}" for line in lines[1:])

    def _unseen(self, conduct: Conduct) -> Iterator[str]:
        """A read of which no answer was seen, kept under what it asks for."""
        spec = self._draft.specs.get(conduct.tool)
        parameters = spec.required if spec is not None else ()
        keys = "".join(f".{{{name}}}" for name in parameters if name.isidentifier())
        yield f"  {yaml_text(conduct.tool)}:  # review: {_calls(conduct)}: nothing is known of its answers"
        yield f"    to: {'_'.join(words_of(conduct.tool))}{keys}"
        yield f"    parameters: [{', '.join(map(yaml_text, parameters))}]"

    def _route(self, route: MinedRoute) -> Iterator[str]:
        family = route.family
        yield f"to: {family.path}  # review: {route.why}"
        noun = family.noun if family.lists is None else family.lists.noun
        yield f"record: {self._records.name(noun, family.shape)}"
        if route.renames:
            pairs = ", ".join(f"{k}: {yaml_text(a)}" for k, a in sorted(route.renames.items()))
            yield f"rename: {{{pairs}}}"
        yield f"parameters: [{', '.join(map(yaml_text, route.parameters))}]"
        if route.inside:
            yield f"{'each' if route.each else 'inside'}: {yaml_text(route.inside)}"
        elif route.each:
            yield "each: ."
        if route.is_partial:
            lacking = sorted(family.profile.fields.keys() - route.own.fields.keys())
            yield f"merge: true  # it never tells {', '.join(lacking)}"
        if is_text(family.shape) and not route.each:
            yield "parse: text"
        yield from self._narrowing(route)

    def _narrowing(self, route: MinedRoute) -> Iterator[str]:
        """The condition under which a list is the whole one."""
        used = self._draft.conducts[route.tool].arguments
        whole = isinstance(route.family.shape, ListOf) and not route.each
        names = filters(used, paging_only=not whole)
        keys = {route.renames.get(key, key) for key in route.family.keys}
        is_value = not route.family.profile.kinds.keys() & {"dict", "list"}
        if is_value:  # what it is asked for optionally may change its answer
            names = tuple(name for name in used if name not in route.parameters)
        free = [n for n in names if n not in keys and n.isidentifier()]
        holds_list = any("list" in f.kinds for f in route.family.profile.fields.values())
        if free and (whole or is_value or (holds_list and not route.each)):
            without = " && ".join(f"!has(args.{name})" for name in free)
            why = "else it may be another value" if is_value else "else it is a part of the list"
            yield f'when: "{without}"  # review: {why}'

    # ── Writes ──────────────────────────────────────────────────────────────────────────────────

    def _writes(self, guarded: frozenset[str]) -> Iterator[str]:
        for conduct in self._draft.named("write"):
            name = conduct.tool
            yield f"  {yaml_text(name)}:  # {_calls(conduct)}; {self._why(conduct)}"
            yield from self._arguments(conduct)
            yield from self._touches(name)
            yield from self._returns(name)
            if name not in guarded:
                yield "    unguarded: no rule was drafted  # review"

    def _arguments(self, conduct: Conduct) -> Iterator[str]:
        spec = self._draft.specs.get(conduct.tool)
        shape = spec.arguments if spec is not None else _taken(conduct)
        fields = shape.fields if isinstance(shape, Object) else {}
        yield "    arguments:" + ("" if fields else " {}")
        for name, member in fields.items():
            yield f"      {self._records.entry(name, self._noted(conduct, name, member))}"
        if spec is None and fields:
            yield "    open: true  # review: other arguments may exist that nobody used"
        elif spec is not None and spec.open and fields:
            yield "    open: true  # review: its schema lets calls carry further arguments"

    def _noted(self, conduct: Conduct, name: str, member: Field) -> NotedField:
        profile = conduct.arguments.get(name)
        count = profile.count if profile is not None else 0
        notes = (
            [f"review: in {count:,} of {conduct.executed:,} calls"] if not member.certain else []
        )
        kin = self._keys.family_of(conduct.asked[name]) if name in conduct.asked else None
        if kin is not None:
            notes.append(f"key of {kin[0]}: {kin[1]} of {kin[2]} different ones were read")
        listed = profile.listed() if profile is not None else None
        if listed is not None and not isinstance(member.shape, Choice):
            notes.append(f"so far one of {', '.join(listed)}")
        return NotedField(member.shape, member.required, member.nullable, note="; ".join(notes))

    def _touches(self, tool: str) -> Iterator[str]:
        touches = self._draft.touches[tool]
        if not touches:
            yield "    touches: []"
            yield "    untouched: nothing was seen to change  # review: did anybody look?"
            return
        yield "    touches:"
        for touch in touches:
            field = f": {yaml_text(touch.field)}" if touch.field != WHOLE else ""
            mark = "" if touch.seen and touch.sure and touch.way is not None else "review: "
            mark += "" if touch.seen else "a guess: "
            yield f"      - {touch.path}{field}  # {mark}{touch.why}"

    def _returns(self, tool: str) -> Iterator[str]:
        answer = self._draft.answers.get(tool)
        if answer is None:
            return
        yield f"    returns:  # review: {answer.why}"
        yield f"      to: {answer.family.path}"
        yield f"      record: {self._records.name(answer.family.noun, answer.family.shape)}"
        if answer.is_partial:
            yield "      merge: true"
        if answer.omit:
            yield f"      omit: [{', '.join(map(yaml_text, answer.omit))}]"

    def _neutrals(self) -> Iterator[str]:
        for conduct in self._draft.named("neutral"):
            yield f"  - {yaml_text(conduct.tool)}  # review: {_calls(conduct)}; {self._why(conduct)}"

    def _why(self, conduct: Conduct) -> str:
        kind, why = self._draft.kinds[conduct.tool]
        return f"a {kind} by {why}" if why.startswith("its name") else f"a {kind}: {why}"


def _taken(conduct: Conduct) -> Object:
    """What calls took, and no narrower: the gate refuses a call whose arguments do not fit."""
    enough = conduct.executed >= _FEW_CALLS
    fields = {
        name: Field(
            loosened(profile.shape(name)),
            required=enough and profile.count == conduct.executed,
            nullable=bool(profile.kinds["null"]),
        )
        for name, profile in conduct.arguments.items()
    }
    return Object(conduct.tool, fields)


def loosened(shape: Shape) -> Shape:
    """The type without what calls may only happen to have in common: lists of values, whole numbers."""
    match shape:
        case Choice():
            return SCALARS["str"]
        case ListOf(item):
            return ListOf(loosened(item))
        case MapOf(item):
            return MapOf(loosened(item))
        case Object(name, fields):
            return Object(name, {n: _loose(f) for n, f in fields.items()})
        case _:
            return SCALARS["str"] if shape == SCALARS["date"] else shape


def _loose(member: Field) -> Field:
    note = member.note if isinstance(member, NotedField) else ""
    bare = Field(loosened(member.shape), member.required, member.nullable)
    return NotedField(bare.shape, bare.required, bare.nullable, note=note) if note else bare


def _calls(conduct: Conduct) -> str:
    failed = conduct.calls - conduct.executed
    text = f"{_of(conduct.calls, 'call')} in {_of(conduct.runs, 'conversation')}"
    return f"{text}, {failed:,} failed" if failed else text


def _of(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
