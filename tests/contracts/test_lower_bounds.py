"""Lower bounds of extras: the same in the package's metadata, in the code that asks, and on the page."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.contracts.imports import SOURCE

ROOT = SOURCE.parents[1]
_ASKED = re.compile(r'(?m)^require\("([\w-]+)", "([\d.]+)", "([\w-]+)"\)')
_ON_THE_PAGE = re.compile(r"(?m)^\| `([\w-]+)`[^|]*\| ([\d.]+) or newer \|")


def bounds() -> dict[str, str]:
    """The lower bound of each library that an extra names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needs = (need for name, extra in extras.items() if name != "dev" for need in extra)
    pairs = (re.match(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", need) for need in needs)
    return {pair[1]: pair[2] for pair in pairs if pair is not None}


def asked() -> list[tuple[str, str]]:
    """Each library that a module requires as it is imported, and from which version on."""
    texts = (file.read_text() for file in sorted(SOURCE.rglob("*.py")))
    return [(library, version) for text in texts for library, version, _ in _ASKED.findall(text)]


@pytest.mark.parametrize(("library", "version"), asked())
def test_what_a_module_requires_is_what_its_extra_installs(library: str, version: str) -> None:
    assert bounds()[library] == version


def test_the_page_has_the_bounds() -> None:
    rows = dict(_ON_THE_PAGE.findall((ROOT / "docs" / "reference" / "versions.md").read_text()))
    assert len(rows) > 8
    assert rows == {library: bounds()[library] for library in rows}
    assert {library for library, _ in asked()} <= rows.keys()
