"""Starter packs: guesses on the safe side, and a file that loads as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.check import findings_of
from ledgeragent.compiler.guesses import guess
from ledgeragent.compiler.loader import load_pack, read_outline
from ledgeragent.compiler.source.toolfile import ToolSpec, read_tools
from ledgeragent.compiler.starter import starter
from ledgeragent.effects import Read
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger
from ledgeragent.types import ToolCall

pytest.importorskip("cel_expr_python")

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("get_order", "read"),
        ("getOrder", "read"),
        ("list-all", "read"),
        ("find_customer_by_email", "read"),
        ("search", "read"),
        ("get_or_create_user", "write"),
        ("find_and_replace", "write"),
        ("cancel_order", "write"),
        ("orders", "write"),
        ("checkout", "write"),
        ("get", "read"),
        ("think", "neutral"),
        ("calculate", "neutral"),
        ("transfer_to_human_agents", "neutral"),
        ("transfer_funds", "write"),
        ("_", "write"),
    ],
)
def test_guesses_by_name(name: str, kind: str) -> None:
    assert guess(ToolSpec(name=name))[0] == kind


@pytest.mark.parametrize(
    ("hints", "kind"),
    [
        ({"read_only": True}, "read"),
        ({"read_only": False}, "write"),
        ({"destructive": True}, "write"),
        ({"destructive": True, "read_only": True}, "write"),
        ({"destructive": False}, "read"),
        ({"method": "get"}, "read"),
        ({"method": "post"}, "write"),
    ],
)
def test_a_hint_tightens_the_guess_for_a_reading_name(hints: Any, kind: str) -> None:
    assert guess(ToolSpec(name="get_order", **hints))[0] == kind


@pytest.mark.parametrize(
    "hints", [{"read_only": True}, {"destructive": False, "read_only": True}, {"method": "get"}]
)
def test_no_hint_loosens_a_guess(hints: Any) -> None:
    for name in ("cancel_order", "orders", "get_or_create"):
        kind, why = guess(ToolSpec(name=name, **hints))
        assert kind == "write"
        assert "move it to reads" in why


TOOLS = {
    "tools": [
        {
            "name": "get_permit",
            "description": "Reads a #permit:\n yes. Second sentence.",
            "inputSchema": {
                "type": "object",
                "properties": {"permit_id": {"type": "string"}},
                "required": ["permit_id"],
            },
            "outputSchema": {
                "type": "object",
                "required": ["permit_id", "state", "null"],
                "properties": {
                    "permit_id": {"type": "string"},
                    "state": {"enum": ["on", "off", "a: b", None]},
                    "null": {"type": "string"},
                    "x: y": {"type": "array", "items": {"type": "object"}},
                    "owner": {
                        "type": "object",
                        "title": "Owner",
                        "properties": {"n": {"type": "integer"}},
                    },
                },
            },
        },
        {
            "name": "find_permit",
            "inputSchema": {},
            "outputSchema": {"properties": {"permit_id": {}}},
        },
        {
            "name": "list_fines",
            "inputSchema": {"properties": {"plate": {"type": "string"}}, "required": ["plate"]},
            "outputSchema": {
                "type": "array",
                "items": {"properties": {"fine_id": {"type": "integer"}}},
            },
        },
        {"name": "odd name!", "inputSchema": {"properties": {"a-b": {"type": "string"}}}},
        {"name": "list_a-b", "inputSchema": {"properties": {"a-b": {}}, "required": ["a-b"]}},
        {"name": "no", "inputSchema": {"type": "object"}},
        {"name": "think"},
    ]
}


def test_a_starter_loads_and_check_finds_only_what_is_left_to_do(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOLS))
    file = tmp_path / "pack.yaml"
    file.write_text(starter("parking", read_tools(tools)))
    domain = load_pack(file)
    assert {tool.tool for tool in domain.tools} == {tool["name"] for tool in TOOLS["tools"]}
    findings = findings_of(read_outline(file), tools)
    assert {finding.code for finding in findings} == {"write-without-rule"}
    text = file.read_text()
    assert "    to: permits.{permit_id}  # review\n    record: Permit\n" in text
    assert "    to: find_permit.{permit_id}  # review\n" in text
    assert '    state?: ["on", "off", "a: b"]\n' in text
    assert "    to: fines.{fine_id}  # review\n    record: Fine\n    each: .  # review\n" in text


def test_every_guess_is_marked(tmp_path: Path) -> None:
    text = starter("shop", read_tools(ROOT / "examples" / "parking" / "tools.json"))
    for line in text.splitlines():
        if line.startswith(("    to:", "    touches:")):
            assert "# review" in line
    tools = [line for line in text.splitlines() if line.startswith("  ") and line[2] != " "]
    guessed = [line for line in tools if line.partition(":")[0].strip() in text_of_tools()]
    assert len(guessed) == 9
    assert all("# review" in line for line in guessed)


def text_of_tools() -> set[str]:
    return {tool.name for tool in read_tools(ROOT / "examples" / "parking" / "tools.json")}


def test_a_list_in_a_wrapper_is_kept_record_by_record_and_in_a_family_of_its_own(
    tmp_path: Path,
) -> None:
    text, number = {"type": "string"}, {"type": "integer"}
    course = {"type": "object", "properties": {"course_id": text, "places": number, "fee": number}}
    brief = {"type": "object", "properties": {"course_id": text, "places": number}}
    listed = {"type": "object", "properties": {"courses": {"type": "array", "items": brief}}}
    asked = {"type": "object", "properties": {"course_id": text}, "required": ["course_id"]}
    tools = [
        ToolSpec(name="search_courses", parameters={}, returns=listed),
        ToolSpec(name="get_course", parameters=asked, returns=course),
    ]
    file = tmp_path / "swim.yaml"
    file.write_text(starter("swim", tools))
    reads = {read.tool: read for read in read_outline(file).reads}
    assert reads["get_course"].to.text == "courses.{course_id}"
    assert reads["search_courses"].to.text == "search_courses.{course_id}"
    assert (reads["search_courses"].inside, reads["search_courses"].each) == (("courses",), True)


@pytest.mark.parametrize(
    ("schema", "taken"),
    [
        (None, True),
        ({"type": "object"}, True),
        ({"type": "object", "properties": {"id": {"type": "string"}}}, False),
        ({"properties": {"id": {"type": "string"}}, "additionalProperties": False}, False),
        ({"properties": {"id": {"type": "string"}}, "additionalProperties": True}, True),
        ({"properties": {"id": {"type": "string"}}, "additionalProperties": {}}, True),
        ({"properties": {"id": {"type": "string"}}, "required": ["id", "more"]}, True),
    ],
)
def test_a_pack_refuses_only_arguments_that_the_schema_rules_out(
    tmp_path: Path, schema: Any, taken: bool
) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps({"tools": [{"name": "set_it", "inputSchema": schema}]}))
    file = tmp_path / "pack.yaml"
    file.write_text(starter("odd", read_tools(tools)))
    gate = Gate(domain=load_pack(file))
    call = ToolCall(name="set_it", arguments={"id": "1", "more": 2})
    assert gate.judge(call, Ledger()).allowed == taken


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties]}


def test_elements_are_kept_by_what_tells_them_apart_and_never_all_on_one_path(
    tmp_path: Path,
) -> None:
    text = {"type": "string"}
    flight = schema(flight_number=text, seats={"type": "integer"})
    asked = schema(origin=text, date=text)
    tool = {"name": "search_flights", "inputSchema": asked}
    search = {**tool, "outputSchema": {"type": "array", "items": flight}}
    (tmp_path / "tools.json").write_text(json.dumps([search]))
    file = tmp_path / "pack.yaml"
    file.write_text(starter("air", read_tools(tmp_path / "tools.json")))
    assert "to: flights.{flight_number}.{date}" in file.read_text()
    assert findings_of(read_outline(file)) == []
    file.write_text(file.read_text().replace("{flight_number}.{date}", "{origin}.{date}"))
    (finding,) = findings_of(read_outline(file))
    assert finding.code == "one-path"
    assert (
        "no key of flights.{origin}.{date} (origin, date) is a field of Flight" in finding.message
    )


def test_one_schema_is_one_record_and_an_argument_with_another_name_is_renamed(
    tmp_path: Path,
) -> None:
    pet = schema(id={"type": "integer"}, name={"type": "string"})
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}
    key = {"name": "petId", "in": "path", "required": True, "schema": {"type": "integer"}}
    other = {**key, "name": "number"}
    document = {
        "openapi": "3.1.0",
        "components": {"schemas": {"Pet": pet}},
        "paths": {
            "/pets/{petId}": {
                "get": {"operationId": "getPet", "parameters": [key], "responses": {"200": body}}
            },
            "/tags/{number}": {
                "get": {
                    "operationId": "findPetByTag",
                    "parameters": [other],
                    "responses": {"200": body},
                }
            },
        },
    }
    (tmp_path / "api.json").write_text(json.dumps(document))
    file = tmp_path / "pack.yaml"
    file.write_text(starter("pets", read_tools(tmp_path / "api.json")))
    assert file.read_text().count("record: Pet\n") == 2
    assert "Pet2" not in file.read_text()
    (read, _) = load_pack(file).tools
    assert isinstance(read, Read)
    call = read.call_for(read.to("7"))
    assert call is not None and call.arguments == {"petId": "7"}
