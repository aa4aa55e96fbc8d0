"""Blocks about files that nobody vouches for: the limits of reading, and what fuzzing came to."""

from __future__ import annotations

from ledgeragent.files.limits import LIMITS
from tools.markdown import made_by, result, table

_FILE = "fuzz.json"
_CODES = ("0", "1", "2")


def file_limits() -> str:
    """Every limit of reading: what it is of, how much that is, and the variable that raises it."""
    rows = [(limit.noun, f"{limit.most:,} {limit.unit}", f"`{limit.name}`") for limit in LIMITS]
    return table(("of what", "at most", "raised by"), rows)


def fuzz() -> str:
    """How many files of each kind were read, and with which exit code the command ended."""
    report = result(_FILE)
    rows = [
        (name, sum(codes.values()), *(codes[code] for code in _CODES))
        for name, codes in sorted(report["exit_codes"].items())
    ]
    rows.append(("all", report["inputs"], *(sum(row[n] for row in rows) for n in (2, 3, 4))))
    head = ("files", "read", "nothing found (0)", "something found (1)", "unusable (2)")
    faults = f"\nFaults: {report['faults']}.\n"
    command = f"python -m tests.fuzz.run --inputs {report['inputs']} --seed {report['seed']}"
    return table(head, rows) + faults + made_by(_FILE, f"{command} --write")
