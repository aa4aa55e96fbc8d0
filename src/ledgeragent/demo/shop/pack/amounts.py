"""Amounts of money, compared without the rounding of floats."""

from __future__ import annotations


def cents(amount: float) -> int:
    """An amount of euros in cents."""
    return round(amount * 100)
