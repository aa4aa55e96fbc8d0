"""What a run takes, from recorded runs: `python -m benchmarks.averages`.

Needs `LEDGERAGENT_DATA_DIR`. Writes the table that `bench run --estimate` reads. A token is taken to be
four characters; the prompt of each call is policy, schemas and all that was said before, read whole.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from ledgeragent.bench.datasets.needs import NEEDS

RESULT = Path(__file__).parents[1] / "src/ledgeragent/bench/running/averages.toml"
FILES = {
    "airline": "tau*_airline__*",
    "retail": "tau*_retail__*",
    "telecom": "tau2_telecom__*",
    "telehealth": "tau_trait_telehealth__*",
}
_CHARACTERS = 4
_GUIDELINES = 500
"""Tokens that the customer's model is given beside the conversation: its guidelines and its part."""

_NAMES = (
    "agent_calls",
    "agent_prompt",
    "agent_completion",
    "user_calls",
    "user_prompt",
    "user_completion",
)


def _runs(folder: Path, pattern: str) -> Iterator[list[Any]]:
    for file in sorted((folder / "trajectories").glob(pattern)):
        with gzip.open(file, "rt") as lines:
            yield from (json.loads(line)["messages"] for line in lines)


def _tokens(message: Any) -> float:
    calls = message.get("tool_calls") or ""
    return (
        len(str(message.get("content") or "")) + len(json.dumps(calls) if calls else "")
    ) / _CHARACTERS


def counted(messages: list[Any], prefix: float) -> tuple[float, ...]:
    """Calls, prompt and completion tokens of the agent, then of the customer."""
    totals = [0.0] * 6
    agent, user = prefix, float(_GUIDELINES)
    for message in messages:
        size, role = _tokens(message), message.get("role")
        if role in ("assistant", "user"):
            first = 0 if role == "assistant" else 3
            totals[first] += 1
            totals[first + 1] += agent if role == "assistant" else user
            totals[first + 2] += size
        if role in ("assistant", "user", "tool"):
            agent += size
        if role in ("assistant", "user") and not message.get("tool_calls"):
            user += size
    return tuple(totals)


def _prefix(folder: Path, domain: str) -> float:
    where = folder / NEEDS[domain].folder / domain
    tools = json.loads((where / "tools.json").read_text())
    schemas = json.dumps([tool["schema"] for tool in tools])
    return (len((where / "policy.md").read_text()) + len(schemas)) / _CHARACTERS


def main() -> int:
    """Counts, and writes the table."""
    named = os.environ.get("LEDGERAGENT_DATA_DIR")
    if named is None:
        sys.exit("set LEDGERAGENT_DATA_DIR to the folder with benchmarks/ and trajectories/")
    text = "# A run of the plain agent on average; made by `python -m benchmarks.averages`.\n"
    for domain, pattern in FILES.items():
        prefix = _prefix(Path(named), domain)
        runs = [counted(messages, prefix) for messages in _runs(Path(named), pattern)]
        means = map(fmean, zip(*runs, strict=True))
        tasks = len(
            json.loads((Path(named) / NEEDS[domain].folder / domain / "tasks.json").read_text())
        )
        text += f"\n[{domain}]\nruns = {len(runs)}\ntasks = {tasks}\n"
        text += "".join(f"{name} = {mean:.1f}\n" for name, mean in zip(_NAMES, means, strict=True))
    RESULT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
