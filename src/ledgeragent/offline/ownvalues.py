"""Own values: what a recorded run says of the parameters of the pack that judged it, as a journal does."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from ledgeragent.compiler.givens import ParameterText
from ledgeragent.domain import Domain
from ledgeragent.errors import UsageError
from ledgeragent.journal.secrecy import REDACTED
from ledgeragent.types import Json, canonical


class OwnValues(NamedTuple):
    """The `values` of a run that can be used, and the names of those that are `lost`."""

    values: tuple[ParameterText, ...] = ()
    lost: tuple[str, ...] = ()


NO_VALUES = OwnValues()


def own_values(recorded: Json, domain: Domain, overruled: Collection[str]) -> OwnValues:
    """The values that a run records of a domain's parameters, but for those that are overruled.

    Lost are those that were redacted, and those of another type than the parameter has by now. Names
    that the domain does not have are no affair of its rules.
    """
    if not isinstance(recorded, Mapping) and recorded != REDACTED:
        return NO_VALUES
    from ledgeragent.compiler.parameters import NOW, with_texts

    values, lost = list[ParameterText](), list[str]()
    names = {*domain.parameters, *([NOW] if domain.timed else [])} - {*overruled}
    if recorded == REDACTED:
        return OwnValues(lost=tuple(sorted(names)))
    for name in sorted(names & recorded.keys()):
        text = ParameterText(name, canonical(recorded[name]), exact=True)
        try:
            if REDACTED in text.text:
                raise UsageError("it was redacted")
            with_texts(domain, [text])
            values.append(text)
        except UsageError:
            lost.append(name)
    return OwnValues(tuple(values), tuple(lost))
