"""The guardrail inside a real LiteLLM proxy: nothing goes round it, and a bad setting stops the start."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("litellm.proxy.proxy_server", reason="litellm[proxy] is not installed")

from ledgeragent.types import Message, Reply, ToolCall, UserMessage
from tests.conformance.drivers.gateway import TOOLS
from tests.conformance.drivers.litellm import MASTER_KEY, LiteLLMProxy
from tests.conformance.upstream import Upstream
from tests.gateway.clientview import calls_in
from tests.gateway.wires import CHAT, MESSAGES, RESPONSES, Wire

CANCEL = Reply(calls=(ToolCall(id="c1", name="cancel_order", arguments={"order_id": "G-1010"}),))
HISTORY: tuple[Message, ...] = (UserMessage(text="Cancel G-1010."),)
VERDICT = "x-ledgeragent-verdict"


class Stubborn(Upstream):
    """A model that always wants to cancel, in the format that it is asked in."""

    def __init__(self) -> None:
        super().__init__()
        self.bodies: list[Any] = []
        self.answers: list[bytes] = []

    def respond(self, path: str, headers: Any, body: Any) -> tuple[str, bytes]:
        """The call, whole or streamed."""
        self.bodies.append(body)
        if path == "/v1/embeddings":
            vector = {"object": "embedding", "index": 0, "embedding": [0.5]}
            return "application/json", json.dumps({"object": "list", "data": [vector]}).encode()
        if self.answers:
            kind = "text/event-stream" if body.get("stream") else "application/json"
            return kind, self.answers.pop()
        wire = next(wire for wire in (CHAT, MESSAGES, RESPONSES) if wire.path == path)
        if body.get("stream"):
            return "text/event-stream", b"".join(wire.events(CANCEL, "r1"))
        return "application/json", json.dumps(wire.answer(CANCEL, "r1")).encode()


@pytest.fixture(scope="module")
def model() -> Iterator[Stubborn]:
    stubborn = Stubborn()
    yield stubborn
    stubborn.close()


@pytest.fixture(scope="module")
def proxy(model: Stubborn) -> Iterator[LiteLLMProxy]:
    running = LiteLLMProxy(model.url, {"domain": "shop"})
    yield running
    running.close()


def ask(
    proxy: LiteLLMProxy, path: str, body: Any, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of an answer."""
    connection = HTTPConnection(urlsplit(proxy.url).netloc, timeout=60)
    keys = {"authorization": f"Bearer {MASTER_KEY}", "content-type": "application/json"}
    raw = body if isinstance(body, str) else json.dumps(body)
    connection.request("POST", path, raw.encode(), keys | headers)
    answer = connection.getresponse()
    told = {name.lower(): value for name, value in answer.getheaders()}
    data = answer.read()
    connection.close()
    return answer.status, told, data


def body_of(wire: Wire, *, stream: bool = False) -> dict[str, Any]:
    model = "anthropic/m" if wire is MESSAGES else "openai/m"
    return wire.request(HISTORY, TOOLS, stream) | {"model": model}


@pytest.mark.parametrize("wire", [CHAT, MESSAGES, RESPONSES], ids=lambda wire: wire.name)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"guardrails": []},
        {"metadata": {"disable_global_guardrail": True}},
        {"disable_global_guardrails": True},
        {"litellm_metadata": {"opted_out_global_guardrails": ["ledgeragent"]}},
        {"litellm_logging_obj": "mine", "litellm_call_id": "mine"},
        {"no-log": True, "mock_response": None},
    ],
    ids=lambda more: ",".join(more) or "plain",
)
def test_no_client_goes_round_it(
    proxy: LiteLLMProxy, wire: Wire, stream: bool, more: dict[str, Any]
) -> None:
    status, told, data = ask(
        proxy, wire.path, {**body_of(wire, stream=stream), **more}, **{"x-litellm-call-id": "same"}
    )
    assert b'cancel_order"' not in data.replace(b"\\", b"")
    shown = told.get(VERDICT, "") + data.decode()
    if more:
        assert 400 <= status < 500 or "cancel_order=REVISE,cancel_order=REVISE" in shown
    else:
        assert status == 200 and "cancel_order=REVISE,cancel_order=REVISE" in shown


@pytest.mark.parametrize(
    "path, body",
    [
        ("/v1/completions", {"model": "openai/m", "prompt": "Cancel."}),
        ("/anthropic/v1/messages", body_of(MESSAGES)),
        ("/v1beta/models/openai%2Fm:generateContent", {"contents": []}),
    ],
)
def test_what_nobody_could_judge_is_refused(
    proxy: LiteLLMProxy, model: Stubborn, path: str, body: Any
) -> None:
    before = len(model.bodies)
    status, _, data = ask(proxy, path, body)
    assert status >= 400 and b'"cancel_order"' not in data
    assert len(model.bodies) == before


def test_the_ledger_goes_with_the_history_and_a_revision_tells_why(
    proxy: LiteLLMProxy, model: Stubborn
) -> None:
    before = len(model.bodies)
    status, told, _ = ask(proxy, CHAT.path, body_of(CHAT))
    assert status == 200
    assert told[VERDICT] == "cancel_order=REVISE,cancel_order=REVISE"
    first, second = model.bodies[before:]
    assert "<ledger>" in first["messages"][-1]["content"]
    last = second["messages"][-1]
    assert last["role"] == "tool" and "<ledger>" in last["content"]
    assert "find_customer" in last["content"]


def test_in_shadow_nothing_changes_and_all_is_recorded(model: Stubborn, tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    running = LiteLLMProxy(model.url, {"domain": "shop", "shadow": True, "journal": str(journal)})
    try:
        before = len(model.bodies)
        for stream in (False, True):
            _, _, data = ask(running, CHAT.path, body_of(CHAT, stream=stream))
            assert b"cancel_order" in data
        odd = {"x-ledgeragent-session": "x" * 300}
        status, _, data = ask(running, CHAT.path, body_of(CHAT), **odd)
        assert status == 200 and b"cancel_order" in data
    finally:
        running.close()
    assert len(model.bodies) == before + 3
    assert all("<ledger>" not in json.dumps(body) for body in model.bodies[before:])
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    judged = [record for record in records if record["event"] == "judged"]
    assert [record["shadow"] for record in judged] == [True, True]
    assert [v["decision"] for record in judged for v in record["verdicts"]] == ["REVISE"] * 2
    assert stat.S_IMODE(journal.stat().st_mode) == 0o600


def test_a_bad_setting_stops_the_start(model: Stubborn) -> None:
    with pytest.raises(AssertionError, match=r"ledgeragent\.domian: no such option"):
        LiteLLMProxy(model.url, {"domian": "shop"})


HOSTILE = {
    "deep": "[" * 3_000 + "]" * 3_000,
    "deep objects": '{"a":' * 3_000 + "1" + "}" * 3_000,
    "many": "[" + "[]," * 210_000 + "[]]",
    "number": "9" * 4_000,
    "infinite": "1e999",
    "half a character": '"\\ud800"',
    "twice": '{"name": "cancel_order", "name": "find_customer"}',
    "nothing": "null",
    "calls": json.dumps(CHAT.answer(CANCEL, "x")),
}


@pytest.mark.parametrize("wire", [CHAT, MESSAGES, RESPONSES], ids=lambda wire: wire.name)
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_request_gets_nothing_unjudged(
    proxy: LiteLLMProxy, wire: Wire, kind: str
) -> None:
    """Wherever it stands: beside the messages, as one, in one, in a tool, in the proxy's own fields."""
    text = json.dumps(body_of(wire))
    field = "input" if wire is RESPONSES else "messages"
    bodies = [
        f'{text[:-1]}, "x": {HOSTILE[kind]}}}',
        f'{text[:-1]}, "metadata": {HOSTILE[kind]}}}',
        f'{text[:-1]}, "litellm_metadata": {HOSTILE[kind]}}}',
        text.replace(f'"{field}": [', f'"{field}": [{HOSTILE[kind]}, ', 1),
        text.replace('"Cancel G-1010."', HOSTILE[kind], 1),
        text.replace('"tools": [', f'"tools": [{HOSTILE[kind]}, ', 1),
    ]
    for number, body in enumerate(bodies):
        status, told, data = ask(proxy, wire.path, body)
        assert b'cancel_order"' not in data.replace(b"\\", b""), (number, status)
        assert status != 200 or VERDICT in told, (number, data[:300])


@pytest.mark.parametrize("wire", [CHAT, MESSAGES, RESPONSES], ids=lambda wire: wire.name)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_reply_gets_nothing_unjudged_through(
    proxy: LiteLLMProxy, model: Stubborn, wire: Wire, kind: str, stream: bool
) -> None:
    whole = json.dumps(wire.answer(CANCEL, "r")).encode()
    if stream:
        whole = b"".join(wire.events(CANCEL, "r"))
    odd = HOSTILE[kind].encode()
    answers = [
        whole.replace(b"}", b', "x": ' + odd + b"}", 1),
        whole.replace(b'"assistant"', odd),
        whole.replace(b'"cancel_order"', odd),
        odd if not stream else b"data: " + odd + b"\n\n" + whole,
        whole[:-20],
    ]
    for number, answer in enumerate(answers):
        model.answers[:] = [answer] * 2
        status, _, data = ask(proxy, wire.path, body_of(wire, stream=stream))
        model.answers.clear()
        if status == 200 or not data.startswith(b"{"):
            assert b'cancel_order"' not in data.replace(b"\\", b""), number
        else:  # The proxy quotes in its errors what it could not read itself.
            assert list(calls_in(json.loads(data))) == [], number


def test_after_all_that_it_judges_and_answers_without_calls_pass(
    proxy: LiteLLMProxy, model: Stubborn
) -> None:
    status, told, _ = ask(proxy, CHAT.path, body_of(CHAT))
    assert status == 200 and told[VERDICT] == "cancel_order=REVISE,cancel_order=REVISE"
    status, _, data = ask(proxy, "/v1/embeddings", {"model": "openai/m", "input": "hi"})
    assert status == 200 and json.loads(data)["data"][0]["embedding"] == [0.5]
