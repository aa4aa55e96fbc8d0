"""The shape of records: what a declared type says of a value that was observed.

A value that is not what its type declares is evidence of nothing: `"SHIPPED"` must not pass for
something else than `"shipped"`. So a rule that reads it is told what is wrong instead.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count, repeat
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NotRequired,
    Required,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ledgeragent.types import Json

Objection: TypeAlias = Callable[[Json, str], str]
"""`(value, place) -> what is wrong with it`, "" where nothing is; `place` names where it stands."""

CONTROL = re.compile("[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ud800-\udfff]")
"""Characters that programs read differently: control characters but tab and line breaks, half ones."""

_MOST_WORDS = 12
_LONGEST_SHOWN = 60
_DEEPEST = 60
_NOWHERE = repeat("")


def has_control(text: str) -> bool:
    """True for text with a control character or half a character: programs read it differently."""
    return not text.isprintable() and CONTROL.search(text) is not None


@dataclass(frozen=True, eq=False)
class Shape:
    """What a type declares: its `objection` to a value, and the shapes inside an object.

    `record` is the TypedDict it was made of, None for another type; `values` is the shape of all
    values of a dict. `holds_objects` where a rule may read a value of it field by field.
    """

    objection: Objection
    record: Any = None
    values: Shape | None = None
    holds_objects: bool = False

    @cached_property
    def required(self) -> frozenset[str]:
        """The fields that must be there."""
        return frozenset() if self.record is None else required_keys(self.record)

    @cached_property
    def fields(self) -> Mapping[str, Shape]:
        """The shapes of the fields. Made when first asked for: a type may hold itself."""
        hints = {} if self.record is None else get_type_hints(self.record)
        return {name: shape_of(hint) for name, hint in hints.items()}

    def of(self, name: str) -> Shape:
        """The shape of a field; anything, where the type says nothing of it."""
        return self.values or self.fields.get(name, ANYTHING)


def shape_of(annotation: Any) -> Shape:
    """The shape that a type declares: TypedDict, list, dict, Literal, union or scalar."""
    return _shape_of(annotation)


@lru_cache(maxsize=4096)
def _shape_of(annotation: Any) -> Shape:
    if is_typeddict(annotation):
        return _object_shape(annotation)
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return Shape(_literal_objection(inner))
    if origin in (Union, UnionType):
        return _union_shape(inner)
    if origin is list:
        return Shape(_container_objection(shape_of(inner[0]).objection, list, "a list"))
    if origin is dict or origin is Mapping:
        values = shape_of(inner[1])
        objection_to_all = _container_objection(values.objection, dict, "an object")
        return Shape(objection_to_all, None, values, True)
    # A type of text with a form of its own, such as a date, says itself what is none.
    objection = _SCALARS.get(annotation) or getattr(annotation, "objection", None)
    return Shape(objection) if objection is not None else ANYTHING


def required_keys(annotation: Any) -> frozenset[str]:
    """The keys of a TypedDict that must be given, also where its annotations are strings.

    `__required_keys__` alone doesn't see `NotRequired` inside a string.
    """
    hints = get_type_hints(annotation, include_extras=True)
    marks = {name: get_origin(hint) for name, hint in hints.items()}
    required: frozenset[str] = annotation.__required_keys__
    return frozenset(
        n for n, m in marks.items() if m is Required or (n in required and m is not NotRequired)
    )


def _object_shape(record: Any) -> Shape:
    def objection(value: Json, place: str) -> str:
        if type(value) is not dict:
            return _expected(place, "an object", value)
        if not value.keys() >= shape.required:
            return f"{place.lstrip('.') or 'it'} has no `{min(shape.required - value.keys())}`"
        for name, field in shape.fields.items():
            item, object_to = value.get(name), field.objection
            if type(item) is str and object_to is _objection_to_text and item.isprintable():
                continue
            if name in value and object_to(item, ""):
                # The place is made only where something is wrong: most of the time nothing is.
                return object_to(item, f"{place}.{name}")
        return ""

    shape = Shape(objection, record, holds_objects=True)
    return shape


def _container_objection(object_to: Objection, container: Any, expected: str) -> Objection:
    def objection(value: Json, place: str) -> str:
        if type(value) is not container:
            return _expected(place, expected, value)
        items: Iterable[Json] = value.values() if container is dict else value
        if not any(map(object_to, items, _NOWHERE)):
            return ""
        names = (f".{n}" for n in value) if container is dict else (f"[{n}]" for n in count())
        return next(filter(None, map(object_to, items, (place + name for name in names))))

    return objection


def _literal_objection(words: tuple[Any, ...]) -> Objection:
    allowed = frozenset(words)
    typed = frozenset((type(word), word) for word in words)

    def objection(value: Json, place: str) -> str:
        # In Python, True is 1.
        if type(value) is str and value in allowed:
            return ""
        if type(value) in (int, bool, NoneType) and (type(value), value) in typed:
            return ""
        listed = ", ".join(str(word) for word in words[:_MOST_WORDS])
        return _expected(
            place, f"one of {listed}{', ...' if len(words) > _MOST_WORDS else ''}", value
        )

    return objection


def _union_shape(inner: tuple[Any, ...]) -> Shape:
    shapes = [shape_of(part) for part in inner if part is not NoneType]
    optional = NoneType in inner

    def objection(value: Json, place: str) -> str:
        if value is None and optional:
            return ""
        wrong = [shape.objection(value, place) for shape in shapes]
        return "" if "" in wrong else wrong[0]

    one = shapes[0] if len(shapes) == 1 else Shape(objection)
    return Shape(objection, one.record, one.values, one.holds_objects)


def _objection_to_text(value: Json, place: str) -> str:
    if type(value) is not str:
        return _expected(place, "text", value)
    return "" if value.isprintable() or not has_control(value) else _unreadable(place)


def _objection_to_integer(value: Json, place: str) -> str:
    return "" if type(value) is int else _expected(place, "a whole number", value)


def _objection_to_number(value: Json, place: str) -> str:
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return ""
    return _expected(place, "a number", value)


def _objection_to_truth(value: Json, place: str) -> str:
    return "" if type(value) is bool else _expected(place, "true or false", value)


def _objection_to_anything(value: Json, place: str, depth: int = 0) -> str:
    if type(value) is str:
        return _unreadable(place) if has_control(value) else ""
    if type(value) is float and not math.isfinite(value):
        return _expected(place, "a number", value)
    if type(value) is not dict and type(value) is not list:
        return ""
    if depth > _DEEPEST:
        return f"{place} is nested too deep"
    inner = [*value, *value.values()] if type(value) is dict else value
    wrong = (_objection_to_anything(item, place, depth + 1) for item in inner)
    return next(filter(None, wrong), "")


def _unreadable(place: str) -> str:
    return f"{place.lstrip('.') or 'it'} holds a control character"


def _expected(place: str, expected: str, value: Json) -> str:
    text = repr(value)
    if len(text) > _LONGEST_SHOWN:
        text = f"{text[:_LONGEST_SHOWN]}..."
    return f"{place.lstrip('.') or 'it'} should be {expected}, not {text}"


_SCALARS: Mapping[Any, Objection] = {
    str: _objection_to_text,
    int: _objection_to_integer,
    float: _objection_to_number,
    bool: _objection_to_truth,
}

ANYTHING = Shape(_objection_to_anything, holds_objects=True)
"""The shape of values whose type says nothing; none may hold control characters."""
