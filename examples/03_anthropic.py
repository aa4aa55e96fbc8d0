"""Anthropic's Messages API in a plain loop."""

import httpx2
from anthropic import Anthropic

from examples.scripted import SAYS, anthropic_transport, show
from ledgeragent.adapters.anthropic import GuardedMessages
from ledgeragent.demo.shop.shop import Shop, tool_schemas

shop = Shop()
client = Anthropic(api_key="none", http_client=httpx2.Client(transport=anthropic_transport()))
functions = [schema["function"] for schema in tool_schemas()]
tools = [
    {"name": f["name"], "description": f["description"], "input_schema": f["parameters"]}
    for f in functions
]

chat = GuardedMessages("shop", tools=tools, run=lambda call: shop.execute(call).content, watch=show)
chat.hear(SAYS)
while (
    message := chat.step(client, model="claude-opus-5", max_tokens=500)
).stop_reason == "tool_use":
    pass
print(message.content[0].text)
