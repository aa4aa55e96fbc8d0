"""Items of the Responses API: a run's input with the ledger, and its history and replies as the core's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from ledgeragent.session.conversation import Conversation
from ledgeragent.session.outcome import plain
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

if TYPE_CHECKING:
    from agents import Handoff, TResponseInputItem
    from agents.items import TResponseOutputItem

RunInput: TypeAlias = "str | list[TResponseInputItem]"
"""The input of a run or request: the user's text, or a transcript."""

Item: TypeAlias = Mapping[str, Any]
"""An item as data, whatever its type."""


FAILED = "An error occurred while running the tool."
"""The SDK's words, unless told otherwise, in the place of a tool that raised whatever it was."""

_UNAPPROVED = "Tool execution was not approved."
"""Its words in the place of a tool that somebody did not let run."""


def with_ledger(input: RunInput, conversation: Conversation) -> RunInput:
    """The input with the ledger block behind it, unless verdicts change nothing."""
    if conversation.shadow:
        return input
    return [*items_of(input), {"role": "user", "content": conversation.context()}]


def items_of(input: RunInput) -> list[TResponseInputItem]:
    """The input as items."""
    return [{"role": "user", "content": input}] if isinstance(input, str) else list(input)


def judge(
    conversation: Conversation,
    output: Iterable[TResponseOutputItem],
    handoffs: Iterable[Handoff[Any, Any]],
) -> None:
    """Judges the calls of tools; handing over to another agent is no call of a tool."""
    items = list(output)
    calls = [item for item in items if item.type == "function_call"]
    if not conversation.shadow:
        for item, name in zip(calls, conversation.ids([c.call_id for c in calls]), strict=True):
            item.call_id = name
    passing = {handoff.tool_name for handoff in handoffs}
    of_tools = tuple(_call(as_data(c)) for c in calls if c.name not in passing)
    text = "".join(_text(item.content) for item in items if item.type == "message")
    conversation.judge(Reply(text=text, calls=of_tools))


def as_data(item: object) -> Item:
    """An item as data, whether it is a model or is data already."""
    if isinstance(item, Mapping):
        return item
    data: Item = item.model_dump()  # type: ignore[attr-defined]
    return data


def _call(item: Item) -> ToolCall:
    return ToolCall.parse(name=item["name"], arguments=item["arguments"], id=item["call_id"])


def _text(content: object) -> str:
    """The text of a message or an output: as it is, or of all its parts."""
    if isinstance(content, str) or not isinstance(content, Iterable):
        return content if isinstance(content, str) else ""
    parts = (part if isinstance(part, Mapping) else vars(part) for part in content)
    return "".join(part.get("text") or "" for part in parts)


def map_history(input: RunInput) -> Iterator[Message]:
    """Input items of the Responses API as messages of the core."""
    text, calls = "", list[ToolCall]()
    for item in map(as_data, items_of(input)):
        kind = item.get("type") or "message"
        if kind == "function_call":
            calls.append(_call(item))
            continue
        if kind == "message" and item.get("role") == "assistant":
            text += _text(item.get("content"))
            continue
        if calls or text:
            yield Reply(text=text, calls=tuple(calls))
            text, calls = "", []
        if kind == "function_call_output":
            yield _return(item)
        elif kind == "message" and item.get("role") == "user":
            yield UserMessage(text=_text(item.get("content")))
    if calls or text:
        yield Reply(text=text, calls=tuple(calls))


def _return(item: Item) -> ToolReturn:
    text = _text(item["output"])
    is_lost = text.startswith(FAILED) or item.get("status") not in (None, "completed")
    failed = is_lost or text.startswith(_UNAPPROVED)
    content = plain(item["output"])
    return ToolReturn(call_id=item["call_id"], content=content, error=failed, lost=is_lost)
