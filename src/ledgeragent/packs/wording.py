"""Words and numbers of a call in a message, so that what is odd about them can be seen."""

from __future__ import annotations

from ledgeragent.predicates import Private

_NOISE = 1e-9
"""What adding up leaves behind."""


def as_given(text: str) -> str:
    """The text, in quotes where it is empty or has spaces around it."""
    return text if text and text == text.strip() else f'"{text}"'


def argument(*names: str) -> Private:
    """Arguments of a call by name; a customer hears words in their place."""
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return Private(listed, instead=listed.replace("_", " "))


def exact(number: float) -> str:
    """The number, short where nothing is lost by it: 2, 0.5, 2.0000001."""
    short = f"{number:g}"
    return short if float(short) == number else str(number)


def cents(amount: float) -> str:
    """A sum of money with two decimals, or with all that it has."""
    short = f"{amount:.2f}"
    return short if abs(float(short) - amount) < _NOISE else exact(amount)
