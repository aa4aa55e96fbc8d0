"""Dates as the shop writes them."""

from __future__ import annotations

from datetime import date


def days_between(first: str, second: str) -> int:
    """The days from one date to another, both as `2025-03-01`; negative where it goes back."""
    return (date.fromisoformat(second) - date.fromisoformat(first)).days
