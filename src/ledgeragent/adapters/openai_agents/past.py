"""Past items of a run that was read back from a file: what its state and its session have kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ledgeragent.adapters.openai_agents.items import RunInput, as_data, items_of

if TYPE_CHECKING:
    from agents import RunState
    from agents.memory import Session

_APPROVAL = "tool_approval_item"


@dataclass(frozen=True, slots=True)
class PastItems:
    """The items of a run's past, in a `state` and in the `session` that it goes on with, if any."""

    state: RunState[Any]
    session: Session | None = None

    @property
    def tools(self) -> list[str] | None:
        """The names of the tools of the agent whose turn it is."""
        agent = self.state._current_agent
        return [tool.name for tool in agent.tools] if agent is not None else None

    async def read(self) -> RunInput:
        """The items, each once: a session has those of the turns that are over."""
        generated = (i for i in self.state._generated_items if i.type != _APPROVAL)
        own = [*items_of(self.state._original_input), *(i.to_input_item() for i in generated)]
        persisted = await self.session.get_items() if self.session is not None else []
        if not persisted:
            return own
        keys = {_key(item) for item in persisted}
        return [*persisted, *(item for item in own if _key(item)[1] and _key(item) not in keys)]


def _key(item: object) -> tuple[Any, Any]:
    data = as_data(item)
    return data.get("type"), data.get("call_id")
