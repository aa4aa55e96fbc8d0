"""Wire names: calls under the pack's names, texts under the agent's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.session.wirenames import WireNames
from ledgeragent.types import Reply, ToolCall, UserMessage

NAMES = WireNames({"shop_get_order": "get_order", "shop_get": "get"})


def test_calls_are_read_under_the_packs_names() -> None:
    reply = Reply(text="So.", calls=(ToolCall(name="shop_get_order"), ToolCall(name="other")))
    hello = UserMessage(text="shop_get_order")
    told, named = NAMES.messages([hello, reply])
    assert told is hello and isinstance(named, Reply)
    assert [call.name for call in named.calls] == ["get_order", "other"]
    assert NAMES.messages([Reply(calls=reply.calls[1:])])[0] == Reply(calls=reply.calls[1:])


def test_texts_name_tools_as_the_agent_does() -> None:
    text = "call get_order(order_id=...) or get(x); forget_order(y) and budget get_order stay"
    assert NAMES.spoken(text) == (
        "call shop_get_order(order_id=...) or shop_get(x); forget_order(y) and budget get_order stay"
    )


@given(st.text(max_size=30))
def test_without_other_names_nothing_changes(text: str) -> None:
    assert WireNames().spoken(text) == text
    assert WireNames().tool(text) == text
