"""Docs can't lie: their Python runs, their generated parts are up to date, their links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import ledgeragent
from tools import console, front, site

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    ROOT / "CHANGELOG.md",
    *sorted(DOCS.rglob("*.md")),
]
README_LINES = 200

_PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_blocks_run_in_order(page: Path, tmp_path: Path) -> None:
    program = "\n".join(_PYTHON.findall(page.read_text(encoding="utf-8")))
    if program:
        subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the site and code hosts make them."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in _HEADING.findall(text)
    }


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target, anchor in _LINK.findall(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        file = page.parent / target if target else page
        assert file.exists(), f"{name_of(page)} links to {target}"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{name_of(page)} links to {target}#{anchor}"


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    assert listed == {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}


def test_generated_parts_are_up_to_date() -> None:
    command = [sys.executable, "-m", "tools.generate", "--check"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr + "run: make docs"


def test_the_readme_fits_a_few_screens() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= README_LINES


def test_the_version_is_the_same_everywhere() -> None:
    version = ledgeragent.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"version {version}" in (DOCS / "reference" / "versions.md").read_text(encoding="utf-8")


def test_a_console_session_is_played_in_its_folder() -> None:
    file = '```python title="a.py"\nprint("new")\n```\n'
    assert console.played(f"{file}\n```console\n$ python a.py\nold\n```\n") == (
        f"{file}\n```console\n$ python a.py\nnew\n```\n"
    )


@pytest.mark.parametrize(
    ("written", "shown", "hosted"),
    [
        ("[gate](../../src/gate.py)", "gate", "[gate](https://x.org/r/blob/HEAD/src/gate.py)"),
        ("[packs](../reference/packs.md#types)", *["[packs](../reference/packs.md#types)"] * 2),
        ("[cel](https://cel.dev)", *["[cel](https://cel.dev)"] * 2),
    ],
)
def test_on_the_site_a_link_leads_to_a_page_or_the_repository(
    written: str, shown: str, hosted: str
) -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="how-to/mcp.md"))
    assert site.on_page_markdown(written, page=page, config={}) == shown
    repository = {"repo_url": "https://x.org/r/"}
    assert site.on_page_markdown(written, page=page, config=repository) == hosted


def test_the_first_page_is_the_readme() -> None:
    text = front.readme()
    assert "](docs/" not in text
    assert "](tutorials/first-agent.md)" in text and "](../CONTRIBUTING.md)" in text
