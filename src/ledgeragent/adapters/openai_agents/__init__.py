"""OpenAI Agents SDK: a runner that guards every agent of a run, handoffs included.

    result = await LedgerRunner("shop").run(agent, "Cancel my order, please.")

Each run works on copies of its agents: their tools ask the run's own conversation, and their model
is wrapped, since only the model sees a reply whole.
"""

from __future__ import annotations

from ledgeragent.adapters.common import require

require("openai-agents", "0.20", "openai-agents")

from ledgeragent.adapters.openai_agents.items import map_history  # noqa: E402
from ledgeragent.adapters.openai_agents.runner import LedgerRunner  # noqa: E402
from ledgeragent.adapters.openai_agents.tools import check_tool  # noqa: E402

__all__ = ["LedgerRunner", "check_tool", "map_history"]
