"""Result files of our own making, in the harness's form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

GOLD = [
    {"name": "get_order_details", "arguments": {"order_id": "#W1"}},
    {
        "name": "cancel_pending_order",
        "arguments": {"order_id": "#W1", "reason": "no longer needed"},
    },
]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": f"{name}{arguments}", "name": name, "arguments": arguments}


CANCEL = call("cancel_pending_order", order_id="#W1", reason="no longer needed")
READ = call("get_order_details", order_id="#W1")


def simulation(
    task: str,
    trial: int,
    reward: float,
    calls: list[dict[str, Any]] | None = None,
    *,
    termination: str = "user_stop",
    breakdown: dict[str, float] | None = None,
    content: str = "{}",
    prompt: int = 100,
    helpers: int = 0,
) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Cancel #W1, please."}]
    for made in calls or []:
        told = {"generations": 1, "helper_calls": helpers}
        messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [made],
                "usage": {"prompt_tokens": prompt, "completion_tokens": 10},
                "raw_data": {"ledgeragent": told},
            }
        )
        messages.append({"role": "tool", "id": made["id"], "content": content, "error": False})
    return {
        "task_id": task,
        "trial": trial,
        "termination_reason": termination,
        "reward_info": {"reward": reward, "reward_breakdown": breakdown or {}},
        "messages": messages,
    }


def write(
    file: Path,
    simulations: list[dict[str, Any]],
    *,
    agent: str = "ledgeragent",
    domain: str = "retail",
    gold: list[dict[str, Any]] | None = None,
    basis: list[str] | None = None,
) -> str:
    """A result file of the tau2 harness; every task has the same reference solution."""
    criteria = {"actions": GOLD if gold is None else gold, "reward_basis": basis or ["DB"]}
    ids = {s["task_id"] for s in simulations}
    value = {
        "info": {
            "agent_info": {"implementation": agent, "llm": "a-model"},
            "environment_info": {"domain_name": domain},
        },
        "tasks": [{"id": i, "evaluation_criteria": criteria} for i in ids],
        "simulations": simulations,
    }
    file.write_text(json.dumps(value))
    return str(file)
