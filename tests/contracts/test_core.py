"""What the structure promises: layers import downward, the core needs nothing but Python."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "ledgeragent"

CORE = (
    "errors",
    "types",
    "text",
    "paths",
    "persistent",
    "shape",
    "arguments",
    "entry",
    "ledger",
    "returned",
    "effects",
    "verdict",
    "missing",
    "view",
    "predicates",
    "domain",
    "absorb",
    "lookback",
    "plan",
    "findings",
    "rejections",
    "render",
    "gate",
    "opencalls",
    "state",
    "agent",
)
"""The core, lowest first: a module may import those before it."""

RIM = ("adapters", "gateway", "mcp")
NO_SIDE_EFFECTS = {"os", "io", "time", "random", "logging", "asyncio", "datetime", "pathlib", "sys"}
BENEATH = ("text", "persistent", "shape", "arguments", "returned", "opencalls", "state")
"""What the paper's mechanism stands on: safe text, collections with cheap updates, declared shapes,
lenient arguments, unwrapped answers, the calls that wait for one, the reducer."""

CORE_LINES = 2_660
MECHANISM_LINES = 1_910
"""Raised for what grows in proportion, and for the time (decisions 0025 and 0026), then by five lines for
writes in doubt, any of which may be the one that was done."""


def imports_of(file: Path) -> set[str]:
    """Every module that a file imports, at any depth of nesting."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            found.add(node.module or "")
    return found


def code_lines(file: Path) -> int:
    """Lines that hold code: no blank lines, comments or docstrings."""
    text = file.read_text()
    quiet: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            quiet.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(1 for n, line in lines if n not in quiet and line.strip() and line.strip()[0] != "#")


@pytest.mark.parametrize("module", CORE)
def test_core_imports_only_the_standard_library_and_has_no_side_effects(module: str) -> None:
    roots = {name.split(".")[0] for name in imports_of(SOURCE / f"{module}.py")} - {"ledgeragent"}
    assert roots <= sys.stdlib_module_names
    assert not roots & NO_SIDE_EFFECTS


def test_the_documents_name_the_core_in_its_order() -> None:
    text = (SOURCE.parents[1] / "docs" / "explanation" / "architecture.md").read_text()
    assert f"`{' '.join(CORE)}`" in text


def files_of(*packages: str) -> list[Path]:
    return sorted(file for package in packages for file in (SOURCE / package).rglob("*.py"))


def place(file: Path) -> str:
    return str(file.relative_to(SOURCE))


@pytest.mark.parametrize("file", files_of(*RIM), ids=place)
def test_the_parts_of_the_rim_share_only_what_is_common_to_adapters(file: Path) -> None:
    own, *inner, _ = file.relative_to(SOURCE).parts
    others = {f"ledgeragent.{part}" for part in RIM if part != own or own == "adapters"}
    shared = {f"ledgeragent.adapters.{name}" for name in ("common", "execution", "method")}
    imported = {n for n in imports_of(file) if n.startswith(tuple(others))}
    if inner:  # an adapter of several files
        folder = ".".join(("ledgeragent", own, *inner))
        imported = {n for n in imported if not n.startswith(f"{folder}.")}
    assert imported <= shared


def test_the_core_is_small() -> None:
    lines = {module: code_lines(SOURCE / f"{module}.py") for module in CORE}
    assert sum(lines.values()) <= CORE_LINES
    assert sum(lines[module] for module in CORE if module not in BENEATH) <= MECHANISM_LINES


def test_algorithm_1_is_one_short_file() -> None:
    assert code_lines(SOURCE / "agent.py") <= 60


def test_the_core_imports_with_third_parties_blocked() -> None:
    program = (
        "import sys\n"
        "class Block:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        root = name.split('.')[0]\n"
        "        if root not in sys.stdlib_module_names and root != 'ledgeragent':\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Block())\n"
        f"sys.path.insert(0, {str(SOURCE.parent)!r})\n"
        "import ledgeragent\n"
        "for name in ('airline', 'retail', 'telecom', 'telehealth', 'shop'):\n"
        "    assert ledgeragent.load_domain(name).predicates\n"
    )
    subprocess.run([sys.executable, "-S", "-c", program], check=True)
