"""Where the ledger block stands: in a form that the model's server takes, found out once and told."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from ledgeragent.gateway.placement import CONTEXT_HEADER
from ledgeragent.types import Message, Reply
from tests.gateway.conftest import Client
from tests.gateway.upstream import Respond, Upstream, sent
from tests.gateway.wires import CHAT, MESSAGES, RESPONSES, Wire
from tests.gateway.world import HELLO, KNOWN, LONG, SAY, WRITE, World, run, world

jinja2 = pytest.importorskip("jinja2")

_TURN = "<{{ m.role }}>{{ m.content or '' }}{{ m.tool_calls or '' }}</{{ m.role }}>"
STRICT = f"""
{{%- for m in messages -%}}
  {{%- if m.role == 'system' and not loop.first -%}}
    {{{{ raise_exception('System message must be at the beginning.') }}}}
  {{%- endif -%}}
  {_TURN}
{{%- endfor -%}}
"""
"""System messages come first, as Qwen's templates have it since 3.5."""

MERGING = f"""
{{%- for m in messages if m.role == 'system' -%}}{{{{ m.content }}}}{{%- endfor -%}}
{{%- for m in messages if m.role != 'system' -%}}{_TURN}{{%- endfor -%}}
"""
"""System messages go to the beginning, wherever they stand."""

TURNS = f"""
{{%- set turn = namespace(users=true) -%}}
{{%- for m in messages -%}}
  {{%- if m.role == 'system' and not loop.first -%}}
    {{{{ raise_exception('System role not supported') }}}}
  {{%- endif -%}}
  {{%- if m.role == 'user' or (m.role == 'assistant' and not m.tool_calls) -%}}
    {{%- if (m.role == 'user') != turn.users -%}}
      {{{{ raise_exception('Conversation roles must alternate user/assistant/user/...') }}}}
    {{%- endif -%}}
    {{%- set turn.users = not turn.users -%}}
  {{%- endif -%}}
  {_TURN}
{{%- endfor -%}}
"""
"""No role of the system but an opening, and turns that alternate, as Gemma and Mistral have it."""

TEMPLATES = {
    "strict": (STRICT, "user"),
    "merging": (MERGING, "system"),
    "turns": (TURNS, "last"),
}
FIRST = (HELLO,)


def rendered(template: str, messages: list[Any]) -> str:
    """The prompt; ValueError where the template does not take these messages."""

    def raise_exception(text: str) -> None:
        raise ValueError(text)

    environment = jinja2.Environment(autoescape=False)
    return str(
        environment.from_string(template).render(messages=messages, raise_exception=raise_exception)
    )


class Server:
    """A server of open models, which renders what it is asked before it answers."""

    def __init__(self, template: str, *replies: Reply) -> None:
        self.template = template
        self.replies = list(replies)
        self.prompts: list[str] = []

    def __call__(self, body: dict[str, Any]) -> Reply | Respond:
        messages = body["messages"] if "messages" in body else _as_messages(body)
        try:
            self.prompts.append(rendered(self.template, messages))
        except ValueError as problem:
            return refusing(str(problem))
        return self.replies.pop(0)


def _as_messages(body: dict[str, Any]) -> list[Any]:
    """The items of a response as such a server turns them into messages."""
    messages: list[Any] = []
    if body.get("instructions"):
        messages.append({"role": "system", "content": body["instructions"]})
    for item in body["input"]:
        match item.get("type", "message"):
            case "function_call":
                messages.append({"role": "assistant", "content": "", "tool_calls": [item]})
            case "function_call_output":
                messages.append({"role": "tool", "content": item["output"]})
            case _:
                messages.append({"role": item["role"], "content": item["content"]})
    return messages


def refusing(text: str, status: int = 400) -> Respond:
    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        error = {"message": text, "type": "BadRequestError", "param": None, "code": status}
        return web.json_response({"error": error}, status=status)

    return respond


def serve(w: World, server: Callable[[dict[str, Any]], Any]) -> None:
    w.upstream.choose = server


@pytest.mark.parametrize("case", TEMPLATES, ids=TEMPLATES.keys())
@pytest.mark.parametrize("wire", [CHAT, RESPONSES], ids=lambda wire: wire.name)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("history", [FIRST, KNOWN], ids=["a first turn", "behind results"])
def test_it_stands_where_the_template_takes_it(
    case: str,
    wire: Wire,
    stream: bool,
    history: tuple[Message, ...],
    caplog: pytest.LogCaptureFixture,
) -> None:
    template, form = TEMPLATES[case]

    async def scenario() -> None:
        server = Server(template, SAY, SAY)
        async with world() as w:
            serve(w, server)
            for attempt in range(2):
                got = await w.ask(wire, history, stream=stream)
                assert got.reply == SAY
                assert "<ledger" in server.prompts[-1]
                assert got.headers.get(CONTEXT_HEADER, "system") == form
                refused = {"system": 0, "user": 1, "last": 2}[form]
                assert len(w.upstream.asked) == 1 + attempt + refused

    with caplog.at_level(logging.WARNING, "ledgeragent.gateway"):
        run(scenario())
    told = [record for record in caplog.records if "--context-role" in record.getMessage()]
    assert len(told) == (form != "system")


@pytest.mark.parametrize("case", TEMPLATES, ids=TEMPLATES.keys())
def test_a_revision_stands_there_too(case: str) -> None:
    async def scenario() -> None:
        server = Server(TEMPLATES[case][0], LONG, WRITE)
        async with world() as w:
            serve(w, server)
            got = await w.ask(CHAT, KNOWN)
            assert got.reply == WRITE
            assert "120 days" in server.prompts[-1]

    run(scenario())


def test_what_the_client_did_wrong_is_told_as_the_upstream_said_it_first(client: Client) -> None:
    async def scenario() -> None:
        async with world() as w:
            serve(w, lambda body: refusing(f"role {len(w.upstream.asked)} is unknown"))
            got = await client.ask(w, *KNOWN)
            assert got.status == 400
            assert "role 1 is unknown" in str(got.body)
            serve(w, lambda body: refusing("max_tokens is too large"))
            asked = len(w.upstream.asked)
            assert (await client.ask(w, *KNOWN)).status == 400
            assert len(w.upstream.asked) == asked + 1

    run(scenario())


def older(upstream: Upstream, *replies: Reply) -> Callable[[dict[str, Any]], Any]:
    """A model of Messages that knows no role of the system."""
    script = list(replies)

    def choose(body: dict[str, Any]) -> Any:
        if any(message["role"] == "system" for message in body["messages"]):
            return refusing("role 'system' is not supported on this model")
        return script.pop(0)

    return choose


@pytest.mark.parametrize("stream", [False, True])
def test_no_text_follows_a_result_in_messages(stream: bool) -> None:
    """Newer models get a message of the system, others the block inside the last result."""

    async def scenario() -> None:
        async with world(SAY) as w:
            got = await w.ask(MESSAGES, KNOWN, stream=stream)
            assert CONTEXT_HEADER not in got.headers
            *_, turn, context = w.upstream.asked[-1]["messages"]
            assert (turn["content"][-1]["type"], context["role"]) == ("tool_result", "system")
            serve(w, older(w.upstream, SAY, SAY))
            for _ in range(2):
                got = await w.ask(MESSAGES, KNOWN, stream=stream)
                assert got.headers[CONTEXT_HEADER] == "last"
                (*_, result) = w.upstream.asked[-1]["messages"][-1]["content"]
                assert result["type"] == "tool_result"
                assert "<ledger" in result["content"][-1]["text"]
            assert len(w.upstream.asked) == 4

    run(scenario())


@pytest.mark.parametrize("role", ["auto", "last", "user"])
def test_the_cache_marks_the_history_and_not_the_ledger(role: str) -> None:
    marker = {"type": "ephemeral"}

    async def scenario() -> None:
        async with world(SAY, context_role=role) as w:
            await w.ask(MESSAGES, KNOWN, cache_control=marker)
            asked = w.upstream.asked[-1]
            assert "cache_control" not in asked
            blocks = [b for m in asked["messages"] for b in m["content"] if isinstance(b, dict)]
            (marked,) = [block for block in blocks if "cache_control" in block]
            assert (marked["type"], marked["cache_control"]) == ("tool_result", marker)

    run(scenario())


@pytest.mark.parametrize("role", ["system", "developer", "user"])
def test_a_role_that_was_chosen_stays(role: str) -> None:
    async def scenario() -> None:
        async with world(SAY, SAY, context_role=role) as w:
            for wire in (CHAT, RESPONSES):
                await w.ask(wire, KNOWN)
                body = w.upstream.asked[-1]
                assert (body.get("messages") or body["input"])[-1]["role"] == role
            serve(w, lambda body: refusing("System message must be at the beginning."))
            assert (await w.ask(CHAT, KNOWN)).status == 400
            assert len(w.upstream.asked) == 3

    run(scenario())


def test_models_are_remembered_apart() -> None:
    async def scenario() -> None:
        async with world() as w:
            serve(w, Server(STRICT, *[SAY] * 3))
            await w.ask(CHAT, KNOWN, model="one")
            serve(w, Server(MERGING, *[SAY] * 3))
            got = await w.ask(CHAT, KNOWN, model="two")
            assert CONTEXT_HEADER not in got.headers
            got = await w.ask(CHAT, KNOWN, model="one")
            assert got.headers[CONTEXT_HEADER] == "user"
            assert json.dumps(w.upstream.asked[-1]["messages"][-1]["role"]) == '"user"'

    run(scenario())


def test_a_server_that_streams_its_refusal_is_handed_on() -> None:
    """What has begun as an answer is one."""

    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        return await sent(request, [b'data: {"error": {"message": "System message first"}}\n\n'])

    async def scenario() -> None:
        async with world(respond) as w:
            got = await w.ask(CHAT, KNOWN, stream=True)
            assert got.status == 502
            assert len(w.upstream.asked) == 1

    run(scenario())
