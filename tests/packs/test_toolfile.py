"""Tools files: OpenAI schemas, MCP results, OpenAPI documents, and everything that is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.errors import DataError
from ledgeragent.packs.schema import SCALARS, TEXT, Object
from ledgeragent.packs.toolfile import ToolSpec, read_tools

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
