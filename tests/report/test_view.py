"""The page: complete in itself, and whatever a run holds stays data in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.cli.main import main
from tests.report import hostile


class Tags(HTMLParser):
    """Every tag of a page, its attributes, and the text of each script."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": []}
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._inside = tag
        if tag in self.texts:
            self.texts[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in self.texts:
            self.texts[self._inside][-1] += data


@pytest.fixture
def page(tmp_path: Path) -> str:
    source, target = tmp_path / "run.json", tmp_path / "run.html"
    source.write_text(json.dumps(hostile.run(3)))
    assert main(["view", str(source), "-o", str(target)]) == 0
    return target.read_text()


def _tags(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    return tags


def _data(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_tags(page).texts["script"][0])
    return found


def test_nothing_of_a_run_becomes_a_tag(page: str) -> None:
    tags = _tags(page)
    assert [tag for tag, _ in tags.found].count("script") == 2
    assert "img" not in {tag for tag, _ in tags.found}
    assert not any(name.startswith("on") for _, given in tags.found for name in given)


def test_what_a_run_holds_is_in_the_data_unchanged(page: str) -> None:
    run = _data(page)["runs"][0]
    assert run["run"] == run["task"] == hostile.TEXT
    assert run["steps"][0]["text"] == f"turn 0 {hostile.TEXT}"
    assert "12345678901234567891" in run["steps"][3]["changes"][0]["value"]


def test_only_the_page_s_own_style_and_script_are_allowed(page: str) -> None:
    tags = _tags(page)
    policy = next(a["content"] for t, a in tags.found if t == "meta" and "http-equiv" in a) or ""
    for kind, text in (("style", tags.texts["style"][0]), ("script", tags.texts["script"][1])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy and "unsafe" not in policy


def test_the_page_asks_for_nothing_from_elsewhere(page: str) -> None:
    assert not any(name in ("src", "href", "action") for _, a in _tags(page).found for name in a)
    shown = page.replace(page[page.index('id="data"') : page.index("</script>")], "")
    assert not re.search(r"https?://|url\(|@import|fetch\(|XMLHttpRequest|innerHTML", shown)


def test_half_a_character_does_no_harm(tmp_path: Path) -> None:
    source, target = tmp_path / "run.json", tmp_path / "run.html"
    messages = '[{"role": "user", "content": "cut \\ud800"}]'
    source.write_text(f'{{"domain": "shop", "messages": {messages}}}')
    assert main(["view", str(source), "-o", str(target)]) == 0
    assert _data(target.read_text())["runs"][0]["steps"][0]["text"] == "cut \ud800"
