"""Assembly: what is put together field by field is what its class makes, in every field."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from ledgeragent.engines.assembly import reply, tool_call, tool_return, user_message
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

CALL = ToolCall(name="find", arguments={"a": [1]}, id="c1", malformed="{")
PAIRS = [
    (user_message("hello"), UserMessage(text="hello")),
    (reply("yes", (CALL,), "2026-01-01"), Reply(text="yes", calls=(CALL,), at="2026-01-01")),
    (
        tool_return("c1", {"a": 1}, True, True),
        ToolReturn(call_id="c1", content={"a": 1}, error=True, lost=True),
    ),
    (tool_call("find", {"a": [1]}, "c1", "{"), CALL),
]


@pytest.mark.parametrize(("assembled", "made"), PAIRS, ids=lambda one: type(one).__name__)
def test_every_field_is_as_its_class_sets_it(
    assembled: Message | ToolCall, made: Message | ToolCall
) -> None:
    assert type(assembled) is type(made)
    for field in fields(made):
        assert getattr(assembled, field.name) == getattr(made, field.name)
    assert repr(assembled) == repr(made)
    with pytest.raises(FrozenInstanceError):
        setattr(assembled, fields(made)[0].name, "other")


def test_a_call_still_keeps_what_it_asks_for() -> None:
    call = tool_call("find", {"b": 1, "a": 2}, "", None)
    assert call.intent == ("find", '{"a":2,"b":1}')
    assert call == ToolCall(name="find", arguments={"a": 2, "b": 1})
