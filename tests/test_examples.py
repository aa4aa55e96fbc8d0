"""Every example runs, and shows what it is there to show; the pages on frameworks quote them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("0*.py"))
NEEDS = {
    "02_openai_chat": "openai",
    "03_anthropic": "anthropic",
    "04_langchain": "langchain",
    "05_openai_agents": "agents",
    "06_pydantic_ai": "pydantic_ai",
    "07_mcp_proxy": "mcp",
    "08_openai_streamed": "openai",
    "09_anthropic_streamed": "anthropic",
}
"""The library of each example; all but the first also take `httpx2` for the scripted model."""

_QUOTED = re.compile(r"^```py\n(.*?)^```", re.DOTALL | re.MULTILINE)

VERDICTS = ["REVISE cancel", "ALLOW  find", "ALLOW  get_order", "BLOCK  cancel"]


def run(example: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-m", f"examples.{example.stem}"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.stem)
def test_example(example: Path) -> None:
    library = NEEDS.get(example.stem)
    if library is not None and (find_spec(library) is None or find_spec("httpx2") is None):
        pytest.skip(f"{library} is not installed")
    output = run(example)
    if example.stem == "07_mcp_proxy":
        assert [line.split()[0] for line in output.splitlines()[:5]] == [
            "REJECT",
            "ALLOW",
            "ALLOW",
            "REJECT",
            "ALLOW",
        ]
        assert "orders.G-1007" in output
        return
    lines = output.splitlines()
    assert [line[: len(v)] for line, v in zip(lines, VERDICTS, strict=False)] == VERDICTS
    assert lines[-1] == "I'm sorry: G-1007 is packed already, so I can't cancel it."


def test_the_pages_on_frameworks_quote_the_examples() -> None:
    pages = sorted((ROOT / "docs" / "how-to" / "frameworks").glob("*.md"))
    sources = [example.read_text(encoding="utf-8") for example in EXAMPLES]
    quoted = [page.name for page in pages if page.name not in ("index.md", "tried.md")]
    assert len(quoted) == len({*NEEDS.values()} - {"mcp"})
    for page in pages:
        blocks = _QUOTED.findall(page.read_text(encoding="utf-8"))
        assert bool(blocks) == (page.name in quoted), page.name
        for block in blocks:
            assert any(block in source for source in sources), block
