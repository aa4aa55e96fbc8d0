"""What a rule raises by reading a fact that was never observed, or is not known any more."""

from __future__ import annotations

from typing import Any

from ledgeragent.entry import Fields, Stale
from ledgeragent.paths import Path
from ledgeragent.types import ToolCall


class MissingEvidence(Exception):
    """A predicate needs a record that was never read, or a field that was written since.

    `objection` says what is wrong with a value that was read and is not what its type declares.
    `reads` overrides the calls that the path map derives from `path`; `others` lack as well.
    """

    def __init__(
        self,
        path: Path[Any],
        *,
        fields: Fields = (),
        stale: Stale | None = None,
        objection: str = "",
        reads: tuple[ToolCall, ...] = (),
        others: tuple[Path[Any], ...] = (),
    ) -> None:
        super().__init__(path)
        if type(path) is not Path:
            raise TypeError(f"{path!r} is no Path; its PathTemplate makes one")
        self.path = path
        self.fields = fields
        self.stale = stale
        self.objection = objection
        self.reads = reads
        self.others = others
