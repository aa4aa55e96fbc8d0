"""OpenAI's Chat Completions, or anything that speaks it, in a plain loop."""

import httpx2
from openai import OpenAI

from examples.scripted import SAYS, openai_transport, show
from ledgeragent.adapters.openai_chat import GuardedChat
from ledgeragent.demo.shop.shop import Shop, tool_schemas

shop = Shop()
client = OpenAI(api_key="none", http_client=httpx2.Client(transport=openai_transport()))

chat = GuardedChat(
    "shop", tools=tool_schemas(), run=lambda call: shop.execute(call).content, watch=show
)
chat.hear(SAYS)
while (message := chat.step(client, model="gpt-5.2")).tool_calls:
    pass
print(message.content)
