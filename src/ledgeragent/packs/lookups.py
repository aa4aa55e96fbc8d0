"""Lookups of people: a second one that puts the first right, told from one for somebody else.

A mistyped address can find a stranger. What is asked next differs from it by a slip of the keyboard
or two; the address of a friend or sister differs by more.
"""

from __future__ import annotations

from ledgeragent.types import ToolCall

MOST_SLIPS = 2
"""Letters put in, left out or changed; two that are swapped count as two."""

_LONGEST = 200


def corrects(later: ToolCall, earlier: ToolCall) -> bool:
    """True if a lookup is an earlier one with at most `MOST_SLIPS` letters changed, but with some."""
    texts = _spelt(later), _spelt(earlier)
    return later.name == earlier.name and texts[0] != texts[1] and are_alike(*texts)


def _spelt(lookup: ToolCall) -> str:
    """What was asked for, in one line."""
    values = (str(value).strip().casefold() for _, value in sorted(lookup.arguments.items()))
    return " ".join(values)


def are_alike(one: str, other: str) -> bool:
    """True for texts that differ in at most `MOST_SLIPS` letters."""
    if max(len(one), len(other)) > _LONGEST or abs(len(one) - len(other)) > MOST_SLIPS:
        return False
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        diagonal, row[0] = row[0], number
        for place, another in enumerate(other, 1):
            cost = diagonal + (letter != another)
            diagonal = row[place]
            row[place] = min(cost, diagonal + 1, row[place - 1] + 1)
    return row[-1] <= MOST_SLIPS
