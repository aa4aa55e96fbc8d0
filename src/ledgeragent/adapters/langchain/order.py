"""Order of middleware: what runs between ours and a tool is not judged, so nothing may."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware

from ledgeragent.adapters.common import UnguardableError

_HOOKS = ("wrap_tool_call", "awrap_tool_call")


def check_order(guard: object) -> None:
    """UnguardableError if an agent is being built in which others stand between `guard` and tools.

    LangChain tells a middleware nothing of the others; the frame of `create_agent` has them.
    """
    for frame in _callers(sys._getframe(2)):
        middleware = frame.f_locals.get("middleware")
        if frame.f_code.co_name == "create_agent" and isinstance(middleware, Sequence):
            _check(guard, middleware)
            return


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    """The frame and the one it was called from: a comprehension has a frame of its own."""
    for _ in range(3):
        if frame is not None:
            yield frame
            frame = frame.f_back


def _check(guard: object, middleware: Sequence[Any]) -> None:
    positions = [n for n, one in enumerate(middleware) if one is guard]
    for other in middleware[positions[0] + 1 :] if positions else ():
        if any(getattr(type(other), hook) is not getattr(AgentMiddleware, hook) for hook in _HOOKS):
            name = type(other).__name__
            raise UnguardableError(
                f"{name} stands after LedgerMiddleware, so what it makes of a tool call would run "
                f"unjudged; put {name} before LedgerMiddleware in `middleware`"
            )
