"""Files are opened by the room for it: no module reads or writes one past its limits and modes.

What a package brings itself, and drafts in a folder of our own, is listed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "ledgeragent"
OPENING = {"read_text", "read_bytes", "write_text", "write_bytes", "mkstemp", "NamedTemporaryFile"}
OF_THE_PACKAGE = "files("
"""How a resource of a package is named, which only who installed it can change."""

LISTED = {
    "bench/running/rowfile.py": "appends to what open_private opened",
    "bench/tau2/logs.py": "appends to what open_private opened",
    "bench/tau2/run.py": "writes to what open_private opened",
    "packs/checking.py": "a pack of standard input, in a temporary folder",
    "cli/init.py": "a draft that is linked to its place, never over a file",
    "cli/streams.py": "the null device",
    "engines/cluster.py": "the null device",
    "journal/stores.py": "looks before at what kind of file it is",
    "mcp/stdio.py": "standard output",
    "mining/folder.py": "drafts in a folder of its own, which takes its place at once",
    "mining/recording.py": "a copy of standard input, for its owner alone",
    "mining/rules/proof.py": "drafts in a temporary folder",
    "offline/forms/agentssdk.py": "a copy in a temporary folder",
    "offline/packed.py": "a copy in a temporary folder",
    "packs/clauses.py": "a resource of the pack's package",
    "offline/verdicttable.py": "a draft of `replacing`",
}


def openings(tree: ast.Module, source: list[str]) -> Iterator[int]:
    """The lines that open a file by themselves."""
    own = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ledgeragent")
        for alias in node.names
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or OF_THE_PACKAGE in source[node.lineno - 1]:
            continue
        match node.func:
            case ast.Name(id="open"):
                yield node.lineno
            case ast.Name(id=name) if name in OPENING - own:
                yield node.lineno
            case ast.Attribute(attr=name) if name in OPENING:
                yield node.lineno
            case ast.Attribute(value=ast.Name(id="os"), attr="open" | "fdopen"):
                yield node.lineno
            case ast.Attribute(value=ast.Name(id="gzip" | "io" | "sqlite3"), attr="open"):
                yield node.lineno
            case ast.Attribute(attr="open") if _has_mode(node):
                yield node.lineno


def _has_mode(call: ast.Call) -> bool:
    """True for `file.open("rb")` and the like, which stores and journals do not have."""
    words = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
    return any(isinstance(word, str) and set(word) <= set("rwabtx+") for word in words) or any(
        keyword.arg == "encoding" for keyword in call.keywords
    )


def test_files_are_opened_by_the_room_for_it() -> None:
    found: dict[str, list[int]] = {}
    for file in sorted(SOURCE.rglob("*.py")):
        place = file.relative_to(SOURCE).as_posix()
        if place.startswith("files/"):
            continue
        text = file.read_text(encoding="utf-8")
        if lines := [*openings(ast.parse(text), text.splitlines())]:
            found[place] = lines
    assert {place: lines for place, lines in found.items() if place not in LISTED} == {}
    assert sorted(LISTED) == sorted(found), "what is listed still opens a file"


def test_the_look_for_them_sees_each_kind() -> None:
    kinds = (
        "open(f)",
        "file.read_bytes()",
        "os.open(f, 0)",
        'file.open("rb")',
        'file.open(encoding="utf-8")',
        "tempfile.mkstemp()",
        "Path(f).write_text(t)",
    )
    for kind in kinds:
        assert [*openings(ast.parse(kind), [kind])] == [1], kind
    allowed = "from ledgeragent.files.reading import read_text\nread_text(f)\nstore.open()"
    assert [*openings(ast.parse(allowed), allowed.splitlines())] == []
