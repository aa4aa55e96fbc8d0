"""Reads a YAML file into nodes that know their line, and refuses what could surprise an author.

Anything but plain YAML is one `DataError` with file and line: broken syntax, duplicate keys, tags,
deep nesting, alias bombs, huge files, and text that a `#` silently cut off. Scalars follow YAML 1.2:
`no` and `2024-05-01` are text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any

from ledgeragent.compiler.source.textfile import read_text
from ledgeragent.errors import DataError, MissingExtraError
from ledgeragent.types import Json

MOST_DEPTH = 40
MOST_NODES = 50_000

_MOST_DIGITS = 100
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, Json] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_CUT = re.compile(r"\s+#\S")
_CUT_AT_ONCE = re.compile(r"\s*#\S")
_HASH_IN_FLOW = re.compile(r"[\s\[{,:]#\S")


@dataclass(frozen=True, slots=True)
class Node:
    """One value of a file: text, number, mapping of nodes, list of nodes, or nothing.

    `line` is where its key stands (else the value itself), `begins` the first line of its text.
    """

    value: Any
    file: str
    line: int
    begins: int
    size: int = 1

    @property
    def plain(self) -> Json:
        """The value without its places."""
        if isinstance(self.value, dict):
            return {name: child.plain for name, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain for child in self.value]
        return self.value

    def error(self, problem: str) -> DataError:
        """The error that names this node's place."""
        return DataError(problem, file=self.file, line=self.line)


def read_yaml(path: FilePath) -> Node:
    """The content of a file; raises DataError with the line that is wrong."""
    text = read_text(path)
    return parse_yaml(text, str(path))


def parse_yaml(text: str, file: str, most_nodes: int = MOST_NODES) -> Node:
    """The content of YAML text; `file` is named in errors."""
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("pyyaml", "cel") from None
    composer = _Composer(text, file, most_nodes)
    try:
        events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return composer.compose(events)
    except yaml.reader.ReaderError as problem:
        line = text.count("\n", 0, problem.position) + 1
        raise DataError("a character that YAML does not allow", file=file, line=line) from None
    except yaml.MarkedYAMLError as problem:
        raise _syntax_error(problem, composer) from None


def _syntax_error(problem: Any, composer: _Composer) -> DataError:
    mark = problem.problem_mark or problem.context_mark
    first = (problem.context_mark or mark).line
    lines = composer.lines[first : mark.line + 1]
    for number, line in enumerate(lines, first + 1):
        if _HASH_IN_FLOW.search(line):
            text = "an unquoted # starts a comment, which leaves a bracket open; quote the value"
            return DataError(text, file=composer.file, line=number)
    line = lines[-1] if lines else ""
    text = _explained(str(problem.problem), line, first + 1, within=mark.column > _indent(line))
    return DataError(text, file=composer.file, line=mark.line + 1)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _explained(problem: str, line: str, first: int, *, within: bool) -> str:
    """The parser's complaint, `within` a line or at its beginning, as something to act on."""
    if "\t" in line[: _indent(line)]:
        return "a tab cannot indent; use spaces"
    if "nesting depth" in problem:
        return f"nested more than {MOST_DEPTH} levels deep"
    if "cannot start any token" in problem:
        return "text cannot begin with this character; quote it"
    if "mapping values are not allowed" in problem:
        return "unexpected ':' here; mend the indentation, or quote the text if it contains ': '"
    if "',' or" in problem:
        return f"the bracket opened on line {first} is not closed; quote text with {{ }} [ ] or ,"
    if "block end" in problem or "expected key" in problem or "'-' indicator" in problem:
        if within:
            return "something follows a closing quote or bracket; quote the value as a whole"
        return f"wrong indentation: this does not line up with line {first}"
    if "alphabetic or numeric" in problem:
        return "text that begins with & or * must be quoted"
    if "could not find expected ':'" in problem:
        return (
            "expected 'key: value'; a colon is missing, or the line above has a wrong indentation"
        )
    if "end of stream" in problem:
        return f"the quote opened on line {first} is not closed"
    return f"not valid YAML: {problem}"


@dataclass(slots=True)
class _Frame:
    """A mapping or list that is still open."""

    line: int
    anchor: str | None
    is_mapping: bool
    items: list[Node] = field(default_factory=list)
    entries: dict[str, Node] = field(default_factory=dict)
    key: Node | None = None
    merged: dict[str, Node] = field(default_factory=dict)


class _MergeKey(str):
    """An unquoted `<<`. Within quotes it is a name like any other."""

    __slots__ = ()


class _Composer:
    """Builds nodes from parser events without recursion, so depth is ours to limit."""

    def __init__(self, text: str, file: str, most_nodes: int) -> None:
        self._most_nodes = most_nodes
        self.file = file
        self.lines = text.splitlines() or [""]
        self._anchors: dict[str, Node] = {}
        self._open: list[_Frame] = []
        self._root: Node | None = None

    def compose(self, events: Iterator[Any]) -> Node:
        for event in events:
            handler = getattr(self, f"_on_{type(event).__name__}", None)
            if handler is not None:
                handler(event)
        return self._root or Node(None, self.file, 1, 1)

    def _on_DocumentStartEvent(self, event: Any) -> None:  # noqa: N802
        if self._root is not None:
            raise self._error("a second document ('---') begins here; use one per file", event)

    def _on_MappingStartEvent(self, event: Any) -> None:  # noqa: N802
        self._begin(event, is_mapping=True)

    def _on_SequenceStartEvent(self, event: Any) -> None:  # noqa: N802
        self._begin(event, is_mapping=False)

    def _begin(self, event: Any, *, is_mapping: bool) -> None:
        self._refuse_tag(event)
        if len(self._open) >= MOST_DEPTH:
            raise self._error(f"nested more than {MOST_DEPTH} levels deep", event)
        self._open.append(_Frame(event.start_mark.line + 1, event.anchor, is_mapping))

    def _on_MappingEndEvent(self, event: Any) -> None:  # noqa: N802
        frame = self._open.pop()
        entries = {**frame.merged, **frame.entries}
        self._add(self._collection(entries, entries.values(), frame), frame.anchor)

    def _on_SequenceEndEvent(self, event: Any) -> None:  # noqa: N802
        frame = self._open.pop()
        self._add(self._collection(frame.items, frame.items, frame), frame.anchor)

    def _collection(self, value: Any, children: Any, frame: _Frame) -> Node:
        size = 1 + sum(child.size for child in children)
        if size > self._most_nodes:
            raise DataError(
                f"with its aliases written out this has more than {self._most_nodes} values",
                file=self.file,
                line=frame.line,
            )
        return Node(value, self.file, frame.line, frame.line, size)

    def _on_AliasEvent(self, event: Any) -> None:  # noqa: N802
        node = self._anchors.get(event.anchor)
        if node is None:
            text = (
                f"*{event.anchor} names nothing that ended above it; quote text that begins with *"
            )
            raise self._error(text, event)
        line = event.start_mark.line + 1
        self._add(replace(node, line=line), None)

    def _on_ScalarEvent(self, event: Any) -> None:  # noqa: N802
        self._refuse_tag(event)
        line = event.start_mark.line + 1
        if event.style in ("|", ">"):
            node = Node(event.value, self.file, line, line + 1)
        elif event.style:
            node = Node(event.value, self.file, line, line)
        else:
            self._refuse_cut(event)
            value = _key(event.value) if self._expects_key() else _resolve(event.value)
            if isinstance(value, float) and not math.isfinite(value):
                raise self._error("the number is too large", event)
            node = Node(value, self.file, line, line)
        self._add(node, event.anchor)

    def _expects_key(self) -> bool:
        return bool(self._open) and self._open[-1].is_mapping and self._open[-1].key is None

    def _refuse_tag(self, event: Any) -> None:
        if event.tag is not None and event.tag != "!":
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            text = f"text that begins with ! must be quoted (the tag {tag} is not supported)"
            raise self._error(text, event)

    def _refuse_cut(self, event: Any) -> None:
        """An id such as #W1 must be quoted: YAML drops it as a comment, and the rule sees nothing."""
        mark = event.end_mark
        rest = self.lines[mark.line][mark.column :] if mark.line < len(self.lines) else ""
        if not (_CUT if event.value else _CUT_AT_ONCE).match(rest):
            return
        lost = rest.strip()
        raise self._error(
            f"{lost} is dropped as a comment; quote the value if it belongs to it "
            "(a comment needs a space after its #)",
            event,
        )

    def _add(self, node: Node, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._open:
            self._root = node
            return
        frame = self._open[-1]
        if not frame.is_mapping:
            frame.items.append(node)
        elif frame.key is None:
            frame.key = self._checked_key(frame, node)
        else:
            self._enter(frame, frame.key, node)
            frame.key = None

    def _checked_key(self, frame: _Frame, key: Node) -> Node:
        if not isinstance(key.value, str):
            raise key.error("a key must be text; quote it if it contains { or [")
        first = frame.entries.get(key.value)
        if first is not None:
            raise key.error(f"the key {key.value!r} is given twice; it stands on line {first.line}")
        return key

    def _enter(self, frame: _Frame, key: Node, node: Node) -> None:
        if not isinstance(key.value, _MergeKey):
            frame.entries[key.value] = replace(node, line=key.line)
            return
        for source in node.value if isinstance(node.value, list) else [node]:
            if not isinstance(source.value, dict):
                raise key.error("'<<' merges a mapping, such as an alias of one")
            frame.merged = {**source.value, **frame.merged}

    def _error(self, problem: str, event: Any) -> DataError:
        return DataError(problem, file=self.file, line=event.start_mark.line + 1)


def _key(text: str) -> str:
    return _MergeKey(text) if text == "<<" else text


def _resolve(text: str) -> Json:
    """The YAML 1.2 value of an unquoted scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text) and len(text) <= _MOST_DIGITS:
        return int(text)
    if _FLOAT.fullmatch(text) and any(c in text for c in ".eE"):
        return float(text)
    return text
