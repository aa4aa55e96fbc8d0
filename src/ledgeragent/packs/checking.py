"""`check` by name: everything that is wrong with a pack, in YAML or Python, with file and line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ledgeragent.check import findings_of
from ledgeragent.check.python_outline import outline_of
from ledgeragent.compiler.givens import ParameterText
from ledgeragent.compiler.outline import Outline
from ledgeragent.compiler.problems import Problem
from ledgeragent.packs.catalogue import is_data, module_of, version_of, versions


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
        listed = versions(name)
        domain = version_of(name, listed, version)
        outline = outline_of(module_of(name), domain, tuple(listed.values()))
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
