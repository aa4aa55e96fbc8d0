"""The LiteLLM proxy with our guardrail, a process on a real port in front of the scripted model."""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote, unquote
from urllib.request import urlopen

from ledgeragent.journal import Journal
from ledgeragent.journal.recorder import Mode
from ledgeragent.types import Message, Reply
from tests.conformance.drivers.base import Driver
from tests.conformance.drivers.gateway import (
    GatewayDriver,
    GatewayUpstream,
    read_items,
)
from tests.conformance.scene import Scene
from tests.conformance.upstream import chat_messages, read_messages
from tests.gateway.wires import CHAT, MESSAGES, RESPONSES, ResponsesWire, Wire

MASTER_KEY = "sk-master"
PATIENCE = 300.0
LEDGER = "<ledger>"


class LiteLLMUpstream(GatewayUpstream):
    """The scripted model: a scene is found by the model's name, since the proxy has a key of its own."""

    def respond(self, path: str, headers: Mapping[str, str], body: Any) -> tuple[str, bytes]:
        """The scene's next reply, and its content type."""
        scene = self.scenes[unquote(body["model"])]
        wire = next(wire for wire in (CHAT, MESSAGES, RESPONSES) if wire.path == path)
        return self.reply(scene, wire, shown(wire, body), stream=body.get("stream") is True)


def shown(wire: Wire, body: Any) -> tuple[list[Message], str]:
    """The messages of a request, and the ledger block, which stands in the last of them."""
    if wire is MESSAGES:
        return read_messages(body["messages"])
    field = "messages" if wire is CHAT else "input"
    *items, last = body[field]
    name = "output" if last.get("type") == "function_call_output" else "content"
    said, mark, tail = last[name].partition(LEDGER)
    items.append({**last, name: said.removesuffix("\n\n")})
    messages = chat_messages(items[1:]) if wire is CHAT else list(read_items(items))
    return messages, mark + tail


class LiteLLMProxy:
    """The proxy as people run it, with one guardrail. `options` are those of the guardrail."""

    def __init__(self, upstream: str, options: Mapping[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        config = Path(self._folder.name, "config.yaml")
        config.write_text(json.dumps(configuration(upstream, options)))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.log = Path(self._folder.name, "log")
        self.url = f"http://127.0.0.1:{port}"
        command = [str(Path(sys.executable).with_name("litellm")), "--config", str(config)]
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--port", str(port)],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
                cwd=self._folder.name,
            )
        try:
            self._wait()
        except AssertionError:
            self.close()
            raise

    def _wait(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            assert self._process.poll() is None, self.log.read_text()
            try:
                with urlopen(f"{self.url}/health/liveliness", timeout=1):
                    return
            except OSError:
                time.sleep(0.2)
        raise AssertionError(self.log.read_text())

    def close(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()


def configuration(upstream: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """A proxy for whatever model is asked for, at the scripted provider."""
    models = {"openai/*": f"{upstream}/v1", "anthropic/*": upstream}
    guardrail = {
        "guardrail": "ledgeragent.gateway.guardrail.LedgerGuardrail",
        "mode": ["pre_call", "post_call"],
        "default_on": True,
        "ledgeragent": options,
    }
    return {
        "model_list": [
            {
                "model_name": name,
                "litellm_params": {"model": name, "api_base": base, "api_key": "sk-provider"},
            }
            for name, base in models.items()
        ],
        "guardrails": [{"guardrail_name": "ledgeragent", "litellm_params": guardrail}],
        "general_settings": {"master_key": MASTER_KEY},
    }


class _Shared:
    """One proxy for all drivers, since it takes long to start."""

    def __init__(self) -> None:
        self.upstream = LiteLLMUpstream()
        self.proxy = LiteLLMProxy(self.upstream.url, {"domain": "shop"})
        atexit.register(self.close)

    def close(self) -> None:
        """Ends both."""
        self.proxy.close()
        self.upstream.close()


@cache
def shared() -> _Shared:
    """The one of this process."""
    return _Shared()


class LiteLLMChat(GatewayDriver):
    """Chat Completions."""

    name = "litellm, chat"
    libraries = ("litellm.proxy.proxy_server",)
    journals = False
    wire = CHAT
    provider: ClassVar[str] = "openai"

    def __init__(self, *, journal: Journal | None = None, mode: Mode = "enforce") -> None:
        Driver.__init__(self, journal=journal, mode=mode)
        self.upstream = shared().upstream
        self.url = shared().proxy.url

    def headers(self, scene: Scene) -> dict[str, str]:
        """The key of the proxy, which is the same for all."""
        return {"Authorization": f"Bearer {MASTER_KEY}", "Content-Type": "application/json"}

    def model(self, scene: Scene) -> str:
        """The model by whose name the provider finds the scene."""
        return f"{self.provider}/{quote(scene.key, safe='')}"

    def close(self) -> None:
        """Nothing: the proxy serves the other drivers too."""


class LiteLLMChatStreamed(LiteLLMChat):
    """Chat Completions, streamed."""

    name = "litellm, chat, streamed"
    stream = True


class LiteLLMMessages(LiteLLMChat):
    """Messages, whose input arrives as an object unless it streams."""

    name = "litellm, messages"
    lacks = frozenset({"argument text"})
    wire = MESSAGES
    provider = "anthropic"


class LiteLLMMessagesStreamed(LiteLLMMessages):
    """Messages, streamed."""

    name = "litellm, messages, streamed"
    lacks = frozenset()
    stream = True


class LiteLLMResponses(LiteLLMChat):
    """Responses, with the whole input in each request."""

    name = "litellm, responses"
    wire = RESPONSES


class EndedResponses(ResponsesWire):
    """Responses as the proxy streams them: with the end that other formats have."""

    def read_events(self, events: Sequence[Any]) -> Reply:
        """The reply in a stream."""
        assert events[-1] == "[DONE]"
        return super().read_events(events[:-1])


class LiteLLMResponsesStreamed(LiteLLMResponses):
    """Responses, streamed."""

    name = "litellm, responses, streamed"
    stream = True
    wire = EndedResponses()
