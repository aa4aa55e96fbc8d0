# /// script
# dependencies = ["litellm==1.110.2"]
# [tool.ledgeragent]
# wires = ["chat"]
# ///
"""LiteLLM: a loop around `acompletion`"""

from typing import Any

import litellm
from _shop import KEY, POLICY, main, task


async def asked(messages: list[Any]) -> Any:
    """The model's message."""
    where = {"model": f"openai/{task.model}", "api_base": task.openai, "api_key": KEY}
    answer: Any = await litellm.acompletion(
        **where, messages=messages, tools=task.schemas, stream=task.stream
    )
    if task.stream:
        answer = litellm.stream_chunk_builder([chunk async for chunk in answer])
    return answer.choices[0].message


async def talk(turns: list[str]) -> Any:
    """A loop around the client."""
    messages: list[Any] = [{"role": "system", "content": POLICY}]
    for text in turns:
        messages.append({"role": "user", "content": text})
        while True:
            message = await asked(messages)
            messages.append({"content": None, **message.model_dump(exclude_none=True)})
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                content = task.execute(call.function.name, call.function.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    return message.content


main(talk)
