"""What `check` found, as text (one line a finding, as compilers write them) and as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from ledgeragent.packs.finding import Finding, Severity
from ledgeragent.paths import visible


def findings_text(pack: str, findings: Sequence[Finding]) -> str:
    """One line per finding, and how many there are."""
    lines = [
        f"{shown_file(f.place.file)}:{f.place.line}: {f.severity.value}: {f.message} [{f.code}]"
        for f in findings
    ]
    return "\n".join(map(_printable, [*lines, f"{pack}: {summary(findings)}"])) + "\n"


def _printable(line: str) -> str:
    """The line for a terminal, to which < and > do nothing and rules are full of them."""
    return visible(line).replace("\\u003c", "<").replace("\\u003e", ">")


def findings_json(pack: str, findings: Sequence[Finding]) -> str:
    """One JSON object with every finding."""
    value = {
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
    return json.dumps(value, indent=2) + "\n"


def count(findings: Sequence[Finding], severity: Severity) -> int:
    """How many findings are this bad."""
    return sum(finding.severity is severity for finding in findings)


def summary(findings: Sequence[Finding]) -> str:
    """`2 errors, 1 warning`, or `nothing found`."""
    counts = [(count(findings, severity), severity.value) for severity in Severity]
    told = [f"{number} {word}{'s' if number > 1 else ''}" for number, word in counts if number]
    return ", ".join(told) or "nothing found"


def shown_file(file: str) -> str:
    """The file as seen from here, where it is below."""
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative
