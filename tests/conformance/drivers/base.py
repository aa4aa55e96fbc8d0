"""What a driver is: one way into LedgerAgent, played against a scripted model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from ledgeragent.demo.shop.shop import tool_schemas
from ledgeragent.journal import Journal
from ledgeragent.journal.recorder import Mode
from ledgeragent.types import Json
from tests.conformance.scene import CONTROLS, CURRENT, Scene


class Driver(ABC):
    """One agent object, which plays any number of scenes, also at once.

    `libraries` are modules it needs, `lacks` what it cannot express (see `Situation.needs`). `waits` if
    a call waits for another without a turn of the model (see `Situation.waits`). `journals` if it can
    write to a journal of this process. `lists_tools` if the agent has tools beside the domain's,
    `prefixes` if tools may have other names on the wire, `retries` if the host repeats a tool's
    call that failed, `tells` if the model hears of it; `asks_again` if it repeats a request whose
    answer never came.
    """

    name: ClassVar[str]
    libraries: ClassVar[tuple[str, ...]] = ()
    lacks: ClassVar[frozenset[str]] = frozenset()
    waits: ClassVar[bool] = True
    journals: ClassVar[bool] = True
    lists_tools: ClassVar[bool] = True
    prefixes: ClassVar[bool] = False
    retries: ClassVar[bool] = False
    tells: ClassVar[bool] = False
    asks_again: ClassVar[bool] = False

    def __init__(self, *, journal: Journal | None = None, mode: Mode = "enforce") -> None:
        self.journal = journal
        self.mode: Mode = mode

    @abstractmethod
    async def play(self, scene: Scene) -> None:
        """Plays every turn of the scene; leaves the whole transcript in `scene.transcript`."""

    def close(self) -> None:  # noqa: B027 - most drivers hold nothing
        """Releases what the driver holds."""


def _control(name: str, arguments: Sequence[str]) -> Json:
    properties = {argument: {"type": "string"} for argument in arguments}
    parameters = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"name": name, "description": "Goes on elsewhere.", "parameters": parameters}


FUNCTIONS: tuple[Json, ...] = (
    *(schema["function"] for schema in tool_schemas()),
    *(_control(name, arguments) for name, arguments in CONTROLS.items()),
)
"""The agent's tools, the shop's and a framework's own: name, description and parameters of each."""


def functions(prefix: str) -> list[Json]:
    """The same with a prefix before the names of the shop's."""
    return [
        function
        if function["name"] in CONTROLS
        else {**function, "name": prefix + function["name"]}
        for function in FUNCTIONS
    ]


def tailed(given: Sequence[Any]) -> tuple[list[Any], Any]:
    """What was said, and the ledger block behind it; there is none where verdicts change nothing."""
    if CURRENT.get().shadow:
        return list(given), None
    return list(given[:-1]), given[-1]
