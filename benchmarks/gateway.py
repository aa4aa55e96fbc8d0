"""What the gateway adds to a model API, beside a bare forwarder and the LiteLLM proxy: three minutes.

One worker each, in front of one local upstream that answers at once. Every request is a retail
conversation of its own: two reads with their returns to fold, and a write to judge. Small ones are the
first words of a conversation, long ones the next words of one that has gone on for a while. LiteLLM
takes part if LITELLM_VENV names a virtual environment with `litellm[proxy]`.

    LITELLM_VENV=/path/to/venv python -m benchmarks.gateway
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import statistics
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from benchmarks.load import CROWD, Figures
from benchmarks.quickmodel import serve_upstream
from benchmarks.server import forwarder_command, free_port, gateway_command, litellm, started

RESULT = Path(__file__).parent / "results" / "gateway.json"
ROUNDS = 9


async def measured() -> dict[str, Any]:
    """Every figure: all servers are up at once and take turns."""
    upstream, port, traced_port, peer, bare_port = (free_port() for _ in range(5))
    serve = [sys.executable, "-m", "benchmarks.gateway", "--serve", str(upstream)]
    venv = os.environ.get("LITELLM_VENV")
    async with AsyncExitStack() as stack:
        behind = await stack.enter_async_context(started(upstream, serve))
        ours = await stack.enter_async_context(started(port, gateway_command(port, upstream)))
        # The upstream answers everything, spans included.
        spans = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{upstream}"}
        command = [*gateway_command(traced_port, upstream), "--otel"]
        traced = await stack.enter_async_context(started(traced_port, command, env=spans))
        bare = await stack.enter_async_context(
            started(bare_port, forwarder_command(bare_port, upstream))
        )
        targets = {
            "upstream": Figures(behind),
            "forwarder": Figures(bare),
            "gateway": Figures(ours),
            "forwarder_streamed": Figures(bare, "streamed"),
            "gateway_streamed": Figures(ours, "streamed"),
            "forwarder_small": Figures(bare, "small"),
            "gateway_small": Figures(ours, "small"),
            "forwarder_long": Figures(bare, "long"),
            "gateway_long": Figures(ours, "long"),
            "gateway_traced": Figures(traced),
        }
        if venv:
            command, options = stack.enter_context(litellm(venv, peer, upstream))
            theirs = await stack.enter_async_context(started(peer, command, **options))
            targets["litellm"] = Figures(theirs)
        for target in targets.values():
            await target.load().run(2, 0.5)
        for _ in range(ROUNDS):
            for target in targets.values():
                await target.round()
    return {name: target.report() for name, target in targets.items()}


def compared(figures: dict[str, Any]) -> dict[str, float]:
    """The figures that should hold on any machine."""
    direct, gateway, peer = (figures.get(n) for n in ("upstream", "gateway", "litellm"))
    assert direct is not None and gateway is not None
    told = {
        "gateway_added_p50_ms": gateway["p50_ms"] - direct["p50_ms"],
        "gateway_added_p99_ms": gateway["p99_ms"] - direct["p99_ms"],
    }
    told["forwarder_added_p50_ms"] = figures["forwarder"]["p50_ms"] - direct["p50_ms"]
    for kind in ("", "_streamed", "_small", "_long"):
        told[f"cpu_beside_forwarder{kind}"] = _beside(
            figures[f"gateway{kind}"], figures[f"forwarder{kind}"]
        )
    if peer is not None:
        told["litellm_added_p50_ms"] = peer["p50_ms"] - direct["p50_ms"]
        told["litellm_added_p99_ms"] = peer["p99_ms"] - direct["p99_ms"]
        told["requests_per_second_ratio"] = (
            gateway["requests_per_second"] / peer["requests_per_second"]
        )
        told["cpu_ratio"] = peer["cpu_ms_per_request"] / gateway["cpu_ms_per_request"]
    return {name: round(value, 3) for name, value in told.items()}


def _beside(one: dict[str, Any], other: dict[str, Any]) -> float:
    """What one costs beside another: the median of the rounds, in each of which one followed the other."""
    rounds = zip(one["cpu_ms_by_round"], other["cpu_ms_by_round"], strict=True)
    return statistics.median(own / bare for own, bare in rounds)


def main() -> int:
    """Measures, prints, and writes the result."""
    if sys.argv[1:2] == ["--serve"]:
        asyncio.run(serve_upstream(int(sys.argv[2])))
    figures = asyncio.run(measured())
    report = {
        "command": "python -m benchmarks.gateway",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "connections": {"latency": 1, "requests_per_second": CROWD},
        "figures": figures,
        "compared": compared(figures),
    }
    RESULT.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
