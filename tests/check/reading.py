"""What the tests of `check` share: findings by line and by code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledgeragent.check import findings_of
from ledgeragent.compiler.problems import Problem
from tests.compiler.yaml_pack import outline_of as yaml_outline
from tests.compiler.yaml_pack import text_of

pytest.importorskip("cel_expr_python")


ROOT = Path(__file__).parents[2]
PLANTED = ROOT / "tests" / "planted"


def seen(findings: list[Problem]) -> list[tuple[int, str]]:
    return sorted((finding.place.line, finding.code) for finding in findings)


def codes(findings: list[Problem]) -> list[str]:
    return [finding.code for finding in findings]


def tool(name: str, properties: Any, returns: Any = None) -> Any:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "inputSchema": schema, **({"outputSchema": returns} if returns else {})}


NUMBER = {"type": "number"}


def told(tmp_path: Path, parts: list[str], more: str = "") -> list[tuple[str, int, str]]:
    """(code, line from that of the first part, message) of what is wrong with the parts, joined."""
    requires = "{loan: 'loans.{loan_id}', member: 'members.{loan.member_id}'}"
    text = text_of(" &&\n      ".join(f"({part})" for part in parts), requires=requires, more=more)
    found = findings_of(yaml_outline(tmp_path, text))
    return [(f.code, f.place.line - 31, f.message) for f in found if f.code not in LEFT_OUT]


LEFT_OUT = ("missing-samples", "write-without-rule", "unproven")
