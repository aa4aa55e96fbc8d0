"""A scripted model for the OpenAI Agents SDK; the SDK's own came only after the oldest version tried."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any

from agents import Model, ModelResponse, Usage
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputText,
)


def assistant_message(text: str) -> ResponseOutputMessage:
    """Words of the model."""
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id="m", type="message", role="assistant", status="completed", content=[part]
    )


def function_call(
    name: str, arguments: dict[str, Any] | str, *, call_id: str
) -> ResponseFunctionToolCall:
    """A call of a tool."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ResponseFunctionToolCall(
        type="function_call", name=name, arguments=text, call_id=call_id
    )


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request: its `input`, a text or items."""

    input: Any


class ScriptedModel(Model):
    """Gives its `replies` in order. `calls` are the requests so far."""

    def __init__(self, replies: Iterable[list[Any]]) -> None:
        self.calls: list[ModelCall] = []
        self._replies = iter(replies)

    async def get_response(
        self, system_instructions: Any, input: Any, *rest: Any, **history: Any
    ) -> ModelResponse:
        """The next reply."""
        return ModelResponse(output=self._next(input), usage=Usage(), response_id=None)

    async def stream_response(
        self, system_instructions: Any, input: Any, *rest: Any, **history: Any
    ) -> AsyncIterator[Any]:
        """The next reply, item by item."""
        output = self._next(input)
        for index, item in enumerate(output):
            yield ResponseOutputItemDoneEvent(
                type="response.output_item.done",
                item=item,
                output_index=index,
                sequence_number=index,
            )
        yield ResponseCompletedEvent(
            type="response.completed", response=_response(output), sequence_number=len(output)
        )

    def _next(self, input: Any) -> list[Any]:
        self.calls.append(ModelCall(input if isinstance(input, str) else list(input)))
        return next(self._replies)


def _response(output: list[Any]) -> Response:
    return Response(
        id="r",
        object="response",
        created_at=0,
        model="scripted",
        output=output,
        parallel_tool_calls=True,
        tool_choice="auto",
        tools=[],
    )
