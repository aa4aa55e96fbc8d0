"""Text that cannot end a line, hide what it says, or drown the sentence it stands in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from ledgeragent.types import Json

LONGEST_FACT = 200
_MOST_REMEMBERED = 1024
_UNSAFE = re.compile(
    "[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff<>]"
)

_FACT = re.compile(r"\{([^\W\d]\w*)\}")

_OBEYED = re.compile(f"(?![\t\n<>]){_UNSAFE.pattern}")


def visible(text: str) -> str:
    """The text with everything escaped that could end a line or a block, or hide what it says.

    So is half a character, as text cut off in the middle has it: it could not be sent.
    """
    if text.isascii() and text.isprintable() and "<" not in text and ">" not in text:
        return text
    return _UNSAFE.sub(_escaped, text)


def printable(text: str) -> str:
    """The text with everything escaped that a terminal would obey or not show, but for line ends.

    In JSON the escape stands for the same character.
    """
    return _OBEYED.sub(_escaped, text)


# What a template says itself is looked at once: that takes time for each of its characters.
@lru_cache(_MOST_REMEMBERED)
def form_of(template: str) -> tuple[str, Callable[[Mapping[str, str]], Any]]:
    """The template as `%` fills it, made visible, and what fills it from facts that are visible.

    The form is "" where the template has none of them, or more of one than its name.
    """
    names = _FACT.findall(template)
    form = _FACT.sub("%s", visible(template).replace("%", "%%"))
    return (form, itemgetter(*names)) if names and not {"{", "}"} & {*form} else ("", dict)


class Sentence(NamedTuple):
    """A sentence with facts in it, some in other words, written out when somebody reads it: few are."""

    template: str
    facts: Mapping[str, Json]
    instead: Mapping[str, Json]

    def __str__(self) -> str:
        # Facts come from outside: none may start a line of its own.
        return visible(self.template.format_map({**self.facts, **self.instead}))


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex(" ", 2)
    return "".join(f"\\u{unit}" for unit in units.split())


def spoken(value: Json) -> Json:
    """The value as a sentence has it: a list as "a, b or c", an empty one as "nothing"."""
    if type(value) is list or isinstance(value, tuple):
        return _either(value)
    if isinstance(value, set | frozenset):
        return _either(sorted(value))
    return _cut(value) if isinstance(value, str) else value


def _either(values: Sequence[Json]) -> str:
    items = [*values]
    for item in items:
        if type(item) is not str or len(item) > LONGEST_FACT:
            items = [*map(_cut, items)]
            break
    if len(items) < 2:
        return items[0] if items else "nothing"
    last = items.pop()
    return f"{', '.join(items)} or {last}"


def _cut(value: Json) -> str:
    """The value as text, unable to drown the sentence it stands in."""
    text = value if type(value) is str else str(value)
    return text if len(text) <= LONGEST_FACT else f"{text[:LONGEST_FACT]}..."
