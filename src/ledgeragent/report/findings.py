"""The findings of `check`: text (one line a finding), JSON, and SARIF for code hosts and editors."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import ledgeragent
from ledgeragent.compiler.problems import CODES, Problem, Severity
from ledgeragent.report.parts import dump
from ledgeragent.text import visible
from ledgeragent.types import Json

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_SARIF_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning"}


class PackFindings(NamedTuple):
    """The findings of one pack, under the name that it was given by."""

    pack: str
    findings: tuple[Problem, ...]


def findings_text(pack: str, findings: Sequence[Problem]) -> str:
    """One line per finding, and how many there are."""
    lines = [
        f"{shown_file(f.place.file)}:{f.place.line}: {f.severity.value}: {f.message} [{f.code}]"
        for f in findings
    ]
    return "\n".join(map(_printable, [*lines, f"{pack}: {summary(findings)}"])) + "\n"


def _printable(line: str) -> str:
    """The line for a terminal, to which < and > do nothing and rules are full of them."""
    return visible(line).replace("\\u003c", "<").replace("\\u003e", ">")


def findings_json(reports: Sequence[PackFindings]) -> str:
    """One JSON object with every finding; of several packs, a list of such objects."""
    values = [_report(*report) for report in reports]
    return dump(values[0] if len(values) == 1 else values)


def _report(pack: str, findings: Sequence[Problem]) -> Json:
    return {
        "pack": pack,
        "errors": count(findings, Severity.ERROR),
        "warnings": count(findings, Severity.WARNING),
        "findings": [
            {
                "code": finding.code,
                "severity": finding.severity.value,
                "file": shown_file(finding.place.file),
                "line": finding.place.line,
                "rule": finding.rule or None,
                "message": finding.message,
            }
            for finding in findings
        ],
    }


def count(findings: Sequence[Problem], severity: Severity) -> int:
    """How many findings are this bad."""
    return sum(finding.severity is severity for finding in findings)


def summary(findings: Sequence[Problem]) -> str:
    """`2 errors, 1 warning`, or `nothing found`."""
    counts = [(count(findings, severity), severity.value) for severity in Severity]
    parts = [f"{number} {word}{'s' if number > 1 else ''}" for number, word in counts if number]
    return ", ".join(parts) or "nothing found"


def shown_file(file: str) -> str:
    """The file as seen from here, where it is below."""
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative


def findings_sarif(findings: Sequence[Problem]) -> str:
    """One SARIF run: every code as a rule of the tool, every finding as a result."""
    used = sorted({finding.code for finding in findings})
    driver = {
        "name": "ledgeragent",
        "version": ledgeragent.__version__,
        "rules": [_sarif_rule(code) for code in used],
    }
    run = {"tool": {"driver": driver}, "results": [_sarif_result(f, used) for f in findings]}
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _sarif_rule(code: str) -> Json:
    severity, text = CODES[code]
    return {
        "id": code,
        "shortDescription": {"text": text},
        "defaultConfiguration": {"level": _SARIF_LEVELS[severity]},
    }


def _sarif_result(finding: Problem, used: Sequence[str]) -> Json:
    location = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(finding.place.file)},
            "region": {"startLine": finding.place.line},
        }
    }
    return {
        "ruleId": finding.code,
        "ruleIndex": used.index(finding.code),
        "level": _SARIF_LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [location],
    }


def _uri(file: str) -> str:
    path = Path(shown_file(file))
    return path.resolve().as_uri() if path.is_absolute() else quote(path.as_posix())
