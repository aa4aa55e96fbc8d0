"""Static analysis of a pack, in YAML or Python: what is wrong with it, with file and line.

What each code means, and which are errors, stands in `compiler/problems.py`; how each is found, in the
module named after it here.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ledgeragent.check.comparisons import check_comparisons
from ledgeragent.check.coverage import check_coverage
from ledgeragent.check.lists import check_lists
from ledgeragent.check.literals import check_literals
from ledgeragent.check.liveness import check_liveness
from ledgeragent.check.pairs import check_pairs
from ledgeragent.check.python_outline import outline_of
from ledgeragent.check.python_rules import check_python_rules
from ledgeragent.check.tools import check_tools
from ledgeragent.compiler.givens import ParameterText
from ledgeragent.compiler.outline import Outline
from ledgeragent.compiler.problems import Problem
from ledgeragent.compiler.source.toolfile import read_tools
from ledgeragent.packs import is_data


def check(
    name: str,
    *,
    version: str | None = None,
    tools: Path | None = None,
    parameters: tuple[ParameterText, ...] = (),
) -> list[Problem]:
    """Everything wrong with a pack, by place. `name` is a pack, a YAML file or `module:ATTRIBUTE`.

    `tools` is a file that describes the agent's tools; against it routes, arguments and returned
    fields are checked too. Rules are tried with these `parameters`. Raises UsageError or DataError where
    there is nothing to check.
    """
    if is_data(name):
        from ledgeragent.compiler.loader import read_outline

        outline = read_outline(name)
    else:
        outline = outline_of(name, version)
    return _checked(outline, tools, parameters)


def checked_text(
    text: str,
    tools: Path | None = None,
    parameters: tuple[ParameterText, ...] = (),
) -> list[Problem]:
    """Everything wrong with a YAML pack that is given as text; its places are in the file `-`."""
    from ledgeragent.compiler.loader import read_outline

    with TemporaryDirectory() as folder:
        file = Path(folder) / "-"
        file.write_text(text, encoding="utf-8")
        problems = _checked(read_outline(file), tools, parameters)
    return [_within(problem, str(file)) for problem in problems]


def _within(problem: Problem, file: str) -> Problem:
    """The problem, with the name of that file as it was given."""
    place = problem.place._replace(file="-") if problem.place.file == file else problem.place
    return replace(problem, place=place, message=problem.message.replace(file, "-"))


def _checked(
    outline: Outline, tools: Path | None, parameters: tuple[ParameterText, ...]
) -> list[Problem]:
    if parameters:
        from ledgeragent.compiler.parameters import with_texts

        outline.domain = outline.domain and with_texts(outline.domain, parameters)
        outline.trial = outline.trial and with_texts(outline.trial, parameters)
    return findings_of(outline, tools)


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
