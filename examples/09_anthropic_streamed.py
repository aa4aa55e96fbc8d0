"""Anthropic's Messages API, streamed: its words are shown as they come, its calls judged when whole."""

from anthropic import Anthropic

from examples.scripted import SAYS, show
from examples.streaming import ScriptedServer
from ledgeragent.adapters.anthropic import GuardedMessages
from ledgeragent.demo.shop.shop import Shop, tool_schemas

functions = [schema["function"] for schema in tool_schemas()]
tools = [
    {"name": f["name"], "description": f["description"], "input_schema": f["parameters"]}
    for f in functions
]
with (
    Shop() as shop,
    ScriptedServer() as server,
    Anthropic(api_key="none", base_url=server.url) as client,
):
    chat = GuardedMessages(
        "shop", tools=tools, run=lambda call: shop.execute(call).content, watch=show
    )
    chat.hear(SAYS)
    reason = "tool_use"
    while reason == "tool_use":
        with client.messages.stream(
            model="claude-opus-5", max_tokens=500, messages=chat.prompt(), tools=tools
        ) as stream:
            for text in stream.text_stream:
                print(text, end="", flush=True)
            reply = stream.get_final_message()
        chat.answer(reply)
        reason = reply.stop_reason
    print()
