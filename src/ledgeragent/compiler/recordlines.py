"""Lines of YAML for the record types that a drafted pack names, each written once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ledgeragent.compiler.shapes import Choice, Field, ListOf, MapOf, Object, Scalar, Shape, is_open
from ledgeragent.text import printable
from ledgeragent.types import Json

_PLAIN = re.compile(r"[A-Za-z_][\w .-]*")
_UNWRITTEN = re.compile("[\n\ufffe\uffff]")
_WORDS = ("null", "true", "false", "yes", "no", "on", "off", "~")


@dataclass(frozen=True, slots=True)
class NotedField(Field):
    """A field with a remark for the end of its line. Two that differ in it alone are equal."""

    note: str = field(default="", compare=False)


class RecordLines:
    """The record types that a pack names, each written once."""

    def __init__(self) -> None:
        self._shapes: dict[str, Shape] = {}

    def name(self, noun: str, shape: Shape) -> str:
        """The type of a returned record: its name for an object, else its type."""
        if not isinstance(shape, Object) or not shape.fields:
            return self._type(shape, noun)
        return self._named(shape, noun)

    def entry(self, name: str, field: Field) -> str:
        """A field with its type, as YAML, and what is to be remarked of it."""
        optional = "" if field.certain else "?"
        note = f"  # {field.note}" if isinstance(field, NotedField) and field.note else ""
        if isinstance(field.shape, Choice):
            key = f"{name}{optional}" if yaml_text(name) == name else yaml_text(name + optional)
            return f"{key}: {_listed(field.shape)}{note}"
        return f"{yaml_text(name)}: {self._type(field.shape, name)}{optional}{note}"

    def lines(self) -> Iterator[str]:
        """The section's lines. Names are given while other sections are written."""
        written: set[str] = set()
        while written != self._shapes.keys():
            for name in [name for name in self._shapes if name not in written]:
                written.add(name)
                yield from self._record(name, self._shapes[name])

    def _record(self, name: str, shape: Shape) -> Iterator[str]:
        if not isinstance(shape, Object):
            yield f"  {name}: {_listed(shape)}"
            return
        yield f"  {name}:"
        for field_name, member in shape.fields.items():
            yield f"    {self.entry(field_name, member)}"

    def _named(self, shape: Shape, name: str) -> str:
        base = "".join(part.capitalize() for part in re.split(r"\W+|_", name) if part) or "Record"
        number = 1
        while (
            self._shapes.setdefault(unique := f"{base}{number if number > 1 else ''}", shape)
            != shape
        ):
            number += 1
        return unique

    def _type(self, shape: Shape, name: str) -> str:
        match shape:
            case Scalar(kind):
                return kind
            case ListOf(item):
                return "list" if is_open(item) else f"list[{self._type(item, name)}]"
            case MapOf(item):
                return "dict" if is_open(item) else f"dict[{self._type(item, name)}]"
            case Object(_, fields) if not fields:
                return "dict"
            case Object(own, _):
                return self._named(shape, own if own != "object" else name)
            case Choice():
                return self._named(shape, name)


def _listed(shape: Shape) -> str:
    return (
        f"[{', '.join(map(yaml_text, shape.values))}]" if isinstance(shape, Choice) else str(shape)
    )


def yaml_text(value: Json) -> str:
    """A value as YAML: plain where that is safe."""
    is_plain = isinstance(value, str) and _PLAIN.fullmatch(value) and value == value.strip()
    if is_plain and printable(value) == value and value.lower() not in _WORDS:
        return str(value)
    return yaml_json(value)


def yaml_json(value: Json) -> str:
    """A value as JSON that YAML takes for the same value. Half a character, which has no YAML, is �."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() and text.isprintable() else "".join(map(_escaped, text))


def _escaped(letter: str) -> str:
    if "\ud800" <= letter <= "\udfff":
        return "\ufffd"
    if letter.isprintable() and printable(letter) == letter:
        return letter
    # A pair of escapes, as JSON has it, is no character in YAML.
    return f"\\U{ord(letter):08x}"


def yaml_line(line: str) -> str:
    """The line with everything escaped that would end it: recorded names stand in its comments."""
    return _UNWRITTEN.sub(lambda match: f"\\u{ord(match[0]):04x}", printable(line))
