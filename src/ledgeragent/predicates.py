"""Predicates (paper §Policy Gate): pure functions of a call and a view of the ledger.

A predicate returns None where the call is satisfied, `violation(...)` where observed facts
contradict it, and raises `MissingEvidence` by simply reading what was never observed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from ledgeragent.errors import DomainError
from ledgeragent.ledger import UnconfirmedGround as UnconfirmedGround
from ledgeragent.missing import MissingEvidence as MissingEvidence
from ledgeragent.paths import Path
from ledgeragent.text import LONGEST_FACT, Sentence, form_of, spoken, visible
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Decision, Enforcement
from ledgeragent.view import Record as Record
from ledgeragent.view import StalePolicy as StalePolicy
from ledgeragent.view import View as View

# A named tuple's own constructor costs half as much again.
_tuple = tuple.__new__
_ID = re.compile(r"[\w-]+/[\w-]+")


class Broken(NamedTuple):
    """A predicate's answer against a call: the reason with its facts filled in.

    `public` is the reason as the user may hear it, where that is another one.
    """

    reason: str
    public: str | Sentence = ""


class Private(NamedTuple):
    """A fact for the model alone; the user hears `instead`."""

    value: Json
    instead: str


def violation(template: str, **facts: Json) -> Broken:
    """The answer of a predicate whose call is wrong; `facts` fill the template's braces.

    Say what is wrong, the observed value, and what would be accepted. Lists are written as
    "a, b or c", and an empty one as "nothing". A `Private` fact is not told to the user.
    """
    private: dict[str, Json] = {}
    texts: dict[str, str] = {}
    for name, value in facts.items():
        if type(value) is Private:
            private[name], value = value.instead, value.value
            facts[name] = value
        if type(value) is not str or len(value) > LONGEST_FACT:
            facts[name] = value = spoken(value)
            value = f"{value}"
        # Facts come from outside: none may start a line of its own.
        texts[name] = visible(value)
    form, values_of = form_of(template)
    reason = form % values_of(texts) if form else visible(template.format_map(facts))
    public = _tuple(Sentence, (template, facts, private)) if private else ""
    return _tuple(Broken, (reason, public))


Check = Callable[[Any, View], Broken | None]
"""`(arguments, view) -> None | violation(...)`; arguments are typed by the tool's TypedDict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    """One rule: `check` decides for the tools in `guards`; `decision` is its answer when violated.

    `id` names the thing that is wrong (`retail/refund-destination`). `clause` is the policy clause
    it enforces. `versions` limits it to some versions of its pack (empty: all). An `identity` rule
    establishes whose records a call is about: while one of them is broken or unknown, no other rule
    speaks. `undecided` is the answer where the read that a rule needs was tried and can't succeed.
    """

    id: str
    guards: tuple[str, ...]
    clause: str
    check: Check
    decision: Decision = Decision.REVISE
    enforcement: Enforcement = Enforcement.ENFORCE
    versions: frozenset[str] = field(default_factory=frozenset)
    identity: bool = False
    undecided: Decision = Decision.ALLOW

    @property
    def summary(self) -> str:
        """What it decides: the first line of the check's docstring."""
        return (self.check.__doc__ or "").strip().partition("\n")[0]


def predicate(
    id: str,
    *,
    guards: str | tuple[str, ...],
    clause: str | None = None,
    decision: Decision = Decision.REVISE,
    enforcement: Enforcement = Enforcement.ENFORCE,
    versions: tuple[str, ...] = (),
    identity: bool = False,
    undecided: Decision = Decision.ALLOW,
) -> Callable[[Check], Predicate]:
    """Makes a check into a `Predicate`. `clause` defaults to `id`: most rules enforce one clause."""
    if not _ID.fullmatch(id):
        raise DomainError(f"predicate id {id!r} should be domain/kebab-case")

    def decorate(check: Check) -> Predicate:
        return Predicate(
            id=id,
            guards=(guards,) if isinstance(guards, str) else guards,
            clause=clause or id,
            check=check,
            decision=decision,
            enforcement=enforcement,
            versions=frozenset(versions),
            identity=identity,
            undecided=undecided,
        )

    return decorate


def demand(path: Path[Any], *reads: ToolCall) -> NoReturn:
    """Asks for the evidence at `path`, naming the calls that would supply it."""
    raise MissingEvidence(path, reads=reads)
