"""LangChain and LangGraph: a middleware for `create_agent`, and a wrapper for a `ToolNode` of your own.

    agent = create_agent(model, tools, middleware=[LedgerMiddleware("shop")])

The session of a run lives in the run's own graph state, so one agent may serve any number of
conversations at once; it is rebuilt from the thread's messages when a run begins or resumes.
"""

from __future__ import annotations

from ledgeragent.adapters.common import require

require("langchain", "1.3.3", "langchain")
require("langgraph", "1.2.4", "langchain")

from ledgeragent.adapters.langchain.messages import map_history  # noqa: E402
from ledgeragent.adapters.langchain.middleware import LedgerMiddleware  # noqa: E402

__all__ = ["LedgerMiddleware", "map_history"]
