"""Python packs: fields that a record does not have, and comparisons with values a field never has."""

from __future__ import annotations

from types import FunctionType

from ledgeragent.check.answers import misanswers
from ledgeragent.check.python_source import read_rule
from ledgeragent.compiler.outline import Outline
from ledgeragent.compiler.problems import suggestion
from ledgeragent.compiler.shapes import Object, is_open, shape_of
from ledgeragent.effects import FieldTouch, Touches, Write


def check_python_rules(outline: Outline) -> None:
    """Adds what the source of the rules, of the helpers they call, and of the writes says wrong."""
    for tool in outline.domain.tools if outline.domain is not None else ():
        if isinstance(tool, Write):
            for touches in _listed(tool, outline):
                _touches(tool, touches, outline)
    broken = any(problem.code == "syntax" for problem in outline.findings)
    for predicate in outline.domain.predicates if outline.domain is not None else ():
        if not isinstance(predicate.check, FunctionType):
            continue
        for reading in read_rule(predicate.check):
            for code, place, text in reading.problems:
                outline.findings.add(code, place, text, predicate.id)
                outline.suspects.add(predicate.id)
        for code, place, text in misanswers(predicate.check):
            outline.findings.add(code, place, text, predicate.id)
            outline.suspects.add(predicate.id)
    if broken:  # no sample can be judged in it
        outline.domain = None


def _listed(tool: Write, outline: Outline) -> tuple[Touches, ...]:
    """What a write touches; () and a finding where that is one function instead of a tuple."""
    if not callable(tool.touches):
        return tuple(tool.touches)
    part = next(part for part in outline.writes if part.tool == tool.tool)
    text = f"touches of {tool.tool} should be a tuple; write (..., ) around the function"
    outline.findings.add("syntax", part.place, text)
    return ()


def _touches(tool: Write, touches: Touches, outline: Outline) -> None:
    """Adds what `touch(TEMPLATE, "field")` names and neither record nor arguments have."""
    if not isinstance(touches, FieldTouch):
        return  # code of the pack's own: only running it would tell
    part = next(part for part in outline.writes if part.tool == tool.tool)
    for prefix in touches.fields:
        shape = shape_of(touches.template.record)
        for name in prefix:
            if not isinstance(shape, Object) or is_open(shape):
                break
            if name not in shape.fields:
                text = f"{shape} has no field {name!r}{suggestion(name, shape.fields)}"
                outline.findings.add("unknown-field", part.place, text)
                break
            shape = shape.fields[name].shape
    arguments = part.arguments
    if not isinstance(arguments, Object) or is_open(arguments):
        return
    for name in touches.template.keys:
        if name not in arguments.fields:
            text = f"{arguments} has no argument {name!r}{suggestion(name, arguments.fields)}"
            outline.findings.add("unknown-field", part.place, text)
