"""Write outcomes: what became of a write, by what came back, worked out once for each tool and text."""

from __future__ import annotations

from typing import TypeAlias

from ledgeragent.absorb import Outcome, outcome_of
from ledgeragent.effects import Tool
from ledgeragent.offline.textmemory import TextMemory
from ledgeragent.types import ToolReturn

_LONGEST_KEPT = 16_384
_Key: TypeAlias = tuple[int, str, bool, bool]


class WriteOutcomes:
    """What the latest returns of writes said of them."""

    def __init__(self) -> None:
        # With the tool, so that nothing else can have its identity.
        self._memory: TextMemory[_Key, tuple[Outcome, Tool | None]] = TextMemory()

    def of(self, tool: Tool | None, returned: ToolReturn) -> Outcome:
        """What a return says of the write that it answers."""
        content = returned.content
        if type(content) is not str or len(content) > _LONGEST_KEPT:
            return outcome_of(tool, returned)
        key = (id(tool), content, returned.error, returned.lost)
        earlier = self._memory.get(key)
        if earlier is not None:
            return earlier[0]
        outcome = outcome_of(tool, returned)
        self._memory.put(key, (outcome, tool), len(content))
        return outcome
