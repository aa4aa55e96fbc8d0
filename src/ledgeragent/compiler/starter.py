"""A starter pack from a file that describes tools: every guess in it is marked `# review`.

A tool is guessed to be a read only if its name says so, and nothing says otherwise: an MCP hint or an
HTTP method can turn a guessed read into a write, never a write into a read.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from ledgeragent.compiler.filters import filters
from ledgeragent.compiler.guesses import guess, words_of
from ledgeragent.compiler.shapes import Choice, Field, ListOf, MapOf, Object, Scalar, Shape, is_open
from ledgeragent.compiler.source.toolfile import ToolSpec
from ledgeragent.types import Json

_PLAIN = re.compile(r"[A-Za-z_][\w .-]*\??")
_NAME = re.compile(r"[A-Za-z_]\w*")
_WORDS = ("null", "true", "false", "yes", "no", "on", "off", "~")
_FILLERS = ("all", "detail", "details", "id", "info", "information", "status")


def starter(name: str, tools: Sequence[ToolSpec]) -> str:
    """The text of a pack that loads, with a read, write or neutral entry for every tool."""
    kinds = {tool.name: guess(tool) for tool in tools}
    reads = [tool for tool in tools if kinds[tool.name][0] == "read"]
    writes = [tool for tool in tools if kinds[tool.name][0] == "write"]
    neutrals = [tool for tool in tools if kinds[tool.name][0] == "neutral"]
    records = _Records()
    paths = _paths(reads)
    sections = [
        _head(name),
        _section("reads", (line for t in reads for line in _read(t, paths[t.name], records))),
        _section(
            "writes",
            (
                line
                for t in writes
                for line in [
                    *_write(t, kinds[t.name][1], records),
                    *_answer(t, reads, paths, records),
                ]
            ),
        ),
        _section("neutrals", (f"  - {_text(t.name)}  # review" for t in neutrals)),
        _clauses(name),
    ]
    sections.insert(1, _section("records", records.lines()))
    return "\n".join(section for section in sections if section)


def _head(name: str) -> str:
    return f"""\
# A starter pack, written by `ledgeragent init`. Each line that ends with "# review" is a guess from the
# tools' names and schemas: confirm it or mend it. Then add rules, and run `ledgeragent check`.
schema: ledgeragent/v1
domain: {_text(name)}
version: "1"
"""


def _clauses(name: str) -> str:
    return f"""\
# One entry per sentence of your policy; `why` says what no rule can check.
clauses: []

# rules:
#   - id: {name}/what-is-wrong
#     about: What the rule decides, in one sentence.
#     guards: a_write_tool
#     clause: {name}/what-is-wrong
#     requires:
#       order: orders.{{order_id}}
#     check: order.status == "open"
#     message: "order {{args.order_id}} is {{order.status}}; only an open one can be changed"
#     samples:
#       allowed: []
#       rejected: []
rules: []
"""


def _section(name: str, lines: Iterator[str]) -> str:
    text = "\n".join(lines)
    return f"{name}:\n{text}\n" if text else ""


def _returned(tool: ToolSpec) -> tuple[Shape, str]:
    """(the record that a read returns, the field with the list of them: `.` for the return, "" for none)"""
    shape = tool.returned()
    if isinstance(shape, ListOf):
        return shape.item, "."
    if isinstance(shape, Object) and len(shape.fields) == 1:
        ((name, field),) = shape.fields.items()
        if isinstance(field.shape, ListOf) and isinstance(field.shape.item, Object):
            return field.shape.item, name
    return shape, ""


def _paths(reads: Sequence[ToolSpec]) -> dict[str, str]:
    """Where each read stores its record. One family holds one kind of record.

    The read that is asked by a record's own id comes before lookups that tell less of it.
    """
    guessed = {
        tool.name: _path(_noun(tool.name), tool.required, _returned(tool)[0]) for tool in reads
    }
    kinds: dict[str, Shape] = {}
    for tool in sorted(reads, key=lambda t: not _asks_for_key(t, guessed[t.name])):
        path = guessed[tool.name]
        family = re.sub(r"\{\w+\}", "{}", path)
        if kinds.setdefault(family, _returned(tool)[0]) != _returned(tool)[0]:
            keys = path.partition(".")[2]
            guessed[tool.name] = "_".join(words_of(tool.name)) + (f".{keys}" if keys else "")
    return guessed


def _asks_for_key(tool: ToolSpec, path: str) -> bool:
    return all(key in tool.required for key in re.findall(r"\{(\w+)\}", path))


def _read(tool: ToolSpec, path: str, records: _Records) -> Iterator[str]:
    record, each = _returned(tool)
    noun = _noun(tool.name)
    yield f"  {_text(tool.name)}:{_comment(tool.description)}"
    yield f"    to: {path}  # review"
    if not is_open(record):
        yield f"    record: {records.name(noun.removesuffix('s') if each else noun, record)}"
    if each:
        yield f"    each: {_text(each) if each != '.' else each}  # review"
    yield f"    parameters: [{', '.join(map(_text, tool.required))}]"
    yield from _narrowing(tool, record, each)


def _narrowing(tool: ToolSpec, record: Shape, each: str) -> Iterator[str]:
    """The remarks on arguments with which a read answers a part of a list."""
    whole = isinstance(record, ListOf)
    names = filters(tool.argument_names, paging_only=not (each or whole))
    if not names:
        return
    yield f"    # review: with {', '.join(names)} this answers a part of the list, not all of it."
    optional = [name for name in names if name not in tool.required and _NAME.fullmatch(name)]
    without = " && ".join(f"!has(args.{name})" for name in optional)
    if each and without:
        yield f'    # A route that keeps the list itself needs  when: "{without}"'
    elif without and (whole or _has_list(record)):
        yield f'    when: "{without}"  # review'


def _has_list(record: Shape) -> bool:
    fields = record.fields.values() if isinstance(record, Object) else ()
    return any(isinstance(field.shape, ListOf) for field in fields)


def _path(noun: str, keys: Sequence[str], record: Shape) -> str:
    """The family of a record: under its own id where it has one, else under what it was asked by."""
    fields = record.fields if isinstance(record, Object) else {}
    own = [name for name in fields if name == "id" or name.endswith("_id")]
    named = [name for name in own if name == f"{noun.removesuffix('s')}_id"]
    if own:
        key = (named or own)[0]
        noun = noun if key == "id" else key.removesuffix("_id")
        return f"{_plural(noun)}.{{{key}}}"
    usable = [key for key in keys if re.fullmatch(r"\w+", key)]
    ids = [key for key in usable if key == "id" or key.endswith("_id")]
    return ".".join([_plural(noun), *(f"{{{key}}}" for key in ids or usable)])


def _plural(noun: str) -> str:
    if noun.endswith("s"):
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def _write(tool: ToolSpec, reason: str, records: _Records) -> Iterator[str]:
    yield f"  {_text(tool.name)}:{_comment(reason or tool.description)}"
    shape = tool.arguments
    fields = shape.fields if isinstance(shape, Object) else {}
    yield "    arguments:" + ("" if fields else " {}")
    for name, field in fields.items():
        yield f"      {records.entry(name, field)}"
    if tool.open and fields:
        yield "    open: true  # review: calls may carry further arguments, which no rule reads"
    yield "    touches: []  # review: the records that this changes, and which of their fields"


def _answer(
    tool: ToolSpec, reads: Sequence[ToolSpec], paths: Mapping[str, str], records: _Records
) -> Iterator[str]:
    """The route of what a write answers with, where that is a record as a read has it."""
    answer = tool.returned()
    for source in reads:
        record, each = _returned(source)
        if each or not isinstance(record, Object) or not isinstance(answer, Object):
            continue
        if record.fields and record.fields == answer.fields:
            yield "    returns:  # review: the record as it is afterwards, but for fields to omit: [...]"
            yield f"      to: {paths[source.name]}"
            yield f"      record: {records.name(_noun(source.name), record)}"
            return


def _noun(tool: str) -> str:
    """The thing that a read is about: its name without verb and filler words, up to "by" or "for"."""
    words = []
    for word in words_of(tool)[1:]:
        if word in ("by", "for", "of"):
            break
        if word not in _FILLERS:
            words.append(word)
    return "_".join(words) or "record"


class _Records:
    """The record types that the starter names, each written once."""

    def __init__(self) -> None:
        self._shapes: dict[str, Shape] = {}

    def name(self, noun: str, shape: Shape) -> str:
        """The type of a returned record: its name for an object, else its type."""
        if not isinstance(shape, Object) or not shape.fields:
            return self._type(shape, noun)
        return self._named(shape, noun)

    def entry(self, name: str, field: Field) -> str:
        """A field with its type, as YAML."""
        optional = "" if field.certain else "?"
        if isinstance(field.shape, Choice):
            return f"{_text(name + optional)}: {_listed(field.shape)}"
        return f"{_text(name)}: {self._type(field.shape, name)}{optional}"

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
        for field_name, field in shape.fields.items():
            yield f"    {self.entry(field_name, field)}"

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
    return f"[{', '.join(map(_text, shape.values))}]" if isinstance(shape, Choice) else str(shape)


def _text(value: Json) -> str:
    """A value as YAML: plain where that is safe."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value.strip() if value == value.strip() else json.dumps(value)
    return json.dumps(value)


def _comment(text: str) -> str:
    """The first sentence of a description as a comment, \"\" without one."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    sentence = textwrap.shorten(line.partition(". ")[0], 80, placeholder=" ...")
    return f"  # review: {sentence}" if sentence else "  # review"
