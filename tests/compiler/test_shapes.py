"""Shapes: the same from TypedDicts, JSON Schema and values; what fits and what does not."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

import pytest

from ledgeragent.arguments import reader
from ledgeragent.compiler.cel.conversion import converter
from ledgeragent.compiler.shapes import (
    ANY,
    SCALARS,
    TEXT,
    Choice,
    Field,
    ListOf,
    MapOf,
    Object,
    annotation,
    mismatches,
    shape_of,
    shape_of_value,
    typed_dict,
)
from ledgeragent.compiler.source.jsonschema import shape_of_schema

INT, FLOAT = SCALARS["int"], SCALARS["float"]


class Card(TypedDict):
    kind: Literal["gift", "credit"]
    balance: NotRequired[float]


class Order(TypedDict):
    order_id: str
    total: float
    cards: dict[str, Card]
    tags: list[str]
    note: str | None


@pytest.mark.parametrize("name", ["a\0b", "\ud800", ""])
def test_whatever_a_tool_is_called_its_arguments_have_a_type(name: str) -> None:
    fields = {name: Field(SCALARS["str"])}
    assert name in typed_dict(name, fields).__annotations__


def test_a_typed_dict_and_back() -> None:
    shape = shape_of(Order)
    assert isinstance(shape, Object)
    cards = shape.fields["cards"].shape
    assert isinstance(cards, MapOf)
    assert isinstance(cards.item, Object)
    assert cards.item.fields["kind"].shape == Choice(("gift", "credit"))
    assert not cards.item.fields["balance"].required
    assert not shape.fields["note"].certain
    assert shape_of(annotation(shape)) == shape


def test_the_annotation_reads_arguments() -> None:
    shape = Object("call", {"n": Field(INT), "note": Field(TEXT, required=False, nullable=True)})
    read = reader(annotation(shape))
    objections: list[str] = []
    assert read({"n": "3"}, "", objections) == {"n": 3}
    assert read({"n": 1, "note": None}, "", objections)["note"] is None
    assert objections == []
    read({}, "", objections)
    assert objections == ["n is missing"]


SCHEMA = {
    "title": "Order",
    "type": "object",
    "required": ["id", "lines", "state", "note"],
    "properties": {
        "id": {"type": "string"},
        "state": {"enum": ["open", "closed", None]},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "when": {"type": "string", "format": "date"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
        "by_id": {"type": "object", "additionalProperties": {"type": "number"}},
        "either": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        "self": {"$ref": "#"},
        "lost": {"$ref": "#/$defs/Nothing"},
    },
    "$defs": {"Line": {"type": "object", "properties": {"n": {"type": "integer"}}}},
}


def test_json_schema() -> None:
    shape = shape_of_schema(SCHEMA)
    assert isinstance(shape, Object)
    fields = shape.fields
    assert shape.name == "Order"
    assert fields["state"] == Field(Choice(("open", "closed")), required=True, nullable=True)
    assert fields["note"] == Field(TEXT, required=True, nullable=True)
    assert fields["when"].shape == SCALARS["date"]
    assert fields["by_id"].shape == MapOf(FLOAT)
    assert fields["either"].shape == fields["lost"].shape == ANY
    lines = fields["lines"].shape
    assert isinstance(lines, ListOf)
    assert isinstance(lines.item, Object)
    assert lines.item.fields["n"] == Field(INT, required=False)


@pytest.mark.parametrize("schema", [None, [], "x", {"type": "object"}, {"$ref": "http://x"}, True])
def test_schemas_that_tell_nothing(schema: Any) -> None:
    assert shape_of_schema(schema) in (ANY, MapOf(ANY))


def test_values_have_shapes() -> None:
    shape = shape_of_value({"a": 1, "b": [1.5, 2.5], "c": [1, "x"], "d": {"e": True}})
    assert isinstance(shape, Object)
    assert shape.fields["b"].shape == ListOf(FLOAT)
    assert shape.fields["c"].shape == ListOf(ANY)


def test_mismatches_name_the_place() -> None:
    shape = shape_of(Order)
    value = {
        "order_id": 3,
        "total": 5,
        "cards": {"c": {"kind": "paypal", "x": 1}},
        "tags": ["a", 1],
        "note": None,
        "extra": 1,
    }
    assert [where for where, _ in mismatches(value, shape)] == [
        "order_id",
        "cards{}.kind",
        "cards{}.x",
        "tags[]",
        "extra",
    ]


def test_what_cel_gets() -> None:
    convert = converter(shape_of(Order))
    assert convert is not None
    order = {"order_id": "1", "total": 3, "note": None, "cards": {"c": {"balance": 2}}, "tags": []}
    assert convert(order) == {
        "order_id": "1",
        "total": 3.0,
        "cards": {"c": {"balance": 2.0}},
        "tags": [],
    }
    assert isinstance(convert(order)["total"], float)
    assert convert("not an order") == "not an order"
    assert converter(ListOf(TEXT)) is None
