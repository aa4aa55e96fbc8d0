"""What is understood of a file of recorded conversations: for whoever wants to know before a replay."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ledgeragent.errors import DataError
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.forms.registry import form_named
from ledgeragent.offline.intake import FileReading
from ledgeragent.offline.traces import read_traces

_OK, _SOME, _NONE = 0, 1, 2


@dataclass(slots=True, kw_only=True)
class Understanding:
    """What was understood of one file.

    `reading` counts what was read; `names` are tools that the pack has under another name, `unlisted`
    those that it does not list (both empty without a pack). `problems` are what could not be read,
    `tried` the forms that do not fit, each with why, where nothing was understood.
    """

    file: str
    reading: FileReading = field(default_factory=FileReading)
    names: dict[str, str] = field(default_factory=dict)
    unlisted: Counter[str] = field(default_factory=Counter)
    problems: list[DataError] = field(default_factory=list)
    tried: tuple[tuple[str, str], ...] = ()

    @property
    def exit_code(self) -> int:
        """0 if all is understood, 1 if some conversations are not, 2 if there is no call in it."""
        if not self.reading.calls:
            return _NONE
        return _SOME if self.problems else _OK


def understood(file: str, form: str | None, binding: Binding | None) -> Understanding:
    """What is understood of a file, by the pack of `binding` if there is one."""
    understanding = Understanding(file="<stdin>" if file == "-" else file)
    try:
        for trace in read_traces(file, form_named(form) if form is not None else None):
            if isinstance(trace, DataError):
                understanding.problems.append(trace)
                understanding.tried = understanding.tried or getattr(trace, "reasons", ())
                continue
            understanding.reading.count(trace)
            if binding is not None:
                named = binding.named(trace)
                tools = {tool.tool for tool in binding.domain().tools}
                for call, own in zip(trace.calls, named.calls, strict=True):
                    if call.name != own.name:
                        understanding.names[call.name] = own.name
                    understanding.unlisted[call.name] += own.name not in tools
    except DataError as problem:
        understanding.problems.append(problem)
    understanding.unlisted = +understanding.unlisted
    understanding.tried = understanding.tried or understanding.reading.unfit
    return understanding
