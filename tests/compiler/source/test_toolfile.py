"""Tools files: OpenAI schemas, MCP results, OpenAPI documents, and everything that is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.compiler.shapes import SCALARS, TEXT, Object
from ledgeragent.compiler.source.toolfile import ToolSpec, read_tools
from ledgeragent.errors import DataError

pytest.importorskip("yaml")

PARAMETERS = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["order_id"],
}
FUNCTION = {"name": "get_order", "description": "Reads.", "parameters": PARAMETERS}
RETURNS = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}

OPENAPI = """
openapi: 3.1.0
paths:
  /orders/{order_id}:
    parameters:
      - {name: order_id, in: path, required: true, schema: {type: string}}
    get:
      operationId: get_order
      summary: Reads.
      responses:
        "200": {content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}}
    patch:
      requestBody: {$ref: "#/components/requestBodies/Change"}
components:
  requestBodies:
    Change:
      content:
        application/json:
          schema: {type: object, properties: {note: {type: string}}, required: [note]}
  schemas:
    Order: {type: object, required: [total], properties: {total: {type: number}}}
"""


def read(tmp_path: Path, content: Any, name: str = "tools.json") -> tuple[ToolSpec, ...]:
    file = tmp_path / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_tools(file)


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "function", "function": FUNCTION}],
        [FUNCTION],
        {"tools": [{"name": "get_order", "inputSchema": PARAMETERS, "description": "Reads."}]},
        {"jsonrpc": "2.0", "result": {"tools": [{"name": "get_order", "inputSchema": PARAMETERS}]}},
        [
            {
                "name": "get_order",
                "type": "read",
                "schema": {"type": "function", "function": FUNCTION},
            }
        ],
    ],
    ids=["openai", "bare", "mcp", "mcp-result", "with-effect"],
)
def test_each_form_gives_the_same_tool(tmp_path: Path, content: Any) -> None:
    (tool,) = read(tmp_path, content)
    assert tool.name == "get_order"
    assert tool.required == ("order_id",)
    arguments = tool.arguments
    assert isinstance(arguments, Object)
    assert arguments.fields["n"].shape == SCALARS["int"]


def test_returned_records_and_hints(tmp_path: Path) -> None:
    (tool,) = read(
        tmp_path,
        {
            "tools": [
                {
                    "name": "list_orders",
                    "inputSchema": {},
                    "outputSchema": {
                        "type": "object",
                        "properties": {"data": {"type": "array", "items": RETURNS}},
                    },
                    "annotations": {"readOnlyHint": True, "destructiveHint": False},
                }
            ]
        },
    )
    shape = tool.returned(("data",), each=True)
    assert isinstance(shape, Object)
    assert shape.fields["total"].shape == SCALARS["float"]
    assert (tool.read_only, tool.destructive) == (True, False)


def test_openapi(tmp_path: Path) -> None:
    get, patch = read(tmp_path, OPENAPI, "api.yaml")
    assert (get.name, get.method, get.required) == ("get_order", "get", ("order_id",))
    shape = get.returned()
    assert isinstance(shape, Object)
    assert shape.fields["total"].shape == SCALARS["float"]
    assert patch.name == "patch_orders_order_id"
    assert patch.required == ("order_id", "note")
    arguments = patch.arguments
    assert isinstance(arguments, Object)
    assert arguments.fields["note"].shape == TEXT


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "nested too deep"),
        ({"a": 1}, "is none of"),
        ([], "describes no tool"),
        ([{"name": 3}], "tool 1 has no name"),
        (["x"], "tool 1 has no name"),
        ([FUNCTION, FUNCTION], "get_order twice"),
        ({"paths": {"/x": {"get": {"parameters": 3}}}}, "no well-formed description"),
    ],
)
def test_what_is_no_tools_file(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, content)


# ── Documents as they are found ─────────────────────────────────────────────────────────────────


def schema_of(tmp_path: Path, schema: Any) -> Any:
    """The shape of the only argument's schema, and whether it always has a value."""
    properties = {"x": schema, "part": {"type": "object", "properties": {"p": {"type": "string"}}}}
    parameters = {"type": "object", "properties": properties, "required": ["x"]}
    (tool,) = read(tmp_path, [{"name": "get_x", "parameters": parameters}])
    shape = tool.arguments
    assert isinstance(shape, Object)
    return shape.fields["x"]


@pytest.mark.parametrize(
    "schema",
    [
        True,
        None,
        {"enum": [None]},
        {"enum": [1.5]},
        {"type": [3, "null"]},
        {"type": "object", "required": None, "additionalProperties": False, "properties": [1]},
        {"anyOf": "string"},
        {"allOf": [True, {"type": "string"}]},
        {"$ref": "#/nowhere"},
        {"$ref": "other.json#/a"},
        {"$ref": "#/properties/x"},
    ],
)
def test_what_a_schema_does_not_tell_is_any(tmp_path: Path, schema: Any) -> None:
    assert str(schema_of(tmp_path, schema).shape) in ("any", "dict[any]")


def test_a_record_inside_itself_ends_there(tmp_path: Path) -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/properties/x"}}}
    shape = schema_of(tmp_path, node).shape
    assert str(shape.fields["next"].shape.fields["next"].shape) == "any"


def test_several_parts_are_one_object(tmp_path: Path) -> None:
    parts = [{"$ref": "#/properties/part"}, {"properties": {"q": {"type": "integer"}}}]
    shape = schema_of(tmp_path, {"allOf": [*parts, {"required": ["q"]}]}).shape
    assert {name: (str(f.shape), f.required) for name, f in shape.fields.items()} == {
        "p": ("str", False),
        "q": ("int", True),
    }


def test_the_nullable_of_openapi_3_0(tmp_path: Path) -> None:
    assert not schema_of(tmp_path, {"type": "number", "nullable": True}).certain


def test_tools_that_the_provider_runs_are_no_tools_of_the_agent(tmp_path: Path) -> None:
    assert [t.name for t in read(tmp_path, [{"type": "web_search"}, FUNCTION])] == ["get_order"]


@pytest.mark.parametrize("media", ["application/json; charset=utf-8", "application/problem+json"])
def test_json_by_other_names(tmp_path: Path, media: str) -> None:
    get, _ = read(
        tmp_path,
        OPENAPI.replace("application/json: {schema: {$ref", f"'{media}': {{schema: {{$ref"),
        "api.yaml",
    )
    assert isinstance(get.returned(), Object)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"swagger": "2.0", "paths": {}}, "Swagger 2.0; convert it"),
        ([{"name": "x" * 300}], "a name of 300 characters"),
        ({"paths": {"/a": {"get": {"parameters": {"x": 1}}}}}, "no well-formed description"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, content)
