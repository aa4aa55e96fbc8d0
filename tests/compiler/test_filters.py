"""A filtered or paged read is not the whole list: `check` warns, `init` marks, `when` tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.check import findings_of
from ledgeragent.compiler.filters import filters
from ledgeragent.compiler.loader import load_pack, read_outline
from ledgeragent.compiler.source.toolfile import ToolSpec, read_tools
from ledgeragent.compiler.starter import starter

pytest.importorskip("cel_expr_python")

TEXT = {"type": "string"}
PACK = """\
schema: ledgeragent/v1
domain: desk
parameters: {open: open}
records: {Fine: {fine_id: str, amount: float}, Page: {fines: "list[Fine]", next: str?}}
reads:
  list_fines: {ROUTE}
"""


def warned(tmp_path: Path, route: str, *arguments: str) -> list[str]:
    """What is said of a route of a tool with these arguments."""
    file, tools = tmp_path / "pack.yaml", tmp_path / "tools.json"
    file.write_text(PACK.replace("ROUTE", route))
    properties = dict.fromkeys(("owner_id", *arguments), TEXT)
    schema = {"type": "object", "properties": properties, "required": ["owner_id"]}
    tools.write_text(json.dumps([{"name": "list_fines", "parameters": schema}]))
    found = findings_of(read_outline(file), tools)
    assert {f.code for f in found} <= {"partial-list"}
    return [f.message for f in found]


@pytest.mark.parametrize(
    "name",
    ["from_date", "limit", "cursor", "page", "pageToken", "offset", "status", "since", "per-page"],
)
def test_a_list_that_an_argument_narrows_is_warned_of(tmp_path: Path, name: str) -> None:
    (text,) = warned(tmp_path, "to: 'fine_lists.{owner_id}', record: 'list[Fine]'", name)
    assert name in text and "when:" in text


@pytest.mark.parametrize(
    ("route", "arguments"),
    [
        ("to: 'fine_lists.{owner_id}', record: 'list[Fine]'", ["verbose", "status_id"]),
        ("to: 'fine_lists.{owner_id}.{status}', record: 'list[Fine]'", ["status"]),
        ("to: 'fine_lists.{owner_id}.{state}', record: 'list[Fine]', rename: {state: status}", ["status"]),
        ("to: 'fine_lists.{owner_id}', record: 'list[Fine]', when: '!has(args.limit)'", ["limit"]),
        ("to: 'fines.{fine_id}', record: Fine, each: ., parameters: [owner_id]", ["limit"]),
        ("to: 'owners.{owner_id}', record: Fine", ["limit"]),
        ("to: 'pages.{owner_id}', record: Page", ["status"]),
    ],
)  # fmt: skip
def test_a_list_that_is_whole_or_says_what_it_is_is_not(
    tmp_path: Path, route: str, arguments: list[str]
) -> None:
    assert warned(tmp_path, route, *arguments) == []


def test_a_page_in_a_wrapper_is_warned_of(tmp_path: Path) -> None:
    assert warned(tmp_path, "to: 'pages.{owner_id}', record: Page", "cursor")


def test_the_packs_own_tools_file_is_enough(tmp_path: Path) -> None:
    warned(tmp_path, "to: 'fine_lists.{owner_id}', record: 'list[Fine]'", "limit")
    file = tmp_path / "pack.yaml"
    file.write_text(f"tools: tools.json\n{file.read_text()}")
    assert [f.code for f in findings_of(read_outline(file))] == ["partial-list"]


@pytest.mark.parametrize(
    ("when", "arguments", "applies"),
    [
        ("'!has(args.status) || args.status == params.open'", {}, True),
        ("'!has(args.status) || args.status == params.open'", {"status": "open"}, True),
        ("'!has(args.status) || args.status == params.open'", {"status": "paid"}, False),
        ("'args.status == params.open'", {}, False),
    ],
)
def test_a_condition_speaks_of_arguments_and_parameters(
    tmp_path: Path, when: str, arguments: dict[str, Any], applies: bool
) -> None:
    file = tmp_path / "pack.yaml"
    route = f"to: 'fine_lists.{{owner_id}}', record: 'list[Fine]', when: {when}"
    file.write_text(PACK.replace("ROUTE", route))
    (read,) = load_pack(file).routes("list_fines")
    assert read.when({"owner_id": "O1", **arguments}) is applies


def _listing(*arguments: str, required: tuple[str, ...] = ("owner_id",)) -> ToolSpec:
    fine = {"type": "object", "properties": {"fine_id": TEXT}}
    return ToolSpec(
        name="list_fines",
        parameters={
            "type": "object",
            "properties": dict.fromkeys(("owner_id", *arguments), TEXT),
            "required": list(required),
        },
        returns={"type": "array", "items": fine},
    )


def test_a_starter_marks_what_narrows_a_list(tmp_path: Path) -> None:
    text = starter("desk", [_listing("from_date", "limit", "verbose")])
    assert "with from_date, limit this answers a part of the list" in text
    assert 'when: "!has(args.from_date) && !has(args.limit)"' in text
    assert "part of the list" not in starter("desk", [_listing("verbose")])
    file = tmp_path / "desk.yaml"
    file.write_text(text)
    load_pack(file)


def test_a_starter_keeps_a_page_only_where_it_is_whole(tmp_path: Path) -> None:
    fine = {"type": "object", "properties": {"fine_id": TEXT}}
    page = {"fines": {"type": "array", "items": fine}, "next": TEXT}
    tool = {
        "name": "list_fines",
        "inputSchema": {"type": "object", "properties": {"owner_id": TEXT, "cursor": TEXT}},
        "outputSchema": {"type": "object", "properties": page},
    }
    tools, file = tmp_path / "tools.json", tmp_path / "desk.yaml"
    tools.write_text(json.dumps({"tools": [tool]}))
    file.write_text(starter("desk", read_tools(tools)))
    assert 'when: "!has(args.cursor)"  # review' in file.read_text()
    assert "partial-list" not in {f.code for f in findings_of(read_outline(file), tools)}


def test_names_of_ids_narrow_nothing() -> None:
    assert filters(["status_id", "date_ids", "toId", "orderId", "total", "format"]) == ()
    assert filters(["status", "limit"], paging_only=True) == ("limit",)
