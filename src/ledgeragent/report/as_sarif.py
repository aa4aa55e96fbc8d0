"""SARIF 2.1.0: findings as code hosts and editors show them beside the line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import ledgeragent
from ledgeragent.packs.finding import CODES, Finding, Severity
from ledgeragent.report.findings import shown_file
from ledgeragent.types import Json

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning"}


def findings_sarif(findings: Sequence[Finding]) -> str:
    """One SARIF run: every code as a rule of the tool, every finding as a result."""
    used = sorted({finding.code for finding in findings})
    driver = {
        "name": "ledgeragent",
        "version": ledgeragent.__version__,
        "rules": [_rule(code) for code in used],
    }
    run = {"tool": {"driver": driver}, "results": [_result(f, used) for f in findings]}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> Json:
    severity, text = CODES[code]
    return {
        "id": code,
        "shortDescription": {"text": text},
        "defaultConfiguration": {"level": _LEVELS[severity]},
    }


def _result(finding: Finding, used: Sequence[str]) -> Json:
    location = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(finding.place.file)},
            "region": {"startLine": finding.place.line},
        }
    }
    return {
        "ruleId": finding.code,
        "ruleIndex": used.index(finding.code),
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [location],
    }


def _uri(file: str) -> str:
    shown = Path(shown_file(file))
    return shown.resolve().as_uri() if shown.is_absolute() else quote(shown.as_posix())
