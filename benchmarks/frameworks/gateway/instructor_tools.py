# /// script
# dependencies = ["instructor==1.17.*"]
# [tool.ledgeragent]
# wires = ["chat"]
# streams = [false]
# ///
"""Instructor, `Mode.TOOLS`, after a loop of the `openai` client"""

from typing import Any

import instructor
from _shop import KEY, POLICY, main, task
from openai import OpenAI
from pydantic import BaseModel


class Outcome(BaseModel):
    """What was refunded."""

    amount: float


async def talk(turns: list[str]) -> Any:
    """A loop over the client, and at its end an outcome read by Instructor."""
    client = OpenAI(base_url=task.openai, api_key=KEY)
    messages: list[Any] = [{"role": "system", "content": POLICY}]
    for text in turns:
        messages.append({"role": "user", "content": text})
        while True:
            made = client.chat.completions.create(
                model=task.model, messages=messages, tools=task.schemas
            )
            message = made.choices[0].message
            messages.append({"content": None, **message.model_dump(exclude_none=True)})
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                content = task.execute(call.function.name, call.function.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    reader = instructor.from_openai(client, mode=instructor.Mode.TOOLS)
    asked = [*messages, {"role": "user", "content": "What was refunded?"}]
    outcome = reader.chat.completions.create(
        model=task.model, messages=asked, response_model=Outcome
    )
    return f"{message.content} {outcome.amount}"


main(talk)
