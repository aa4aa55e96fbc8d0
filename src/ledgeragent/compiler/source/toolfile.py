"""Reads a file that describes tools: OpenAI tool schemas, an MCP `tools/list` result, or OpenAPI."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath

from ledgeragent.compiler.shapes import ANY, ListOf, MapOf, Object, Shape
from ledgeragent.compiler.source.jsonschema import resolved, shape_of_schema
from ledgeragent.compiler.source.textfile import read_text
from ledgeragent.compiler.source.yamlfile import parse_yaml
from ledgeragent.errors import DataError
from ledgeragent.files.limits import TABLE
from ledgeragent.types import Json

_LONGEST_NAME = 200
_METHODS = ("get", "head", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One tool as its file describes it.

    `parameters` and `returns` are JSON schemas (None: not told) whose references point into `root`.
    `read_only` and `destructive` are hints of an MCP server, `method` the HTTP method of OpenAPI.
    """

    name: str
    description: str = ""
    parameters: Json = None
    returns: Json = None
    root: Json = None
    read_only: bool | None = None
    destructive: bool | None = None
    method: str = ""

    @property
    def arguments(self) -> Shape:
        """The shape of the arguments."""
        shape = shape_of_schema(self.parameters, self.name, self._root_of(self.parameters))
        return Object(self.name, shape.fields) if isinstance(shape, Object) else Object(self.name)

    @property
    def argument_names(self) -> tuple[str, ...]:
        """The arguments that the schema names."""
        shape = self.arguments
        return tuple(shape.fields) if isinstance(shape, Object) else ()

    @property
    def open(self) -> bool:
        """True where the schema names no arguments, or lets a call carry further ones."""
        schema = resolved(self.parameters, self._root_of(self.parameters))
        if not isinstance(schema, dict) or not schema.get("properties"):
            return True
        return schema.get("additionalProperties", False) is not False

    @property
    def required(self) -> tuple[str, ...]:
        """The arguments that a call must have."""
        shape = self.arguments
        assert isinstance(shape, Object)
        return tuple(name for name, member in shape.fields.items() if member.required)

    def returned(self, inside: tuple[str, ...] = (), each: bool = False) -> Shape:
        """The shape of a returned record, `any` where the file does not tell.

        `inside` leads to it through fields of the return; with `each` it is an item of what is there.
        """
        name = self.name.rpartition("get_")[2] or self.name
        shape = shape_of_schema(self.returns, name, self._root_of(self.returns))
        for field in inside:
            member = shape.fields.get(field) if isinstance(shape, Object) else None
            shape = member.shape if member is not None else ANY
        if each:
            return shape.item if isinstance(shape, ListOf | MapOf) else ANY
        return shape

    def _root_of(self, schema: Json) -> Json:
        return schema if self.root is None else self.root


def read_tools(path: FilePath) -> tuple[ToolSpec, ...]:
    """Every tool that a file describes; raises DataError where it is none of the known forms."""
    try:
        tools = tuple(_tools(_content(path), str(path)))
    except (AttributeError, KeyError, TypeError) as problem:
        text = f"is no well-formed description of tools ({type(problem).__name__}: {problem})"
        raise DataError(text, file=str(path)) from None
    names = [tool.name for tool in tools]
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"describes the tool {name} twice", file=str(path))
    if not tools:
        raise DataError("describes no tool", file=str(path))
    return tools


def _content(path: FilePath) -> Json:
    text = read_text(path, TABLE)
    if path.suffix in (".yaml", ".yml"):
        return parse_yaml(text, str(path), most_nodes=2_000_000).plain
    try:
        return json.loads(text)
    except RecursionError:
        raise DataError("nested too deep", file=str(path)) from None
    except json.JSONDecodeError as problem:
        raise DataError(f"not JSON: {problem.msg}", file=str(path), line=problem.lineno) from None
    except ValueError as problem:
        raise DataError(f"not JSON: {problem}", file=str(path)) from None


def _tools(content: Json, file: str) -> Iterator[ToolSpec]:
    if isinstance(content, Mapping) and "swagger" in content:
        raise DataError("is Swagger 2.0; convert it to OpenAPI 3 first", file=file)
    if isinstance(content, Mapping) and isinstance(content.get("paths"), Mapping):
        yield from _operations(content)
        return
    if isinstance(content, Mapping) and isinstance(content.get("result"), Mapping):
        content = content["result"]
    items = content.get("tools") if isinstance(content, Mapping) else content
    if not isinstance(items, list):
        raise DataError(
            "is none of: a list of OpenAI tool schemas, an MCP tools/list result, an OpenAPI document",
            file=file,
        )
    for number, item in enumerate(items, 1):
        if not _is_hosted(item):
            yield _tool(item, number, file)


def _is_hosted(item: Json) -> bool:
    """True for a tool such as web_search that the provider runs, so that no call of it is judged."""
    kind = item.get("type", "function") if isinstance(item, Mapping) else "function"
    return kind != "function" and "name" not in item and "function" not in item


def _tool(item: Json, number: int, file: str) -> ToolSpec:
    schema = item.get("schema", item) if isinstance(item, Mapping) else {}
    function = schema.get("function", schema) if isinstance(schema, Mapping) else {}
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str) or not name:
        raise DataError(f"tool {number} has no name", file=file)
    if len(name) > _LONGEST_NAME:
        raise DataError(f"tool {number} has a name of {len(name)} characters", file=file)
    hints = function.get("annotations") or {}
    return ToolSpec(
        name=name,
        description=str(function.get("description") or ""),
        parameters=function.get(
            "parameters", function.get("inputSchema", function.get("input_schema"))
        ),
        returns=_returns(function.get("outputSchema", item.get("returns_schema"))),
        read_only=hints.get("readOnlyHint") if isinstance(hints, Mapping) else None,
        destructive=hints.get("destructiveHint") if isinstance(hints, Mapping) else None,
    )


def _returns(schema: Json) -> Json:
    """The schema of what is returned, out of a wrapper object with the single field `returns`."""
    if not isinstance(schema, Mapping):
        return None
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and set(properties) == {"returns"}:
        return {"$defs": schema.get("$defs", {}), **properties["returns"]}
    return schema


def _operations(document: Mapping[str, Json]) -> Iterator[ToolSpec]:
    for path, methods in document["paths"].items():
        item = resolved(methods, document)
        for method in _METHODS:
            operation = item.get(method) if isinstance(item, Mapping) else None
            if isinstance(operation, Mapping):
                yield _operation(operation, method, path, item.get("parameters", ()), document)


def _operation(
    operation: Mapping[str, Json], method: str, path: str, shared: Json, root: Json
) -> ToolSpec:
    slug = re.sub(r"\W+", "_", f"{method} {path}").strip("_")
    return ToolSpec(
        name=str(operation.get("operationId") or slug),
        description=str(operation.get("summary") or operation.get("description") or ""),
        parameters=_arguments(operation, shared, root),
        returns=_answer(operation, root),
        root=root,
        method=method,
    )


def _arguments(operation: Mapping[str, Json], shared: Json, root: Json) -> Json:
    """One object schema of the path, query and body parameters."""
    properties: dict[str, Json] = {}
    required: list[str] = []
    for raw in [*shared, *operation.get("parameters", ())]:
        parameter = resolved(raw, root)
        if parameter.get("in") in ("path", "query"):
            if not isinstance(parameter["name"], str):
                raise TypeError("the name of a parameter is no text")
            properties[parameter["name"]] = parameter.get("schema", {})
            if parameter.get("required"):
                required.append(parameter["name"])
    body = resolved(_json_schema(resolved(operation.get("requestBody", {}), root)), root)
    if isinstance(body, Mapping):
        properties |= body["properties"] if isinstance(body.get("properties"), Mapping) else {}
        required += body["required"] if isinstance(body.get("required"), list) else []
    return {"type": "object", "properties": properties, "required": required}


def _answer(operation: Mapping[str, Json], root: Json) -> Json:
    responses = operation.get("responses", {})
    for status in ("200", 200, "201", "2XX", "default"):
        if status in responses:
            return _json_schema(resolved(responses[status], root))
    return None


def _json_schema(content: Json) -> Json:
    media = content.get("content", {}) if isinstance(content, Mapping) else {}
    for kind, body in media.items() if isinstance(media, Mapping) else ():
        plain = str(kind).partition(";")[0].strip().lower()
        if plain == "application/json" or plain.endswith("+json"):
            return body.get("schema") if isinstance(body, Mapping) else None
    return None
