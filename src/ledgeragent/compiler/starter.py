"""A starter pack from a file that describes tools: every guess in it is marked `# review`.

A tool is guessed to be a read only if its name says so, and nothing says otherwise: an MCP hint or an
HTTP method can turn a guessed read into a write, never a write into a read.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from ledgeragent.compiler.filters import filters
from ledgeragent.compiler.guesses import guess, words_of
from ledgeragent.compiler.nouns import noun_of, plural
from ledgeragent.compiler.recordlines import RecordLines, yaml_text
from ledgeragent.compiler.shapes import ListOf, Object, Shape, is_open
from ledgeragent.compiler.source.toolfile import ToolSpec

_NAME = re.compile(r"[A-Za-z_]\w*")
_TELLING = re.compile(r"\w+_(?:number|code|key)|\w+(?:Number|Code|Key)|number|code|key|sku|slug")


def starter(name: str, tools: Sequence[ToolSpec]) -> str:
    """The text of a pack that loads, with a read, write or neutral entry for every tool."""
    kinds = {tool.name: guess(tool) for tool in tools}
    reads = [tool for tool in tools if kinds[tool.name][0] == "read"]
    writes = [tool for tool in tools if kinds[tool.name][0] == "write"]
    neutrals = [tool for tool in tools if kinds[tool.name][0] == "neutral"]
    records = RecordLines()
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
        _section("neutrals", (f"  - {yaml_text(t.name)}  # review" for t in neutrals)),
        _clauses(name),
    ]
    sections.insert(1, _section("records", records.lines()))
    return "\n".join(section for section in sections if section)


def _head(name: str) -> str:
    return f"""\
# A starter pack, written by `ledgeragent init`. Each line that ends with "# review" is a guess from the
# tools' names and schemas: confirm it or mend it. Then add rules, and run `ledgeragent check`.
schema: ledgeragent/v1
domain: {yaml_text(name)}
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
        tool.name: _path(noun_of(tool.name), tool.required, record, bool(each))
        for tool in reads
        for record, each in (_returned(tool),)
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


def _read(tool: ToolSpec, path: str, records: RecordLines) -> Iterator[str]:
    record, each = _returned(tool)
    noun = noun_of(tool.name)
    yield f"  {yaml_text(tool.name)}:{_comment(tool.description)}"
    yield f"    to: {path}  # review"
    if not is_open(record):
        yield f"    record: {records.name(noun.removesuffix('s') if each else noun, record)}"
    if each:
        yield f"    each: {yaml_text(each) if each != '.' else each}  # review"
    yield from _renaming(tool, path)
    yield f"    parameters: [{', '.join(map(yaml_text, tool.required))}]"
    yield from _narrowing(tool, record, each)


def _renaming(tool: ToolSpec, path: str) -> Iterator[str]:
    """The argument that names the record, where path and argument call it otherwise."""
    lacking = [key for key in re.findall(r"\{(\w+)\}", path) if key not in tool.required]
    ids = [name for name in tool.required if re.fullmatch(r"\w*(?:[iI]d|Id)", name)]
    if len(lacking) == 1 and len(tool.required) == 1 and ids:
        yield f"    rename: {{{lacking[0]}: {ids[0]}}}  # review"


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


def _path(noun: str, keys: Sequence[str], record: Shape, each: bool) -> str:
    """The family of a record: under its own id where it has one, else under what it was asked by.

    What tells the elements of a list apart is a field of theirs: else all would land on one path.
    """
    fields = record.fields if isinstance(record, Object) else {}
    own = [name for name in fields if name == "id" or name.endswith("_id")]
    named = [name for name in own if name == f"{noun.removesuffix('s')}_id"]
    if own:
        key = (named or own)[0]
        noun = noun if key == "id" else key.removesuffix("_id")
        return f"{plural(noun)}.{{{key}}}"
    usable = [key for key in keys if re.fullmatch(r"\w+", key)]
    if each and (telling := [name for name in fields if _TELLING.fullmatch(name)]):
        days = [key for key in usable if key.endswith(("date", "day"))]
        return ".".join([plural(noun), *(f"{{{key}}}" for key in (telling[0], *days))])
    ids = [key for key in usable if key == "id" or key.endswith("_id")]
    return ".".join([plural(noun), *(f"{{{key}}}" for key in ids or usable)])


def _write(tool: ToolSpec, reason: str, records: RecordLines) -> Iterator[str]:
    yield f"  {yaml_text(tool.name)}:{_comment(reason or tool.description)}"
    shape = tool.arguments
    fields = shape.fields if isinstance(shape, Object) else {}
    yield "    arguments:" + ("" if fields else " {}")
    for name, field in fields.items():
        yield f"      {records.entry(name, field)}"
    if tool.open and fields:
        yield "    open: true  # review: calls may carry further arguments, which no rule reads"
    yield "    touches: []  # review: the records that this changes, and which of their fields"


def _answer(
    tool: ToolSpec, reads: Sequence[ToolSpec], paths: Mapping[str, str], records: RecordLines
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
            yield f"      record: {records.name(noun_of(source.name), record)}"
            return


def _comment(text: str) -> str:
    """The first sentence of a description as a comment, \"\" without one."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    sentence = textwrap.shorten(line.partition(". ")[0], 80, placeholder=" ...")
    return f"  # review: {sentence}" if sentence else "  # review"
