"""OpenAI's Chat Completions, streamed: its words are shown as they come, its calls judged when whole."""

from openai import OpenAI
from openai.lib.streaming.chat import ChatCompletionStreamState

from examples.scripted import SAYS, show
from examples.streaming import ScriptedServer
from ledgeragent.adapters.openai_chat import GuardedChat
from ledgeragent.demo.shop.shop import Shop, tool_schemas

tools = tool_schemas()
with (
    Shop() as shop,
    ScriptedServer() as server,
    OpenAI(api_key="none", base_url=f"{server.url}/v1") as client,
):
    chat = GuardedChat("shop", tools=tools, run=lambda call: shop.execute(call).content, watch=show)
    chat.hear(SAYS)
    calls = True
    while calls:
        whole = ChatCompletionStreamState()
        for chunk in client.chat.completions.create(
            model="gpt-5.2", messages=chat.prompt(), tools=tools, stream=True
        ):
            whole.handle_chunk(chunk)
            print(chunk.choices[0].delta.content or "", end="", flush=True)
        reply = whole.get_final_completion().choices[0].message
        chat.answer(reply)
        calls = bool(reply.tool_calls)
    print()
