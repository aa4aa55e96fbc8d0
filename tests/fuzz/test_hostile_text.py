"""One hostile string in every field of every input, and what comes out of every writer."""

from __future__ import annotations

import copy
import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ledgeragent.cli.main import main
from tests.fuzz.corpus import FILE, PAGE, RESULTS, Command, readers
from tests.fuzz.mutation import _places

pytest.importorskip("yaml")

HOSTILE = "=1+1|\x1b]0;owned\x07\x9b31m\r\n\n| a | b |\n</script><img src=x>\u202e\x00\ud800"
_ESCAPES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\ud800-\udfff]")


def with_hostile_text(content: bytes) -> Iterator[bytes]:
    """The lines of JSON with the string in one place each: one of every name of a field."""
    lines = content.splitlines()
    value = json.loads(lines[0])
    seen: set[object] = set()
    for number, (holder, key) in enumerate(_places(value)):
        name = key if isinstance(key, str) else type(holder[key])
        if isinstance(holder[key], dict | list) or name in seen:
            continue
        seen.add(name)
        changed = copy.deepcopy(value)
        other, same = [*_places(changed)][number]
        other[same] = HOSTILE
        yield b"\n".join([json.dumps(changed).encode(), *lines[1:]]) + b"\n"


def with_hostile_yaml(content: bytes) -> Iterator[bytes]:
    """The pack with the string in the place of one scalar each: one of every name of a field."""
    text = content.decode()
    seen: set[str] = set()
    for match in re.finditer(r"(?m)(\b[a-z_]+): ([^\[{&*|>\n][^\n,}\]]*)", text):
        if match[1] not in seen:
            seen.add(match[1])
            yield (text[: match.start(2)] + json.dumps(HOSTILE) + text[match.end(2) :]).encode()


def with_hostile_toml(content: bytes) -> Iterator[bytes]:
    """The parameters with the string as one value each."""
    text = content.decode()
    for match in re.finditer(r"(?m)^\w+ = (.*)$", text):
        yield (text[: match.start(1)] + json.dumps(HOSTILE) + text[match.end(1) :]).encode()


TEXTS = [r.name for r in readers() if r.name not in ("database", "configuration")]
WAYS = {
    "pack": with_hostile_yaml,
    "parameters.yaml": with_hostile_yaml,
    "parameters.toml": with_hostile_toml,
}
"""How the string is put into what is no JSON."""


def inputs() -> Iterator[tuple[str, str, bytes, tuple[Command, ...]]]:
    for reader in readers():
        if reader.name not in TEXTS:
            continue
        changed = WAYS.get(reader.name, with_hostile_text)
        for number, content in enumerate(changed(reader.seeds[0])):
            # Each command in turn, so that every field comes to every writer of its kind.
            turn = number % len(reader.commands)
            commands = (*reader.commands[turn:], *reader.commands[:turn])[:4]
            yield reader.name, reader.suffix, content, commands


@pytest.mark.parametrize(
    "reader", [r.name for r in readers() if r.name not in ("database", "configuration")]
)
def test_nothing_hostile_gets_through(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    reader: str,
) -> None:
    count = 0
    for _, suffix, content, commands in (each for each in inputs() if each[0] == reader):
        file, page = tmp_path / f"f{suffix}", tmp_path / "page.html"
        file.write_bytes(content)
        for command in commands:
            words = [word.replace(FILE, str(file)).replace(PAGE, str(page)) for word in command]
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"[]")))
            code = main(words)
            out, err = capsys.readouterr()
            count += 1
            assert code in (0, 1, 2) and _ESCAPES.search(out + err) is None, words
            look_at(out, command, code)
            if page.exists():
                written = page.read_bytes()  # a page, or a table that shows its cells to no browser
                assert written[:4] == b"PAR1" or b"<img src=x>" not in written or reader == "tools"
                page.unlink()
    assert count > 5


def look_at(out: str, command: Command, code: int) -> None:
    """Fails where an output is not of its form."""
    if code == 2 or not out.strip():
        return
    match command[-1]:
        case "json" | "sarif":
            json.loads(out)
        case "junit":
            ElementTree.fromstring(out)
        case "markdown":
            assert "<img" not in out and _columns_agree(out)
        case "csv":
            for row in csv.reader(io.StringIO(out)):
                assert not any(re.match(r"[=@]|[+-](?![\d.])", cell) for cell in row)
        case _:
            pass


def _columns_agree(out: str) -> bool:
    tables = re.findall(r"(?:^\|.*\n?)+", out, re.MULTILINE)
    return all(
        len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in table.splitlines()}) == 1
        for table in tables
    )


@pytest.mark.parametrize("field", ["implementation", "llm", "domain_name"])
def test_a_report_in_files(tmp_path: Path, field: str) -> None:
    """Names that stand in tables and figures: agent, model and domain."""
    value: Any = copy.deepcopy(RESULTS)
    for holder, key in _places(value):
        if key == field:
            holder[key] = HOSTILE
    file, folder = tmp_path / "r.json", tmp_path / "report"
    file.write_bytes(json.dumps(value).encode())
    assert main(["bench", "report", str(file), "-o", str(folder)]) in (0, 2)
    made = {file.name: file for file in folder.glob("*")} if folder.exists() else {}
    for name, page in made.items():
        if page.suffix in (".pdf", ".png"):
            continue  # text in them is drawn
        text = page.read_text()
        assert _ESCAPES.search(text) is None, name
        match page.suffix:
            case ".svg":
                ElementTree.fromstring(text)
            case ".md":
                look_at(text, ("markdown",), 0)
            case ".csv":
                look_at(text, ("csv",), 0)
