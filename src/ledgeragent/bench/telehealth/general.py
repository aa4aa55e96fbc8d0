"""Tools that touch no record."""

from __future__ import annotations

from ledgeragent.bench.telehealth.arithmetic import CHARACTERS, value_of
from ledgeragent.bench.telehealth.data import Data


def calculate(data: Data, expression: str) -> str:
    """The value of an expression of numbers, rounded to cents, or what is wrong with it."""
    if not all(character in CHARACTERS for character in expression):
        return "Error: invalid characters in expression"
    try:
        return str(round(float(value_of(expression.strip())), 2))
    except Exception as error:
        return f"Error: {error}"


def think(data: Data, thought: str) -> str:
    """Nothing."""
    return ""


def transfer_to_human_support(data: Data, reason: str) -> str:
    """A farewell. The conversation ends here."""
    return (
        f"Transferring you to a human support representative.\n\nReason for transfer: {reason}\n\n"
        "Please hold while we connect you to a member of our support team. They will be able to "
        "assist you with your request.\n\nEstimated wait time: 2-3 minutes.\n\n"
        "Thank you for your patience."
    )
