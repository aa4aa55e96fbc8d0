"""Every form that is read, the most particular first, and which of them a value has."""

from __future__ import annotations

from ledgeragent.errors import DataError, UsageError
from ledgeragent.offline.forms import (
    agentdojo,
    agentssdk,
    claudecode,
    inspectai,
    langfuse,
    langsmith,
    mcp,
    openailog,
    responses,
    spans,
)
from ledgeragent.offline.forms.form import Form
from ledgeragent.offline.forms.within import MESSAGE_FORMS
from ledgeragent.types import Json

FORMS: tuple[Form, ...] = (
    agentssdk.FORM,
    claudecode.FORM,
    mcp.FORM,
    langsmith.FORM,
    langfuse.FORM,
    responses.GYM,
    agentdojo.FORM,
    inspectai.FORM,
    *MESSAGE_FORMS[:-1],
    spans.FORM,
    openailog.FORM,
    MESSAGE_FORMS[-1],
)


class NoFormError(DataError):
    """A record that has no form that is read; `reasons` are the forms, each with why it does not fit."""

    def __init__(
        self, problem: str, file: str, line: int | None, reasons: tuple[tuple[str, str], ...]
    ) -> None:
        self.reasons = reasons
        super().__init__(problem, file=file, line=line)


def form_named(name: str) -> Form:
    """The form with this name; raises UsageError where there is none."""
    for form in FORMS:
        if form.name == name:
            return form
    raise UsageError(f"there is no form {name}; give one of {', '.join(f.name for f in FORMS)}")


def form_of(value: Json) -> Form | None:
    """The first form that a value fits; None where it fits none."""
    return next((form for form in FORMS if form.unfit(value) is None), None)


def stream_of(values: list[Json]) -> Form | None:
    """The form of JSON Lines whose lines are parts of one record; None where each is its own."""
    if not values or not isinstance(values[0], dict):
        return None
    first = values[:_FIRST]
    return next((form for form in FORMS if form.streams and form.unfit(first) is None), None)


_FIRST = 50
"""In how many lines a mark of a form has to be found."""


def reasons(value: Json) -> tuple[tuple[str, str], ...]:
    """Each form that a value does not fit, with why."""
    return tuple((form.name, why) for form in FORMS if (why := form.unfit(value)) is not None)
