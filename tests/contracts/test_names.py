"""One thing, one name: public classes that share one, and bindings named by what happened to them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.contracts.imports import SOURCE, modules, place, tree_of

SHARED = {
    "Shape": "what a type declares, in the core; what a pack says of one, in the compiler",
    "Wire": "an object of a vendor's API: every adapter has its own, and none imports another",
}
"""Names that stand twice, each with its reason. This list only shrinks."""

# fmt: off
PARTICIPLES = frozenset((
    "found", "told", "known", "given", "said", "made", "taken", "kept", "wanted", "held", "shown",
    "judged", "called", "answered", "stored", "read", "done", "sent", "asked",
))
# fmt: on
CEILING = 7
"""How many bindings are named by a bare participle at most. This number only shrinks."""

SLACK = 30


def public_types(tree: ast.Module) -> Iterator[str]:
    """Names of the classes and type aliases that a module defines for others."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
            name = ast.unparse(node.target)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):
            name = ast.unparse(node.targets[0])
        else:
            continue
        if name.isidentifier() and name[0].isupper() and not name.isupper():
            yield name


def bound_names(tree: ast.Module) -> Iterator[str]:
    """Every name that a module binds: variables, parameters, patterns, exceptions."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name


def test_public_names_stand_once() -> None:
    places: dict[str, list[str]] = {}
    for file in modules().values():
        records = file.name == "records.py" and {"packs", "pack"} & {*file.parts}
        for name in () if records else public_types(tree_of(file)):
            places.setdefault(name, []).append(place(file))
    twice = {name: files for name, files in places.items() if len(files) > 1}
    assert {name: files for name, files in twice.items() if name not in SHARED} == {}
    assert SHARED.keys() <= twice.keys(), "a name that stands once is no exception any more"


def test_bindings_are_named_by_what_they_are() -> None:
    count = sum(
        name in PARTICIPLES for file in SOURCE.rglob("*.py") for name in bound_names(tree_of(file))
    )
    assert count <= CEILING, f"{count} bindings are named by a bare participle"
    assert count > CEILING - SLACK, f"only {count} are left: lower the ceiling"


FINDING = ({"predicate", "reason"}, {"kind", "reason"})
"""Keys that tell a finding written out as data."""


def test_findings_are_written_as_data_in_one_room() -> None:
    writers = {
        place(file)
        for file in modules().values()
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Dict)
        and any(keys <= {getattr(key, "value", None) for key in node.keys} for keys in FINDING)
    }
    typed = {
        place(file)
        for file in modules().values()
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "").endswith("Row")
        and {"predicate", "reason"} <= {keyword.arg for keyword in node.keywords}
    }
    assert writers | typed == {"journal/verdicts.py"}
