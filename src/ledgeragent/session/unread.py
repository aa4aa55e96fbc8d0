"""Warnings, to whoever runs this, of answers that could not be read or lack what is declared."""

from __future__ import annotations

import logging
import re

from ledgeragent.state import State
from ledgeragent.types import ToolReturn

log = logging.getLogger(__name__)

_QUOTED = re.compile(r"""(["']).*\1""", re.DOTALL)
_MOST = 1000
_told: set[tuple[str, str]] = set()


def warn_of(before: State, returned: ToolReturn, after: State) -> None:
    """Logs what is wrong with an answer, each problem of a tool once in this process.

    What stands in quotes is content of a record: it is left out.
    """
    if after.last is None or not after.last.problems:
        return
    call = next((c for c in before.pending if c.id == returned.call_id), None)
    tool = call.name if call is not None else "a tool"
    for problem in after.last.problems:
        words = _QUOTED.sub("(...)", problem)
        if (tool, words) not in _told and len(_told) < _MOST:
            _told.add((tool, words))
            log.warning("%s: %s; what rests on it cannot be judged", tool, words)
