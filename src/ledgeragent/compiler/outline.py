"""A pack with the places of its parts, whichever form it was written in: what `check` looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ledgeragent.compiler.cel.programs import Program
from ledgeragent.compiler.cel.scope import Mistyped
from ledgeragent.compiler.problems import Place, Problems
from ledgeragent.compiler.samples import Sample
from ledgeragent.compiler.shapes import Shape
from ledgeragent.domain import Clause, Domain
from ledgeragent.paths import PathTemplate

EVERY = "*"
"""Stands for all parameters where a rule hands them on as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPart:
    """One read route: what `tool` returns is a record of this shape, stored at `to`.

    `inside` and `each` are the fields of the return that hold the record and the list of records;
    None where only code knows how the return becomes a record. With `merge` the return need not have
    all fields of the record. The tool `accepts` these arguments, as far as the pack's tools file tells;
    those that are `minded` fill its path or are named in its condition. What a write returns has such
    a part too, with the fields that it gets wrong to `omit`.
    """

    tool: str
    to: PathTemplate[Any]
    shape: Shape
    place: Place
    parameters: tuple[str, ...] = ()
    inside: tuple[str, ...] | None = ()
    each: bool = False
    merge: bool = False
    accepts: tuple[str, ...] = ()
    minded: frozenset[str] = frozenset()
    omit: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPart:
    """A write or neutral tool with the shape of its arguments.

    `unguarded` says why no rule is needed; `marks` is False for a write that makes nothing stale and
    does not say why (`untouched`).
    """

    tool: str
    arguments: Shape | None
    place: Place
    unguarded: str = ""
    marks: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A record that a rule reads, by the written form of its path; `to` is None if no read supplies it."""

    path: str
    to: PathTemplate[Any] | None
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePart:
    """One rule. `test` is its compiled check, None for Python rules and for those that demand only.

    `expressions` are all that could be read of it, the test among them. `demands` tells whether it
    asks for a record whatever the test says. `sound` is False where the loader already found fault
    with it. `clause_at` is where its clause is named, if that is a line of its own.
    """

    id: str
    guards: tuple[str, ...]
    clause: str
    place: Place
    needs: tuple[Need, ...] = ()
    test: Program | None = None
    expressions: tuple[Program | Mistyped, ...] = ()
    demands: bool = False
    sound: bool = True
    clause_at: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClausePart:
    """One clause of the policy; `rules_at` is where the rules that it names stand."""

    clause: Clause
    place: Place
    rules_at: Place | None = None


@dataclass(slots=True, kw_only=True)
class Outline:
    """Everything that is known of a pack; `findings` is what is wrong with it so far.

    `domain` is None where the pack cannot be built; `trial` then holds what is sound of it, so that
    those rules can still be tried. `broken_reads` tells that a read route is missing
    because of a finding, so that what hangs on it is not found again; `broken_rules` likewise.
    `suspects` are rules that use
    something wrong, which is found once, wherever it is. `broken_samples` are (rule, side) of samples
    that are none. `parameters_read` are those of the `parameters` that rules and routes name; one that
    `has_code` in Python may read others. `elsewhere` are families that other versions
    of the pack read, so that a sample may be one of theirs.
    """

    place: Place
    name: str = ""
    reads: list[ReadPart] = field(default_factory=list)
    returns: list[ReadPart] = field(default_factory=list)
    writes: list[ToolPart] = field(default_factory=list)
    neutrals: list[ToolPart] = field(default_factory=list)
    rules: list[RulePart] = field(default_factory=list)
    clauses: list[ClausePart] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    findings: Problems = field(default_factory=Problems)
    domain: Domain | None = None
    trial: Domain | None = None
    broken_reads: bool = False
    broken_rules: bool = False
    suspects: set[str] = field(default_factory=set)
    broken_samples: set[tuple[str, str]] = field(default_factory=set)
    parameters: Mapping[str, Place] = field(default_factory=dict)
    parameters_read: set[str] = field(default_factory=set)
    has_code: bool = False
    elsewhere: list[PathTemplate[Any]] = field(default_factory=list)

    def samples_by_rule(self) -> dict[str, list[Sample]]:
        """The samples of each rule that has some."""
        samples: dict[str, list[Sample]] = {}
        for sample in self.samples:
            samples.setdefault(sample.rule, []).append(sample)
        return samples

    @property
    def judged(self) -> frozenset[str]:
        """The names of the tools that rules can guard."""
        return frozenset(part.tool for part in (*self.writes, *self.neutrals))

    @property
    def tools(self) -> frozenset[str]:
        """The names of all tools that the pack lists."""
        return self.judged | {part.tool for part in self.reads}
