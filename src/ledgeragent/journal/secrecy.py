"""Secret values: what was seen at a redacted path is left out wherever it stands from then on."""

from __future__ import annotations

import base64
import json
import re
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

from ledgeragent.types import Json

REDACTED = "[redacted]"

MOST_VALUES = 1_000
"""So many are looked for; of more, those that were seen last."""

SHORTEST = 4
"""Characters. A shorter value stands in too many other words; it goes at its path only."""

_LONGEST = 4_096
_WHOLE_WORD = 6
_OWN_KEYS = frozenset({"predicate", "clause", "turn"})
"""Keys of what the gate says of itself, which no record supplies."""

_WORD = re.compile(r"\w*")


class SecretValues:
    """The values that were seen at redacted paths, each in the forms in which a text may hold it."""

    def __init__(self) -> None:
        self._patterns: OrderedDict[str, tuple[tuple[str, ...], re.Pattern[str]]] = OrderedDict()

    def add(self, value: Json) -> None:
        """Remembers every text and number of a value."""
        for text in _texts(value):
            if not SHORTEST <= len(text) <= _LONGEST or text.lower() in REDACTED:
                continue
            if text not in self._patterns:
                forms = tuple(_forms(text))
                self._patterns[text] = tuple(form.lower() for form in forms), _pattern(text, forms)
            self._patterns.move_to_end(text)
            if len(self._patterns) > MOST_VALUES:
                self._patterns.popitem(last=False)

    def without(self, value: Json, words: Collection[str] = ()) -> Json:
        """The value without them, in its texts, its numbers and its keys.

        What is one of `words`, or stands inside one, stays: names of fields, tools and rules.
        """
        haystack = "\0".join(_texts(value)).lower()
        patterns = [
            pattern
            for forms, pattern in self._patterns.values()
            if any(form in haystack for form in forms)
        ]
        return _Scrub(patterns, words).value(value) if patterns else value


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield str(key)
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _forms(text: str) -> Iterator[str]:
    """The text as it is, in JSON, in JSON within JSON, in a URL, and in Base64 wherever it begins."""
    yield text
    if len(text) < _WHOLE_WORD:
        return
    for is_ascii in (True, False):
        escaped = json.dumps(text, ensure_ascii=is_ascii)[1:-1]
        yield escaped
        yield json.dumps(escaped)[1:-1]
    raw = text.encode("utf-8", "surrogatepass")
    yield from (quote(raw, safe=""), quote(raw), quote_plus(raw))
    for offset in range(3):
        whole = base64.b64encode(bytes(offset) + raw).decode()
        # Only the characters that depend on the text alone.
        part = whole[-(-offset * 8 // 6) : (offset + len(raw)) * 8 // 6]
        yield part
        yield part.replace("+", "-").replace("/", "_")


def _pattern(text: str, forms: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(set(forms), key=len, reverse=True)
    expression = "|".join(map(re.escape, longest_first))
    if len(text) < _WHOLE_WORD:
        expression = rf"(?<![^\W_])(?:{expression})(?![^\W_])"
    return re.compile(expression, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Scrub:
    """What takes the patterns out of a value, but for the `words` that no secret may be taken from."""

    patterns: Sequence[re.Pattern[str]]
    words: Collection[str]

    def value(self, value: Json) -> Json:
        """The value without them."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return self._object(value)
        if isinstance(value, list | tuple):
            return [self.value(part) for part in value]
        if value is None or isinstance(value, bool):
            return value
        return REDACTED if any(p.fullmatch(str(value)) for p in self.patterns) else value

    def _text(self, text: str) -> str:
        if text in self.words:
            return text
        for pattern in self.patterns:
            text = pattern.sub(lambda match: self._instead(match), text)
        return text

    def _instead(self, match: re.Match[str]) -> str:
        before = _WORD.match(match.string[: match.start()][::-1])
        after = _WORD.match(match.string, match.end())
        word = match.string[match.start() - before.end() : after.end()] if before and after else ""
        return match[0] if word in self.words else REDACTED

    def _object(self, value: Mapping[str, Json]) -> Json:
        clean: dict[str, Json] = {}
        for key, part in value.items():
            is_own = key in _OWN_KEYS and not isinstance(part, Mapping | list)
            name, number = self._text(str(key)), 1
            while name in clean or (name != str(key) and name in value):
                number += 1
                name = f"{self._text(str(key))} ({number})"
            clean[name] = part if is_own else self.value(part)
        return clean
