"""Compiles all expressions of one rule together: paths, conditions, lets, the check, the message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ledgeragent.compiler.cel.activation import EACH
from ledgeragent.compiler.cel.engine import Source, environment, parse
from ledgeragent.compiler.cel.functions import COMPUTED, only_call
from ledgeragent.compiler.cel.labels import (
    CHECK,
    DEMANDING,
    Label,
    Role,
    condition_at,
    fact_at,
    is_part_of_case,
)
from ledgeragent.compiler.cel.programs import Program, compile_expression
from ledgeragent.compiler.cel.reasons import MessageFact, ReasonText, ReasonTexts
from ledgeragent.compiler.cel.scope import Scope
from ledgeragent.compiler.cel.template import split_message
from ledgeragent.compiler.cel.tree import Expr
from ledgeragent.compiler.cel.variables import Use, uses
from ledgeragent.compiler.problems import Place, Problems
from ledgeragent.compiler.source.keys import Key, Segment
from ledgeragent.compiler.source.sections import Sections, place_of
from ledgeragent.compiler.source.yamlfile import Node


@dataclass(slots=True)
class Compiler:
    """Compiles all expressions of one rule in one environment."""

    scope: Scope
    lets: Mapping[str, Node]
    pieces: dict[Label, Node] = field(default_factory=dict)
    trees: dict[Label, Expr] = field(default_factory=dict)
    programs: dict[Label, Program] = field(default_factory=dict)
    texts: list[tuple[str, list[str]]] = field(default_factory=list)
    broken: bool = False
    mentioned: set[str] = field(default_factory=set)
    uses: dict[Label, list[tuple[Use, Place]]] = field(default_factory=dict)

    def add(self, label: Label, node: Node | None) -> None:
        """Adds an expression."""
        if node is None:
            return
        if isinstance(node.value, bool | int | float):
            node = replace(node, value=str(node.value).lower())
        if not isinstance(node.value, str) or not node.value.strip():
            text = f"{label} should be a CEL expression; quote it"
            self.scope.findings.add("syntax", place_of(node), text, self.scope.rule)
            self.broken = True
            return
        self.pieces[label] = node

    def add_keys(self, keys: Iterable[Segment], place: Place) -> None:
        """Adds what the placeholders of a path read."""
        named = (key for key in keys if isinstance(key, Key) and key.root != EACH)
        places = [(Use(key.root, key.fields, 0), place) for key in named]
        self.uses[Label(Role.KEYS, str(len(self.uses)))] = places
        self.mentioned |= {use.root for use, _ in places}

    def add_messages(self, node: Node | None, sections: Sections) -> None:
        """Adds what is said of a violation: one text, or a list of `if` and `say`."""
        if node is None or not isinstance(node.value, list):
            self._add_message(node, sections)
            return
        if not node.value:
            sections.find("syntax", node, "message says nothing")
            self.broken = True
        for item in node.value:
            entries = sections.mapping(item, "a message", ("if", "say"), ("say",))
            self.add(condition_at(len(self.texts)), entries.get("if"))
            self._add_message(entries.get("say"), sections)

    def _add_message(self, node: Node | None, sections: Sections) -> None:
        text = sections.text(node, "message").strip()
        if node is None or not text:
            return
        case, template = len(self.texts), ""
        specs: list[str] = []
        try:
            parts = [*split_message(text)]
        except ValueError as problem:
            sections.find("syntax", node, str(problem))
            self.broken = True
            return
        for literal, fact, spec in parts:
            template += literal.replace("{", "{{").replace("}", "}}")
            if fact is None:
                continue
            if not fact.strip():
                sections.find("syntax", node, "an empty {} in the message; write {{ for a brace")
                self.broken = True
                continue
            self.add(fact_at(case, len(specs)), replace(node, value=fact))
            template += f"{{f{len(specs)}}}"
            specs.append(spec)
        self.texts.append((template, specs))

    def compile(self) -> bool:
        """True if every expression is sound; else findings say what isn't."""
        named = [*self._let_items(), *self.pieces.items()]
        parsed = [self._parse(label, node) for label, node in named]
        self.broken |= not all(parsed)
        self.scope.tested |= {
            (use.root, *use.fields)
            for places in self.uses.values()
            for use, _ in places
            if use.tested
        }
        for name in self.lets:
            if Label(Role.LET, name) not in self.trees:
                self.scope.assume(name)
        named_well = [self._declare(label) for label in self.uses]
        declared = environment(self.scope.variables.values())
        typed_well = self._lets_are_sound(declared)
        for label, node in self.pieces.items():
            program = self._compiled(label, node, declared)
            if program is not None and self._fits(label, program, node):
                self.programs[label] = program
        sound = not self.broken and all(named_well) and typed_well
        return sound and len(self.programs) == len(self.pieces)

    def _compiled(self, label: Label, node: Node, declared: Any) -> Program | None:
        if label not in self.trees:
            return None
        source = Source.of(node, self._needed_lets(label))
        return compile_expression(source, self.scope, declared)

    def _fits(self, label: Label, program: Program, node: Node) -> bool:
        """True unless a condition gives something else than true or false, or `each` no list."""
        role, kind = label.role, program.type
        if role is Role.FACT and self._spec(label) and kind not in ("INT", "UINT", "DOUBLE", "DYN"):
            text = f"{self._spec(label)} writes a number, and this is {kind.lower()}"
            place = Place(node.file, node.begins)
            self.scope.findings.add("bad-message", place, text, self.scope.rule)
            return False
        kind_of_value = "a list" if role is Role.EACH else "true or false"
        fitting = kind.startswith("LIST") if role is Role.EACH else kind == "BOOL"
        if role is Role.FACT or fitting or kind == "DYN":
            return True
        place = Place(node.file, node.begins)
        text = f"{role.value} gives {kind.lower()}, it should give {kind_of_value}"
        self.scope.findings.add("type-error", place, text, self.scope.rule)
        return False

    def _spec(self, fact: Label) -> str:
        """How the number of a fact is written, "" where it is as it is."""
        case, number = map(int, fact.name.split("."))
        return self.texts[case][1][number]

    def _let_items(self) -> Iterator[tuple[Label, Node]]:
        yield from ((Label(Role.LET, name), node) for name, node in self.lets.items())

    def _parse(self, label: Label, node: Node) -> bool:
        findings, rule = self.scope.findings, self.scope.rule
        if not isinstance(node.value, str):
            findings.add("syntax", place_of(node), f"{label} should be text; quote it", rule)
            return False
        source = Source.of(node)
        tree = parse(source, findings, rule)
        if tree is None:
            return False
        self.trees[label] = tree
        self.uses[label] = [(use, source.place(use.at)) for use in uses(tree)]
        self.mentioned |= {use.root for use, _ in self.uses[label]}
        return True

    def _declare(self, label: Label) -> bool:
        lets = self._visible_lets(label)
        # The test of a field may stand in what cannot be read.
        careful = not self.broken and label.role in DEMANDING
        return self.scope.declare(self.uses[label], lets, careful)

    def _visible_lets(self, label: Label) -> list[str]:
        """The names bound where an expression stands: for a let, those before it."""
        names = [] if label.role is Role.KEYS else list(self.lets)
        return names[: names.index(label.name)] if label.role is Role.LET else names

    def _needed_lets(self, label: Label) -> list[tuple[str, Node]]:
        """The lets that an expression uses, and those that they use, in order."""
        roots = {use.root for use in uses(self.trees[label])}
        lets = [let for let in self._visible_lets(label) if Label(Role.LET, let) in self.trees]
        for let in reversed(lets):
            if let in roots:
                roots |= {use.root for use in uses(self.trees[Label(Role.LET, let)])}
        return [(let, self.lets[let]) for let in lets if let in roots]

    def _lets_are_sound(self, declared: Any) -> bool:
        lets = [*self._let_items()]
        programs = [self._compiled(label, node, declared) for label, node in lets]
        sound = [
            p is not None and self._decides(*let, p) for let, p in zip(lets, programs, strict=True)
        ]
        return all(sound)

    def _decides(self, label: Label, node: Node, program: Program) -> bool:
        """True unless a part of a case gives something else than true or false."""
        if not is_part_of_case(label.name) or program.type in ("BOOL", "DYN"):
            return True
        self.trees.pop(CHECK, None)  # what uses it would be found wrong again
        text = f"a case's {label.name.rpartition('_')[2]} gives {program.type.lower()}"
        text += ", it should give true or false"
        self.scope.findings.add("type-error", Place(node.file, node.begins), text, self.scope.rule)
        return False

    def program(self, label: Label) -> Program | None:
        """The compiled expression of that place."""
        return self.programs.get(label)

    def messages(self) -> ReasonTexts:
        """The texts with their compiled facts."""
        cases = tuple(
            self._message(case, template, specs)
            for case, (template, specs) in enumerate(self.texts)
        )
        computes = any(
            m.condition is not None or any(f.plain is None for f in m.facts.values()) for m in cases
        )
        if not computes:
            return ReasonTexts(cases=cases)
        return ReasonTexts(cases=cases, chosen=self._chosen(cases), joined=self._joined(cases))

    def _joined(self, cases: tuple[ReasonText, ...]) -> Program | None:
        """The check and `_chosen` in one, where that reads and computes nothing besides."""
        check = self.programs.get(CHECK)
        joined = self._chosen(cases, CHECK) if check is not None else None
        if check is None or joined is None:
            return None
        own, needed = (
            {*(v.name for v in program.variables), *(c.name for c in program.computed)}
            for program in (check, joined)
        )
        return joined if needed <= own else None

    def _message(self, case: int, template: str, specs: list[str]) -> ReasonText:
        facts = {f"f{i}": self._fact(fact_at(case, i), spec) for i, spec in enumerate(specs)}
        return ReasonText(
            template=template, facts=facts, condition=self.programs.get(condition_at(case))
        )

    def _fact(self, label: Label, spec: str) -> MessageFact:
        call = only_call(self.pieces[label].value)
        last = COMPUTED.get(call.function) if call is not None else None
        return MessageFact(program=self.programs[label], spec=spec, last=last)

    def _chosen(self, cases: tuple[ReasonText, ...], check: Label | None = None) -> Program | None:
        """One program for all cases: `c0 ? [0, facts...] : c1 ? [1, facts...] : [-1]`.

        With a `check` it is true where that holds.
        """
        text = "[dyn(-1)]"
        labels: list[Label] = []
        for case, message in reversed(list(enumerate(cases))):
            facts = enumerate(message.facts.values())
            computed = [fact_at(case, i) for i, fact in facts if fact.plain is None]
            values = "".join(f", dyn({self._before_last(label)}\n)" for label in computed)
            labels += computed
            if message.condition is None:
                text = f"[dyn({case}){values}]"
            else:
                condition = condition_at(case)
                labels.append(condition)
                text = f"({self.pieces[condition].value}\n) ? [dyn({case}){values}] : {text}"
        if check is not None:
            labels.append(check)
            text = f"({self.pieces[check].value}\n) ? dyn(true) : dyn({text})"
        return self._together(text, labels)

    def _together(self, text: str, labels: Iterable[Label]) -> Program | None:
        """The program of a text made of these expressions; None where they are too long together."""
        names = {let for label in labels for let, _ in self._needed_lets(label)}
        lets = [(name, node) for name, node in self.lets.items() if name in names]
        source = Source.of(replace(next(iter(self.pieces.values())), value=text), lets)
        scope = replace(self.scope, findings=Problems())  # only faster: nothing is wrong without
        return compile_expression(source, scope, environment(scope.variables.values()))

    def _before_last(self, label: Label) -> str:
        """The expression of a fact, without the function of ours that it is a call of."""
        text = str(self.pieces[label].value)
        call = only_call(text)
        return call.arguments[0] if call is not None and call.function in COMPUTED else text
