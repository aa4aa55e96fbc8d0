"""Render modes on small conversations of the shop: what is said where, and how short."""

from __future__ import annotations

import json

import pytest

from ledgeragent import load_domain
from ledgeragent.render import render
from ledgeragent.session.presenter import MODES, Prompt, RenderMode, present
from ledgeragent.state import State
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn, UserMessage

SHOP = load_domain("shop")
ORDER = {"order_id": "G-1", "status": "open", "due": 5.0, "vouchers": {}, "lines": {}}


def _called(name: str, answer: Json, **arguments: str) -> list[Message]:
    call = ToolCall(name=name, arguments=arguments, id=name)
    return [Reply(calls=(call,)), ToolReturn(call_id=name, content=json.dumps(answer))]


READ = _called("get_order", ORDER, order_id="G-1")
CANCEL = _called("cancel_order", {"done": "order cancelled"}, order_id="G-1")
SEARCH = _called(
    "search_products", [{"sku": f"s{n}", "name": "n", "price": n} for n in range(9)], text="n"
)


def _prompt(mode: RenderMode, *messages: Message) -> Prompt:
    states: list[State] = []
    for message in messages:
        states.append((states[-1] if states else State()).observe(message, SHOP))
    return present(messages, states, mode)


def _content(message: Message) -> str:
    assert isinstance(message, ToolReturn)
    return str(message.content)


def test_full_is_the_paper_s() -> None:
    messages = (UserMessage(text="hello"), *READ)
    prompt = _prompt("full", *messages)
    state = State()
    for message in messages:
        state = state.observe(message, SHOP)
    assert prompt.messages == messages and prompt.tail == render(state.ledger)


def test_compact_shows_a_record_once_in_the_block() -> None:
    prompt = _prompt("compact", *READ)
    assert _content(prompt.messages[1]) == "(in the ledger: orders.G-1)"
    assert '"due":5.0' in prompt.tail


def test_compact_keeps_a_return_that_no_record_holds_whole() -> None:
    prompt = _prompt("compact", *SEARCH)
    assert prompt.messages[1] == SEARCH[1]
    assert "(0) 9 products" in prompt.tail and '"price"' not in prompt.tail


def test_index_shows_a_return_under_its_path_and_only_lists_it_in_the_block() -> None:
    prompt = _prompt("index", UserMessage(text="hello"), *READ)
    assert _content(prompt.messages[2]) == f"[orders.G-1] {json.dumps(ORDER)}"
    assert "(1) orders.G-1" in prompt.tail and "5.0" not in prompt.tail


def test_index_marks_what_a_write_changed_and_forgets_it_when_read_again() -> None:
    marked = _prompt("index", *READ, *CANCEL).tail
    assert "orders.G-1 (0) [STALE since cancel_order: status, vouchers, due, refunded]" in marked
    assert "STALE since" not in _prompt("index", *READ, *CANCEL, *READ).tail


@pytest.mark.parametrize("mode", MODES)
def test_a_failed_read_is_shown_as_it_is(mode: RenderMode) -> None:
    failed = ToolReturn(call_id="get_order", content="Error: there is no order G-1")
    assert _prompt(mode, READ[0], failed).messages[1] == failed


def test_nothing_observed_needs_no_block() -> None:
    assert _prompt("compact").tail == _prompt("index", UserMessage(text="hello")).tail == ""
