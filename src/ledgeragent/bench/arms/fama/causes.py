"""The four causes of failure that FAMA looks for, each with what its analyst is told to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A cause: the name that its authors gave it, what it is, and signs of it."""

    id: str
    is_that: str
    signs: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.id}: {self.is_that}"


_ALL = (
    Cause(
        id="DCV",
        is_that="the agent broke a rule of the policy",
        signs=(
            "it did what the policy forbids in this case",
            "it left out a step that the policy demands first, such as a confirmation",
            "it acted without a detail that the policy asks for",
        ),
    ),
    Cause(
        id="WRCO",
        is_that="the agent read the wrong thing out of a tool's output",
        signs=(
            "it took a value from another entry of a list, or from another record",
            "it mixed up fields inside one another, or items that look alike",
            "it overlooked an entry that the output held",
        ),
    ),
    Cause(
        id="CM",
        is_that="the agent misunderstood what was said, or made something up",
        signs=(
            "it took the customer to want something else",
            "it used an id, an amount or an argument that nobody gave and no tool returned",
            "it said that something was done which was not",
        ),
    ),
    Cause(
        id="IFU",
        is_that="the agent stopped before everything asked for was done",
        signs=(
            "it gave up or handed over to a person at the first obstacle",
            "it did a part and forgot the rest",
            "it did not look for the other way that the policy leaves open",
        ),
    ),
)
CAUSES: Mapping[str, Cause] = {cause.id: cause for cause in _ALL}
"""The causes by their names: domain constraint violation, wrong retrieval from complex output,
contextual misinterpretation, incomplete fulfilment."""
