"""The section `rules` of a YAML pack: each rule becomes a `Predicate` the gate can call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ledgeragent.compiler.cases import without_cases
from ledgeragent.compiler.cel.activation import Requirement
from ledgeragent.compiler.cel.expressions import Compiler
from ledgeragent.compiler.cel.labels import CHECK, Label, Role
from ledgeragent.compiler.cel.programs import Program
from ledgeragent.compiler.cel.rule import CelCheck
from ledgeragent.compiler.cel.scope import Mistyped, Scope
from ledgeragent.compiler.cel.surroundings import Surroundings
from ledgeragent.compiler.definitions import Definitions
from ledgeragent.compiler.guarded import arguments_of
from ledgeragent.compiler.outline import EVERY, Outline, RulePart
from ledgeragent.compiler.problems import Problems, Severity, suggestion
from ledgeragent.compiler.requirements import Requirements, WrittenRequirement, needs
from ledgeragent.compiler.rulenames import check_names
from ledgeragent.compiler.rulesamples import read_samples
from ledgeragent.compiler.shapes import Object, Shape
from ledgeragent.compiler.source.sections import Sections, place_of
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.predicates import Predicate
from ledgeragent.verdict import Decision, Enforcement

RULE_KEYS = (
    "id",
    "about",
    "guards",
    "clause",
    "requires",
    "let",
    "check",
    "case",
    "verdict",
    "enforcement",
    "identity",
    "message",
    "samples",
)
PYTHON_KEYS = ("python", "enforcement", "samples")

_ID = re.compile(r"[\w-]+/[\w-]+")
_VERDICTS = ("revise", "block")
_ENFORCEMENTS = tuple(level.value for level in Enforcement)


@dataclass(slots=True)
class Rules:
    """Reads rules and their samples; what they are goes to `outline`, predicates are returned."""

    outline: Outline
    parameters: Object
    surroundings: Surroundings
    definitions: Definitions

    def predicates(self, nodes: Iterable[Node]) -> Iterator[Predicate]:
        """The predicate of every rule that is sound."""
        for node in nodes:
            sections = Sections(self.outline.findings)
            if not isinstance(node.value, dict):
                sections.find("syntax", node, "a rule should be a mapping (key: value)")
                continue
            reader = _Rule(
                self.outline, self.parameters, self.surroundings, self.definitions, sections
            )
            predicate = reader.python(node) if _is_python(node) else reader.read(node)
            if predicate is not None:
                yield predicate
            elif all(problem.severity is not Severity.ERROR for problem in self.outline.findings):
                sections.find("syntax", node, "this rule cannot be read")  # never dropped unsaid


def _has_cases(node: Node) -> bool:
    return "case" in node.value


def _is_python(node: Node) -> bool:
    return "python" in node.value


@dataclass(slots=True)
class _Rule:
    """The reading of one rule."""

    outline: Outline
    parameters: Object
    surroundings: Surroundings
    definitions: Definitions
    sections: Sections
    lets: dict[str, Node] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    mentioned: set[str] = field(default_factory=set)

    @property
    def findings(self) -> Problems:
        return self.outline.findings

    # ── A rule in Python ────────────────────────────────────────────────────────────────────────

    def python(self, node: Node) -> Predicate | None:
        """The predicate that `python: module:name` names."""
        entries = self.sections.mapping(node, "a Python rule", PYTHON_KEYS)
        self.outline.has_code = True
        predicate = self.sections.python(entries["python"])
        if predicate is None:
            return None
        if not isinstance(predicate, Predicate):
            self.sections.find("syntax", entries["python"], "is no rule made with @predicate")
            return None
        if "enforcement" in entries:
            predicate = replace(predicate, enforcement=self._enforcement(entries["enforcement"]))
        self.outline.rules.append(
            RulePart(
                id=predicate.id,
                guards=predicate.guards,
                clause=predicate.clause,
                place=place_of(node),
            )
        )
        read_samples(entries.get("samples"), predicate.id, self.outline)
        return predicate

    # ── A rule in CEL ───────────────────────────────────────────────────────────────────────────

    def read(self, node: Node) -> Predicate | None:
        """The predicate of a rule written in CEL, None where something is wrong with it."""
        before = self.findings.errors
        required = ("id", "guards") if _has_cases(node) else ("id", "guards", "message")
        entries = self.sections.mapping(node, "a rule", RULE_KEYS, required)
        rule = self.sections.text(entries.get("id"), "id")
        if rule and not _ID.fullmatch(rule):
            self.sections.find(
                "syntax", entries["id"], f"the id {rule!r} should be domain/kebab-case"
            )
        self.sections.rule = rule
        guards = self._guards(entries.get("guards"))
        entries = without_cases(entries, self.sections)
        clause = self.sections.text(entries.get("clause"), "clause")
        clause = clause or (rule if _ID.fullmatch(rule) else "")
        decision, enforcement = (
            self._decision(entries.get("verdict")),
            self._enforcement(entries.get("enforcement")),
        )
        expressions: list[Program | Mistyped] = []
        check = self._check(node, entries, guards, expressions)
        sound = self.findings.errors == before and check is not None
        if not sound:  # what it would read then is not known
            self.outline.parameters_read.add(EVERY)
        self.outline.rules.append(
            RulePart(
                id=rule,
                guards=guards,
                clause=clause,
                place=place_of(node),
                needs=tuple(needs(entries.get("requires"), self.outline)),
                test=check.test if check is not None else None,
                expressions=tuple(expressions),
                demands=check is not None and any(r.always for r in check.requires),
                sound=sound,
                clause_at=place_of(entries["clause"]) if "clause" in entries else None,
            )
        )
        read_samples(entries.get("samples"), rule, self.outline)
        if not sound or check is None:
            return None
        return Predicate(
            id=rule,
            guards=guards,
            clause=clause,
            check=check,
            decision=decision,
            enforcement=enforcement,
            identity=self.sections.flag(entries.get("identity"), "identity"),
        )

    def _decision(self, node: Node | None) -> Decision:
        return Decision[self.sections.choice(node, "verdict", _VERDICTS).upper()]

    def _enforcement(self, node: Node | None) -> Enforcement:
        return Enforcement(self.sections.choice(node, "enforcement", _ENFORCEMENTS))

    def _guards(self, node: Node | None) -> tuple[str, ...]:
        tools = self.sections.texts(node, "guards")
        if node is not None and node.value == []:
            self.sections.find("syntax", node, "guards names no tool; a rule judges at least one")
        guardable = self.outline.judged
        for tool in tools:
            if tool not in guardable and node is not None:
                reads = {part.tool for part in self.outline.reads}
                why = (
                    "is a read, and reads are not judged"
                    if tool in reads
                    else "is no write of this pack"
                )
                hint = "" if tool in reads else suggestion(tool, guardable)
                self.sections.find("unknown-tool", node, f"{tool} {why}{hint}")
        return tools

    # ── Names ───────────────────────────────────────────────────────────────────────────────────

    def _check(
        self,
        node: Node,
        entries: Mapping[str, Node],
        guards: tuple[str, ...],
        expressions: list[Program | Mistyped],
    ) -> CelCheck | None:
        own = self.sections.entries(entries.get("let"), "let")
        before = len(self.findings)
        required = self.sections.entries(entries.get("requires"), "requires")
        check_names(required, own, self.definitions, self.sections)
        self.lets = {**self.definitions.named_in(entries), **own}
        if len(self.findings) > before:
            return None  # every use of these names would be found again
        around = self.surroundings.shapes
        self.shapes = {
            "args": arguments_of(guards, self.outline),
            "params": self.parameters,
            **{name: around[name] for name in around if name not in {**required, **self.lets}},
        }
        reader = Requirements(self.outline, self.sections, self.shapes)
        written = {name: reader.read(name, entry) for name, entry in required.items()}
        compiler = self._compiler(node, entries, written)
        sound = compiler.compile() and None not in written.values()
        expressions += (*compiler.programs.values(), *compiler.scope.mistyped)
        self._note_use(compiler, own, sound)
        if not sound:
            return None
        requires = tuple(
            self._compiled(requirement, compiler) for requirement in written.values() if requirement
        )
        test = compiler.program(CHECK) if "check" in entries else None
        if ("check" in entries) != (test is not None):
            return None
        messages = compiler.messages()
        about = self.sections.text(entries.get("about"), "about")
        named = compiler.mentioned - {*required, *self.lets}
        return CelCheck(
            about=about,
            requires=requires,
            test=test,
            messages=messages,
            surroundings=self.surroundings.of(named),
        )

    def _note_use(self, compiler: Compiler, own: Mapping[str, Node], sound: bool) -> None:
        """Notes which parameters the rule reads, and finds values that it names and never uses."""
        if not sound:
            return
        for places in compiler.uses.values():
            for use, _ in places:
                if use.root == "params":
                    self.outline.parameters_read.add(use.fields[0] if use.fields else EVERY)
        for name, node in own.items():
            if name not in compiler.mentioned:
                self.sections.find("unused", node, f"nothing in this rule uses {name}")

    # ── Expressions ─────────────────────────────────────────────────────────────────────────────

    def _compiled(self, written: WrittenRequirement, compiler: Compiler) -> Requirement:
        requirement = written.requirement
        return replace(
            requirement,
            when=compiler.program(Label(Role.WHEN, requirement.name)),
            each=compiler.program(Label(Role.EACH, requirement.name)),
            always=requirement.always or requirement.name not in compiler.mentioned,
        )

    def _compiler(
        self,
        node: Node,
        entries: Mapping[str, Node],
        required: Mapping[str, WrittenRequirement | None],
    ) -> Compiler:
        compiler = Compiler(Scope(self.shapes, self.findings, self.sections.rule), self.lets)
        for written in required.values():
            if written is not None:
                compiler.add_keys(written.requirement.keys, place_of(written.at))
                compiler.add(Label(Role.EACH, written.requirement.name), written.each)
                compiler.add(Label(Role.WHEN, written.requirement.name), written.when)
        compiler.add(CHECK, entries.get("check"))
        if "check" not in entries and not required:
            self.sections.find("syntax", node, "a rule needs a check, or records that it requires")
        compiler.add_messages(entries.get("message"), self.sections)
        return compiler
