"""The sections `touches` and `shared`: which records, and which of their fields, a step makes stale."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ledgeragent.compiler.marks import Marks
from ledgeragent.compiler.outline import Outline
from ledgeragent.compiler.problems import suggestion
from ledgeragent.compiler.shapes import Object, Shape
from ledgeragent.compiler.source.keys import (
    Key,
    Segment,
    dotted,
    field_of,
    field_problem,
    key_problem,
    keys_of,
    literal_problem,
    near,
    parse_path,
    serving,
)
from ledgeragent.compiler.source.sections import Sections
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.effects import Touches
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.paths import PathTemplate
from ledgeragent.types import Arguments


@dataclass(frozen=True, slots=True)
class Touched:
    """Reads what changes, against the records that the reads in `outline` store."""

    outline: Outline
    sections: Sections

    def touches(self, node: Node | None, arguments: Object) -> Iterator[Touches]:
        """The marks of a write whose calls have these arguments."""
        for item in self.sections.items(node, "touches"):
            if isinstance(item.value, dict) and set(item.value) == {"python"}:
                function = self.sections.python(item.value["python"])
                if function is not None:
                    yield function
                continue
            for path, fields in self._touched(item):
                mark = self._touch(path, fields, arguments, item)
                if mark is not None:
                    yield mark

    def _touched(self, item: Node) -> Iterator[tuple[str, Node | None]]:
        if isinstance(item.value, dict):
            yield from item.value.items()
        else:
            yield self.sections.text(item, "touches"), None

    def _touch(
        self, path: str, fields: Node | None, arguments: Object, item: Node
    ) -> Touches | None:
        family = self._family(path, item)
        if family is None:
            return None
        template, segments = family
        if any(segment == "*" for segment in segments):
            return self._every(template, segments, self._prefixes(template, fields), item)
        literal = literal_problem(parse_path(path, ()) or (), template, arguments.fields)
        keys = tuple(_of_arguments(segment, arguments) for segment in segments)
        problems = [self._key_problem(key, arguments) for key in keys if isinstance(key, Key)]
        if literal:
            problems.insert(0, ("unknown-path", literal))
        for code, problem in filter(None, problems):
            self.sections.find(code, item, problem)
            return None
        return Marks(template, keys, self._prefixes(template, fields), arguments)

    def _every(
        self,
        template: PathTemplate[Any],
        keys: tuple[Segment, ...],
        prefixes: tuple[tuple[str, ...], ...],
        item: Node,
    ) -> Touches | None:
        """The marks on every observed record of a family."""
        if set(keys) != {"*"}:
            text = f"* stands for every key of {template.text} at once, or for none"
            self.sections.find("unknown-path", item, text)
            return None
        return _Every(_Shared(((template, prefixes),)))

    def _key_problem(self, key: Key, arguments: Object) -> tuple[str, str] | None:
        if key.root != "args":
            text = f"touches can name arguments only, not {key}; use python: module:function"
            return "unknown-path", text
        if arguments.fields and key.fields[0] not in arguments.fields:
            hint = suggestion(key.fields[0], arguments.fields)
            return "unknown-field", f"{arguments} has no argument {key.fields[0]!r}{hint}"
        return key_problem(key, arguments, lists=True)

    def _prefixes(
        self, template: PathTemplate[Any], node: Node | None
    ) -> tuple[tuple[str, ...], ...]:
        prefixes = tuple(map(dotted, self.sections.texts(node, "the touched fields")))
        shape = next(part.shape for part in self.outline.reads if part.to is template)
        for prefix in prefixes:
            check_field(shape, prefix, node, self.sections)
        return prefixes or ((),)

    def _family(
        self, path: str, node: Node
    ) -> tuple[PathTemplate[Any], tuple[Segment, ...]] | None:
        templates = {part.to.text: part.to for part in self.outline.reads}
        segments = parse_path(path, ())
        template = next(serving(segments, templates.values()), None) if segments else None
        if (template is None or segments is None) and self.outline.broken_reads:
            return None
        if template is None or segments is None:
            hint = near(path, templates)
            self.sections.find("unknown-path", node, f"no read stores {path!r}{hint}")
            return None
        return template, keys_of(segments, template)

    def shared(self, node: Node | None) -> Callable[[Ledger], Iterable[Touch]] | None:
        """The marks of a turn of the user: fields of every observed record of these families."""
        families: list[tuple[PathTemplate[Any], tuple[tuple[str, ...], ...]]] = []
        for path, fields in self.sections.entries(node, "shared").items():
            family = self._family(path, fields)
            if family is not None:
                families.append((family[0], self._prefixes(family[0], fields)))
        return _Shared(tuple(families)) if families else None


def check_field(
    shape: Shape, prefix: tuple[str, ...], node: Node | None, sections: Sections
) -> None:
    """Finds the first of these nested fields that the shape lacks."""
    for name in prefix:
        text = field_problem(name, shape)
        if text:
            assert node is not None
            sections.find("unknown-field", node, text)
            return
        shape = field_of(shape, name)


def _of_arguments(segment: Segment, arguments: Object) -> Segment:
    """The key `{lines.item_id}` as what it is for a write: a field of the argument `lines`."""
    # A tool may call an argument `args`: then `{args.name}` is still the argument `name`.
    if isinstance(segment, Key) and segment.root != "args" and segment.root in arguments.fields:
        return Key(root="args", fields=(segment.root, *segment.fields))
    return segment


@dataclass(frozen=True, slots=True)
class _Shared:
    """Marks fields of every observed record of some families."""

    families: tuple[tuple[PathTemplate[Any], tuple[tuple[str, ...], ...]], ...]

    def __call__(self, ledger: Ledger) -> Iterator[Touch]:
        for template, prefixes in self.families:
            for entry in ledger.glob(template):
                yield from (Touch(entry.path, prefix) for prefix in prefixes)


@dataclass(frozen=True, slots=True)
class _Every:
    """Marks fields of every observed record of a family, whatever the call names."""

    marks: _Shared

    def __call__(self, arguments: Arguments, ledger: Ledger) -> Iterator[Touch]:
        yield from self.marks(ledger)
