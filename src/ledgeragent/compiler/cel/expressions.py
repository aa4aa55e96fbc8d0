"""Compiles all expressions of one rule together: paths, conditions, lets, the check, the message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ledgeragent.compiler.cel.functions import COMPUTED, only_call
from ledgeragent.compiler.cel.library import Source, environment, parse
from ledgeragent.compiler.cel.programs import Program, compile_expression
from ledgeragent.compiler.cel.rule import MessageFact, ReasonText, ReasonTexts
from ledgeragent.compiler.cel.scope import Scope
from ledgeragent.compiler.cel.tree import Expr
from ledgeragent.compiler.cel.variables import Use, uses
from ledgeragent.compiler.problems import Place, Problems
from ledgeragent.compiler.source.keys import Key, Segment
from ledgeragent.compiler.source.sections import Sections, place_of
from ledgeragent.compiler.source.yamlfile import Node

_SPEC = re.compile(r"(.*):(\.\d+f)", re.DOTALL)


@dataclass(slots=True)
class Compiler:
    """Compiles all expressions of one rule in one environment."""

    scope: Scope
    lets: Mapping[str, Node]
    pieces: dict[str, Node] = field(default_factory=dict)
    trees: dict[str, Expr] = field(default_factory=dict)
    programs: dict[str, Program] = field(default_factory=dict)
    texts: list[tuple[str, list[str]]] = field(default_factory=list)
    broken: bool = False
    mentioned: set[str] = field(default_factory=set)
    found: dict[str, list[tuple[Use, Place]]] = field(default_factory=dict)

    def add(self, name: str, node: Node | None) -> None:
        """Adds an expression."""
        if node is None:
            return
        if isinstance(node.value, bool | int | float):
            node = replace(node, value=str(node.value).lower())
        if not isinstance(node.value, str) or not node.value.strip():
            text = f"{name} should be a CEL expression; quote it"
            self.scope.findings.add("syntax", place_of(node), text, self.scope.rule)
            self.broken = True
            return
        self.pieces[name] = node

    def add_keys(self, keys: Iterable[Segment], place: Place) -> None:
        """Adds what the placeholders of a path read."""
        found = [(Use(k.root, k.fields, 0), place) for k in keys if isinstance(k, Key)]
        self.found[f"keys {len(self.found)}"] = found
        self.mentioned |= {use.root for use, _ in found}

    def add_messages(self, node: Node | None, sections: Sections) -> None:
        """Adds what is said of a violation: one text, or a list of `if` and `say`."""
        if node is None or not isinstance(node.value, list):
            self._add_message(node, sections)
            return
        if not node.value:
            sections.find("syntax", node, "message says nothing")
            self.broken = True
        for item in node.value:
            given = sections.mapping(item, "a message", ("if", "say"), ("say",))
            self.add(f"if {len(self.texts)}", given.get("if"))
            self._add_message(given.get("say"), sections)

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
            self.add(f"fact {case}.{len(specs)}", replace(node, value=fact))
            template += f"{{f{len(specs)}}}"
            specs.append(spec)
        self.texts.append((template, specs))

    def compile(self) -> bool:
        """True if every expression is sound; else findings say what isn't."""
        named = [*self._let_items(), *self.pieces.items()]
        parsed = [self._parse(name, node) for name, node in named]
        self.broken |= not all(parsed)
        self.scope.tested |= {
            (use.root, *use.fields)
            for found in self.found.values()
            for use, _ in found
            if use.tested
        }
        for name in self.lets:
            if f"let {name}" not in self.trees:
                self.scope.assume(name)
        named_well = [self._declare(name) for name in self.found]
        declared = environment(self.scope.variables.values())
        typed_well = self._lets_are_sound(declared)
        for name, node in self.pieces.items():
            program = self._compiled(name, node, declared)
            if program is not None and self._fits(name, program, node):
                self.programs[name] = program
        sound = not self.broken and all(named_well) and typed_well
        return sound and len(self.programs) == len(self.pieces)

    def _compiled(self, name: str, node: Node, declared: Any) -> Program | None:
        if name not in self.trees:
            return None
        source = Source.of(node, self._needed_lets(name))
        return compile_expression(source, self.scope, declared)

    def _fits(self, name: str, program: Program, node: Node) -> bool:
        """True unless a condition gives something else than true or false."""
        if name.startswith("fact ") or program.type in ("BOOL", "DYN"):
            return True
        place = Place(node.file, node.begins)
        text = f"{name.split()[0]} gives {program.type.lower()}, it should give true or false"
        self.scope.findings.add("type-error", place, text, self.scope.rule)
        return False

    def _let_items(self) -> Iterator[tuple[str, Node]]:
        yield from ((f"let {name}", node) for name, node in self.lets.items())

    def _parse(self, name: str, node: Node) -> bool:
        findings, rule = self.scope.findings, self.scope.rule
        if not isinstance(node.value, str):
            findings.add("syntax", place_of(node), f"{name} should be text; quote it", rule)
            return False
        source = Source.of(node)
        tree = parse(source, findings, rule)
        if tree is None:
            return False
        self.trees[name] = tree
        self.found[name] = [(use, source.place(use.at)) for use in uses(tree)]
        self.mentioned |= {use.root for use, _ in self.found[name]}
        return True

    def _declare(self, name: str) -> bool:
        lets = self._visible_lets(name)
        # The test of a field may stand in what cannot be read.
        careful = not self.broken and not name.startswith(("fact ", "if ", "keys "))
        return self.scope.declare(self.found[name], lets, careful)

    def _visible_lets(self, name: str) -> list[str]:
        """The names bound where an expression stands: for a let, those before it."""
        names = [] if name.startswith("keys ") else list(self.lets)
        own = name.removeprefix("let ")
        return names[: names.index(own)] if name.startswith("let ") else names

    def _needed_lets(self, name: str) -> list[tuple[str, Node]]:
        """The lets that an expression uses, and those that they use, in order."""
        wanted = {use.root for use in uses(self.trees[name])}
        lets = [let for let in self._visible_lets(name) if f"let {let}" in self.trees]
        for bound in reversed(lets):
            if bound in wanted:
                wanted |= {use.root for use in uses(self.trees[f"let {bound}"])}
        return [(bound, self.lets[bound]) for bound in lets if bound in wanted]

    def _lets_are_sound(self, declared: Any) -> bool:
        answers = [self._compiled(name, node, declared) for name, node in self._let_items()]
        return None not in answers

    def program(self, name: str) -> Program | None:
        """The compiled expression of that name."""
        return self.programs.get(name)

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
        check = self.programs.get("check")
        joined = self._chosen(cases, "check") if check is not None else None
        if check is None or joined is None:
            return None
        own, needed = (
            {*(v.name for v in program.variables), *(c.name for c in program.computed)}
            for program in (check, joined)
        )
        return joined if needed <= own else None

    def _message(self, case: int, template: str, specs: list[str]) -> ReasonText:
        facts = {f"f{i}": self._fact(f"fact {case}.{i}", spec) for i, spec in enumerate(specs)}
        return ReasonText(template=template, facts=facts, condition=self.programs.get(f"if {case}"))

    def _fact(self, name: str, spec: str) -> MessageFact:
        call = only_call(self.pieces[name].value)
        last = COMPUTED.get(call.function) if call is not None else None
        return MessageFact(program=self.programs[name], spec=spec, last=last)

    def _chosen(self, cases: tuple[ReasonText, ...], check: str = "") -> Program | None:
        """One program for all cases: `c0 ? [0, facts...] : c1 ? [1, facts...] : [-1]`.

        With the name of a `check` it is true where that holds.
        """
        text, names = "[dyn(-1)]", []
        for case, message in reversed(list(enumerate(cases))):
            facts = enumerate(message.facts.values())
            computed = [f"fact {case}.{i}" for i, fact in facts if fact.plain is None]
            values = "".join(f", dyn({self._before_last(name)}\n)" for name in computed)
            names += computed
            if message.condition is None:
                text = f"[dyn({case}){values}]"
            else:
                names.append(f"if {case}")
                text = f"({self.pieces[f'if {case}'].value}\n) ? [dyn({case}){values}] : {text}"
        if check:
            names.append(check)
            text = f"({self.pieces[check].value}\n) ? dyn(true) : dyn({text})"
        return self._together(text, names)

    def _together(self, text: str, names: Iterable[str]) -> Program | None:
        """The program of a text made of these expressions; None where they are too long together."""
        wanted = {let for name in names for let, _ in self._needed_lets(name)}
        lets = [(name, node) for name, node in self.lets.items() if name in wanted]
        source = Source.of(replace(next(iter(self.pieces.values())), value=text), lets)
        scope = replace(self.scope, findings=Problems())  # only faster: nothing is wrong without
        return compile_expression(source, scope, environment(scope.variables.values()))

    def _before_last(self, name: str) -> str:
        """The expression of a fact, without the function of ours that it is a call of."""
        text = str(self.pieces[name].value)
        call = only_call(text)
        return call.arguments[0] if call is not None and call.function in COMPUTED else text


def split_message(text: str) -> Iterator[tuple[str, str | None, str]]:
    """(literal text, the expression in the braces after it, its number format) in turn.

    `{{` and `}}` are braces; raises ValueError for one that has no partner.
    """
    literal, position = "", 0
    while position < len(text):
        if text[position : position + 2] in ("{{", "}}"):
            literal += text[position]
            position += 2
        elif text[position] == "}":
            raise ValueError("a } in the message that closes nothing; write }} for a brace")
        elif text[position] == "{":
            end = _closing(text, position)
            if end == len(text):
                raise ValueError("a { in the message that is not closed; write {{ for a brace")
            fact, spec = _formatted(text[position + 1 : end])
            yield literal, fact, spec
            literal, position = "", end + 1
        else:
            literal += text[position]
            position += 1
    yield literal, None, ""


def _formatted(fact: str) -> tuple[str, str]:
    match = _SPEC.fullmatch(fact)
    return (match[1], match[2]) if match is not None else (fact, "")


def _closing(text: str, start: int) -> int:
    """Where the brace opened at `start` closes, past braces and quotes inside it."""
    depth, quote = 0, ""
    for position in range(start, len(text)):
        character = text[position]
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "{}":
            depth += 1 if character == "{" else -1
            if depth == 0:
                return position
    return len(text)
