"""The reading of one function of a Python rule, as its source tells."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from ledgeragent.compiler.problems import Place
from ledgeragent.paths import Path, PathTemplate

RuleProblem = tuple[str, Place, str]
"""A code, a place and a message."""


@dataclass(slots=True)
class RuleReading:
    """The demands and calls of one function, and the fields and values in it that do not exist."""

    demanded: list[tuple[PathTemplate[Any] | Path[Any], Place]] = field(default_factory=list)
    calls: list[FunctionType] = field(default_factory=list)
    problems: list[RuleProblem] = field(default_factory=list)
