"""A checkout of tau-trait, read as data: its records as they are, its tasks out of their Python file.

Nothing of the checkout is run, and its tools are not read: their schemas are our own.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from ledgeragent.bench.datasets.needs import NEEDS
from ledgeragent.errors import DataError
from ledgeragent.files.limits import MEMORY
from ledgeragent.files.reading import read_bytes
from ledgeragent.types import Json

CHECKOUT = Path("tau_trait", "envs", "telehealth")
"""Where a checkout keeps the domain."""

_TASKS, _POLICY = "tasks_test.py", "wiki.md"


def converted(checkout: Path) -> dict[str, bytes]:
    """Every file that a run reads, by name; DataError where the checkout lacks one or it cannot be read."""
    folder = checkout / CHECKOUT
    changed = {
        "tasks.json": _as_json(read_tasks(folder / _TASKS)),
        "tools.json": own_tools(),
        "policy.md": _content(folder / _POLICY),
    }
    names = [name.partition("/")[2] for name in NEEDS["telehealth"].files]
    return {
        f"telehealth/{name}": changed[name] if name in changed else _content(folder / "data" / name)
        for name in names
    }


def own_tools() -> bytes:
    """The schemas of the tools, in our words."""
    return (files("ledgeragent.bench.telehealth") / "tools.json").read_bytes()


def _content(file: Path) -> bytes:
    return read_bytes(file, MEMORY)


def _as_json(value: Json) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"


def read_tasks(file: Path) -> list[Json]:
    """The tasks of a file of `Task(...)` literals, in order, without running it.

    DataError for a file that has none, or one that computes what it says.
    """
    try:
        tree = ast.parse(_content(file).decode("utf-8"), filename=str(file))
    except (SyntaxError, ValueError) as error:
        raise DataError(f"not Python: {error}", file=str(file)) from None
    tasks = [_task(call, number, file) for number, call in enumerate(_tasks(tree))]
    if not tasks:
        raise DataError("holds no Task(...)", file=str(file))
    return tasks


def _tasks(tree: ast.Module) -> Iterator[ast.Call]:
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(
            statement.value, ast.List
        ):
            yield from (row for row in statement.value.elts if _is_call(row, "Task"))  # type: ignore[misc]


def _is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == name


def _task(call: ast.Call, number: int, file: Path) -> Json:
    fields = _fields(call, file)
    actions = fields.pop("actions")
    if not isinstance(actions, ast.List):
        raise _unreadable(call, file)
    return {
        "id": str(number),
        "user_id": _literal(fields["user_id"], file),
        "instruction": _literal(fields["instruction"], file),
        "actions": [_action(action, file) for action in actions.elts],
        "outputs": _literal(fields["outputs"], file),
    }


def _action(node: ast.expr, file: Path) -> Json:
    if not isinstance(node, ast.Call) or not _is_call(node, "Action"):
        raise _unreadable(node, file)
    fields = _fields(node, file)
    return {name: _literal(fields[name], file) for name in ("name", "kwargs")}


def _fields(call: ast.Call, file: Path) -> dict[str, ast.expr]:
    fields = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    needed = (
        {"name", "kwargs"}
        if _is_call(call, "Action")
        else {"user_id", "instruction", "actions", "outputs"}
    )
    if call.args or not needed <= fields.keys():
        raise _unreadable(call, file)
    return fields


def _literal(node: ast.expr, file: Path) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        raise _unreadable(node, file) from None


def _unreadable(node: ast.AST, file: Path) -> DataError:
    problem = (
        "this is no literal, and data is never run; a checkout of the commit of the docs helps"
    )
    return DataError(problem, file=str(file), line=getattr(node, "lineno", None))
