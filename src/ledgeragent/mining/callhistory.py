"""Call histories: recorded conversations as the calls of tools in them, each with its outcome."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ledgeragent.offline.traces import Trace
from ledgeragent.returned import parse_value, unwrapped
from ledgeragent.types import Json, Reply, ToolCall, ToolReturn, is_error

_MOST_REMEMBERED = 512
_SENTENCE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredCall:
    """One call that was answered: `value` is what it returned, `failure` the text of a refusal.

    `returned` is the return as it was recorded.
    """

    call: ToolCall
    returned: ToolReturn
    value: Json = None
    failure: str | None = None

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return self.call.name


@dataclass(frozen=True, slots=True, kw_only=True)
class CallHistory:
    """The answered calls of one conversation. `number` counts conversations from 1.

    `unanswered` are the tools of calls that nothing answered, such as one that ends the conversation.
    `parameters` is what a journal says of the values of the pack's.
    """

    number: int
    run: str
    reward: float | None
    steps: tuple[AnsweredCall, ...]
    unanswered: tuple[str, ...] = ()
    parameters: Json = None


def history_of(trace: Trace, number: int) -> CallHistory:
    """The history of a conversation."""
    waiting: dict[str, list[ToolCall]] = {}
    steps = (*_steps(trace, waiting),)
    unanswered = (*(call.name for calls in waiting.values() for call in calls),)
    return CallHistory(
        number=number,
        run=trace.run,
        reward=trace.reward,
        steps=steps,
        unanswered=unanswered,
        parameters=trace.parameters,
    )


def _steps(trace: Trace, waiting: dict[str, list[ToolCall]]) -> Iterator[AnsweredCall]:
    """The answered calls; `waiting` holds the others by their ids at the end."""
    for message in trace.messages:
        if type(message) is Reply:
            for call in message.calls:
                waiting.setdefault(call.id, []).append(call)
        elif type(message) is ToolReturn and waiting.get(message.call_id):
            # One id may name several calls: their answers come in the order of the calls.
            yield _step(waiting[message.call_id].pop(0), message)


def _step(call: ToolCall, returned: ToolReturn) -> AnsweredCall:
    content = returned.content
    value = _value_of_text(content) if isinstance(content, str) else _value(content)
    if returned.failed or is_error(value) or call.malformed is not None:
        return AnsweredCall(call=call, returned=returned, failure=str(value))
    if isinstance(value, dict) and value.keys() == {"error"}:
        return AnsweredCall(call=call, returned=returned, failure=str(value["error"]))
    return AnsweredCall(call=call, returned=returned, value=value)


@lru_cache(_MOST_REMEMBERED)
def _value_of_text(content: str) -> Json:
    """The value of a return's text. Agents read the same records over and over."""
    return _value(content)


def _value(content: Json) -> Json:
    """The object, list or text in a return; text that holds a bare number or word stays text."""
    inner = unwrapped(content)
    if not isinstance(inner, str):
        return inner
    try:
        value = parse_value(inner)
    except ValueError:
        return inner.strip()
    if isinstance(value, dict | list):
        outer = unwrapped(value)
        return outer if isinstance(outer, dict | list) else value
    return value if isinstance(value, str) else inner.strip()


def is_prose(value: Json) -> bool:
    """True for a sentence, such as one by which a host refuses a call."""
    return isinstance(value, str) and value.count(" ") >= _SENTENCE
