"""A store of parts: the domain whose records, writes and rules are multiplied."""

from __future__ import annotations

from typing import Any

from ledgeragent import Domain, PathTemplate, Read, Write, touch
from ledgeragent.state import State
from ledgeragent.types import Reply, ToolCall, ToolReturn

PART = PathTemplate("parts.{id}", dict)
STORE = Domain(
    name="store",
    version="1",
    tools=(
        Read(tool="list_parts", to=PART, records=lambda value, arguments: value),
        Read(tool="get_part", to=PART, parameters=("id",)),
        Write(tool="move_part", arguments=dict, touches=(touch(PART, "moved"),)),
    ),
)


MOVE = ToolCall(name="move_part", arguments={"id": "0"}, id="w")


def part(number: int) -> dict[str, Any]:
    """A record of some 200 bytes."""
    return {"id": str(number), "shelf": "a", "moved": False, "text": "Lorem ipsum dolor. " * 7}


def returned(state: State, name: str, content: object, domain: Domain, **words: str) -> State:
    """The state after a call and its return."""
    call = ToolCall(name=name, arguments=words, id="c")
    state = state.observe(Reply(calls=(call,)), domain)
    return state.observe(ToolReturn(call_id="c", content=content), domain)
