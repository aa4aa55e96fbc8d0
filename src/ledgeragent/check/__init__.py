"""Static analysis of a pack, in YAML or Python: what is wrong with it, with file and line.

What each code means, and which are errors, stands in `compiler/problems.py`; how each is found, in the
module named after it here.
"""

from __future__ import annotations

from pathlib import Path

from ledgeragent.check.comparisons import check_comparisons
from ledgeragent.check.coverage import check_coverage
from ledgeragent.check.lists import check_lists
from ledgeragent.check.literals import check_literals
from ledgeragent.check.liveness import check_liveness
from ledgeragent.check.pairs import check_pairs
from ledgeragent.check.python_rules import check_python_rules
from ledgeragent.check.tools import check_tools
from ledgeragent.compiler.outline import Outline
from ledgeragent.compiler.problems import Problem
from ledgeragent.compiler.source.toolfile import read_tools


def findings_of(outline: Outline, tools: Path | None = None) -> list[Problem]:
    """Everything wrong with a pack that was read already."""
    check_coverage(outline)
    check_comparisons(outline)
    check_literals(outline)
    check_python_rules(outline)
    specs = read_tools(tools) if tools is not None else ()
    if specs and (outline.domain or outline.trial) is not None:
        check_tools(outline, specs)
    check_lists(outline, specs)
    check_pairs(outline)
    check_liveness(outline)
    return sorted(outline.findings)
