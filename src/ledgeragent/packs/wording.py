"""Words of a call in a message, so that what is odd about them can be seen."""

from __future__ import annotations


def as_given(text: str) -> str:
    """The text, in quotes where it is empty or has spaces around it."""
    return text if text and text == text.strip() else f'"{text}"'
