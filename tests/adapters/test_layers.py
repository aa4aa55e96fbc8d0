"""One third-party library per adapter, and none that imports another."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "ledgeragent"
LIBRARIES = {
    "common.py": set(),
    "execution.py": set(),
    "openai_chat.py": {"openai"},
    "anthropic.py": {"anthropic"},
    "langchain": {"langchain", "langchain_core", "langgraph"},
    "openai_agents": {"agents", "openai"},  # the SDK's own types are in part its client's
    "pydantic_ai.py": {"pydantic_ai"},
}
SHARED = {"ledgeragent.adapters.common", "ledgeragent.adapters.execution"}
PROXY = {"mcp", "mcp_types", "anyio", "starlette"}


def imports(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def third_parties(file: Path) -> set[str]:
    roots = {name.split(".")[0] for name in imports(file)}
    return roots - set(sys.stdlib_module_names) - {"ledgeragent"}


@pytest.mark.parametrize("name", LIBRARIES)
def test_an_adapter_has_one_library_and_knows_no_other_adapter(name: str) -> None:
    place = SOURCE / "adapters" / name
    package = f"ledgeragent.adapters.{name}."
    for file in sorted(place.glob("*.py")) if place.is_dir() else [place]:
        assert third_parties(file) <= LIBRARIES[name]
        own = {i for i in imports(file) if i.startswith("ledgeragent.adapters")}
        assert {i for i in own if not i.startswith(package)} <= SHARED


@pytest.mark.parametrize("file", sorted((SOURCE / "mcp").glob("*.py")), ids=lambda f: f.name)
def test_the_proxy_uses_the_protocols_library_and_nothing_of_the_tools(file: Path) -> None:
    assert third_parties(file) <= PROXY
    assert not {
        i for i in imports(file) if i.startswith(("ledgeragent.cli", "ledgeragent.gateway"))
    }
