"""What a driver is: one way into LedgerAgent, played against a scripted model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from ledgeragent.demo.shop.shop import tool_schemas
from ledgeragent.journal import Journal
from ledgeragent.journal.recorder import Mode
from ledgeragent.types import Json
from tests.conformance.scene import Scene


class Driver(ABC):
    """One agent object, which plays any number of scenes, also at once.

    `libraries` are modules it needs, `lacks` what it cannot express (see `Situation.needs`). `waits` if
    a call waits for another without a turn of the model (see `Situation.waits`). `journals` if it can
    write to a journal of this process.
    """

    name: ClassVar[str]
    libraries: ClassVar[tuple[str, ...]] = ()
    lacks: ClassVar[frozenset[str]] = frozenset()
    waits: ClassVar[bool] = True
    journals: ClassVar[bool] = True

    def __init__(self, *, journal: Journal | None = None, mode: Mode = "enforce") -> None:
        self.journal = journal
        self.mode: Mode = mode

    @abstractmethod
    async def play(self, scene: Scene) -> None:
        """Plays every turn of the scene; leaves the whole transcript in `scene.transcript`."""

    def close(self) -> None:  # noqa: B027 - most drivers hold nothing
        """Releases what the driver holds."""


FUNCTIONS: tuple[Json, ...] = tuple(schema["function"] for schema in tool_schemas())
"""The shop's tools: name, description and parameters of each."""
