"""Parameters of a domain, with other values than its own: by name, of the type that they have there."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from ledgeragent.compiler.cel.surroundings import moment
from ledgeragent.compiler.conditions import RouteCondition
from ledgeragent.compiler.givens import ParameterText
from ledgeragent.compiler.problems import nearest
from ledgeragent.compiler.shapes import Scalar, mismatches, shape_of_value
from ledgeragent.domain import Domain
from ledgeragent.effects import Read, Route, Tool, Write
from ledgeragent.errors import UsageError
from ledgeragent.types import Json

R = TypeVar("R", bound=Route[Any])

NOW = "now"
"""The parameter that every domain has whose rules ask for the time."""


def with_texts(domain: Domain, texts: Iterable[ParameterText]) -> Domain:
    """The domain with these values; of two for one name the last. Raises UsageError as below."""
    return with_parameters(domain, {text.name: _value(text, domain) for text in texts})


def with_parameters(domain: Domain, values: Mapping[str, Json]) -> Domain:
    """The domain with these values of its parameters.

    `now` is the time for its rules, in its own zone where the text names none. Raises UsageError for a
    name that it does not have, and for a value of another type than its own.
    """
    if not values:
        return domain
    checked = {name: _checked(name, value, domain) for name, value in values.items()}
    parameters = {**domain.parameters, **checked}
    tools = tuple(_rebound(tool, parameters) for tool in domain.tools)
    return replace(domain, parameters=parameters, tools=tools)


def _value(written: ParameterText, domain: Domain) -> Json:
    own = domain.parameters.get(written.name)
    if not written.exact and (written.name not in domain.parameters or isinstance(own, str)):
        return written.text
    try:
        return json.loads(written.text, parse_constant=str, parse_float=_number)
    except (ValueError, RecursionError):
        return written.text  # of another type than it should be, which is told where it is compared


def _number(digits: str) -> Json:
    """The number; the digits of one that is too large, since nothing can be compared with Infinity."""
    return number if math.isfinite(number := float(digits)) else digits


def _checked(name: str, value: Json, domain: Domain) -> Json:
    if name == NOW and (domain.timed or name in domain.parameters):
        return _time(value, domain)
    if name not in domain.parameters:
        raise UsageError(f"{domain.name} has no parameter {name}{_listed(name, domain)}")
    shape = shape_of_value(domain.parameters[name], name)
    for where, problem in mismatches(value, shape):
        place = f"{name}.{where}" if where else name
        raise UsageError(f"the parameter {place} of {domain.name} {problem}")
    if _is_too_large(value):
        raise UsageError(
            f"the parameter {name} of {domain.name} holds a number of more than 64 bits"
        )
    return float(value) if shape == Scalar("float") and isinstance(value, int) else value


def _is_too_large(value: Json) -> bool:
    """True for a whole number that CEL does not have, or a value with one in it."""
    if isinstance(value, dict):
        return any(map(_is_too_large, value.values()))
    if isinstance(value, list):
        return any(map(_is_too_large, value))
    return isinstance(value, int) and value.bit_length() > 63


def _listed(name: str, domain: Domain) -> str:
    names = sorted({*domain.parameters, *([NOW] if domain.timed else [])})
    near = nearest(name, names)
    meant = f"; did you mean {near}?" if near is not None else ""
    return f"{meant}; it has {', '.join(names)}" if names else f"{meant}; it has none"


def _time(value: Json, domain: Domain) -> str:
    try:
        time = moment(value, ZoneInfo(domain.timezone))
    except (TypeError, ValueError):
        text = f"should be a time such as 2025-03-01T10:00:00Z, is {value!r:.40}"
        raise UsageError(f"the parameter now of {domain.name} {text}") from None
    # What a pack in Python says without a zone, it reads without one.
    return time.isoformat() if domain.timed else str(value)


def _rebound(tool: Tool, parameters: Mapping[str, Json]) -> Tool:
    """The tool, with the conditions of its routes over these parameters."""
    if isinstance(tool, Read):
        return _with_condition(tool, parameters)
    if isinstance(tool, Write) and tool.returns:
        returns = tuple(
            _with_condition(part, parameters) if isinstance(part, Route) else part
            for part in tool.returns
        )
        return replace(tool, returns=returns)
    return tool


def _with_condition(route: R, parameters: Mapping[str, Json]) -> R:
    if not isinstance(route.when, RouteCondition):
        return route
    return replace(route, when=replace(route.when, parameters=parameters))
