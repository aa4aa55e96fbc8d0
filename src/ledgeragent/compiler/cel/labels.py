"""The places of expressions in a rule, by which they are known while it is compiled."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Role(Enum):
    """The part that an expression plays in its rule, by the word that messages call it."""

    LET = "let"
    KEYS = "keys"
    WHEN = "when"
    EACH = "each"
    CHECK = "check"
    CONDITION = "if"
    FACT = "fact"


DEMANDING = (Role.LET, Role.WHEN, Role.EACH, Role.CHECK)
"""Where a field that may have no value must be tested; in a message it is then just unknown."""


class Label(NamedTuple):
    """The place of an expression in its rule: `name` tells it from others of the same role."""

    role: Role
    name: str = ""

    def __str__(self) -> str:
        return f"{self.role.value} {self.name}".rstrip()


CHECK = Label(Role.CHECK)


def is_part_of_case(name: str) -> bool:
    """True for the name that a part of a case has as a `let`."""
    return name.startswith("case_") and name.endswith(("_if", "_check"))


def condition_at(case: int) -> Label:
    """The place of the condition of a message's case."""
    return Label(Role.CONDITION, str(case))


def fact_at(case: int, number: int) -> Label:
    """The place of a fact in the text of a message's case."""
    return Label(Role.FACT, f"{case}.{number}")
