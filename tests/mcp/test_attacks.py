"""The relay under attack: calls in flight, ids used twice, tasks, odd results, results that never come."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("mcp", reason="mcp is not installed")

from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from ledgeragent.adapters.common import Policy
from ledgeragent.demo.shop.shop import Shop
from ledgeragent.mcp.relay import Relay
from ledgeragent.types import ToolCall
from tests.mcp.test_relay import called, initialized, request, response

ORDER = {"order_id": "G-1010"}


def read(relay: Relay, shop: Shop) -> None:
    """The customer and the order, read; what follows has the ids from 4 on."""
    called(relay, shop, 2, "find_customer", email="joris@peeters.example")
    called(relay, shop, 3, "get_order", **ORDER)


def cancelling(number: Any, **more: Any) -> JSONRPCRequest:
    return request("tools/call", number, name="cancel_order", arguments=ORDER, **more)


def done(relay: Relay, number: Any = 4) -> Any:
    return relay.from_server(response(number, content=[{"type": "text", "text": "null"}]))


def writes(relay: Relay) -> list[str]:
    return [call.name for call in relay.conversation.ledger.writes]


def doubts(relay: Relay) -> list[str]:
    return [doubt.call.name for doubt in relay.conversation.ledger.unconfirmed]


@pytest.fixture
def relay() -> Relay:
    """A connection on which the order was read."""
    relay = initialized(tools={})
    with Shop() as shop:
        read(relay, shop)
    return relay


@pytest.mark.parametrize("method", ["tools/list", "ping", "prompts/list", "tasks/get", "x/y"])
def test_no_request_takes_the_id_of_a_call_that_is_open(relay: Relay, method: str) -> None:
    relay.from_client(cancelling(4))
    step = relay.from_client(request(method, 4))
    assert not step.to_server and step.to_client[0].error.code == -32600
    done(relay)
    assert writes(relay) == ["cancel_order"]


@pytest.mark.parametrize("method", ["tools/list", "ping", "x/y"])
def test_no_call_takes_the_id_of_a_request_that_is_open(relay: Relay, method: str) -> None:
    relay.from_client(request(method, 4))
    step = relay.from_client(cancelling(4))
    assert not step.to_server and step.to_client[0].error.code == -32600


@pytest.mark.parametrize(("asked", "answered"), [(4, "4"), ("4", 4)])
def test_an_id_answered_in_another_type_is_the_same_id(
    relay: Relay, asked: Any, answered: Any
) -> None:
    relay.from_client(cancelling(asked))
    step = relay.from_client(cancelling(answered))
    assert not step.to_server and step.to_client[0].error.code == -32600
    done(relay, answered)
    assert writes(relay) == ["cancel_order"]


def test_an_id_is_free_again_once_it_is_answered(relay: Relay) -> None:
    relay.from_client(request("prompts/list", 4))
    relay.from_server(response(4, prompts=[]))
    asked = cancelling(4)
    assert relay.from_client(asked).to_server == (asked,)


def test_a_late_answer_to_a_cancelled_call_is_not_that_of_the_next(relay: Relay) -> None:
    relay.from_client(cancelling(4))
    relay.from_client(
        JSONRPCNotification(
            jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 4}
        )
    )
    step = relay.from_client(request("tools/call", 4, name="get_order", arguments=ORDER))
    assert not step.to_server, "its id is still that of the cancelled call"
    done(relay)
    assert writes(relay) == ["cancel_order"]


def test_a_held_call_is_answered_once_it_has_waited_long_enough(relay: Relay) -> None:
    relay.from_client(cancelling(4))
    relay.from_client(cancelling(5))
    (refused,) = relay.hurried("5").to_client
    assert refused.id == 5 and refused.result["isError"]
    assert "cancel_order" in refused.result["content"][0]["text"]
    assert not relay.hurried("5").to_client, "once"
    (answered,) = done(relay).to_client
    assert answered.id == 4


def test_when_the_server_is_gone_every_open_request_fails(relay: Relay) -> None:
    relay.from_client(cancelling(4))
    relay.from_client(cancelling(5))
    relay.from_client(request("prompts/list", 6))
    errors = relay.closed().to_client
    assert [(e.id, e.error.code) for e in errors] == [(4, -32000), (5, -32000), (6, -32000)]
    assert doubts(relay) == ["cancel_order"], "the one that waited was never begun"


TASK = {"taskId": "t-1", "status": "working", "createdAt": "", "lastUpdatedAt": "", "ttl": None}


def begun(relay: Relay, result: Any = None) -> None:
    """A cancellation that the server goes on with as a task."""
    relay.from_client(cancelling(4, task={"ttl": 60000}))
    relay.from_server(JSONRPCResponse(jsonrpc="2.0", id=4, result=result or {"task": TASK}))


@pytest.mark.parametrize("result", [None, {**TASK, "resultType": "task"}])
def test_a_task_that_was_begun_has_done_nothing_yet(relay: Relay, result: Any) -> None:
    begun(relay, result)
    assert writes(relay) == [] and doubts(relay) == []
    step = relay.from_client(cancelling(5))
    assert not step.to_server and not step.to_client, "the second one waits for it"


def test_the_result_of_a_task_is_that_of_its_call(relay: Relay) -> None:
    begun(relay)
    relay.from_client(cancelling(5))
    relay.from_client(request("tasks/result", 6, taskId="t-1"))
    step = done(relay, 6)
    assert [message.id for message in step.to_client] == [6, 5]
    assert writes(relay) == ["cancel_order"]


def test_a_task_that_failed_has_changed_nothing(relay: Relay) -> None:
    begun(relay)
    relay.from_client(cancelling(5))
    relay.from_client(request("tasks/result", 6, taskId="t-1"))
    failed = response(6, content=[{"type": "text", "text": "busy"}], isError=True)
    assert relay.from_server(failed).to_server == (cancelling(5),)


def test_a_status_with_the_result_in_it_is_the_result(relay: Relay) -> None:
    begun(relay)
    relay.from_client(request("tasks/get", 6, taskId="t-1"))
    ended = {**TASK, "status": "completed", "result": {"content": [], "structuredContent": {}}}
    relay.from_server(JSONRPCResponse(jsonrpc="2.0", id=6, result=ended))
    assert writes(relay) == ["cancel_order"]


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
@pytest.mark.parametrize("notified", [False, True])
def test_a_task_that_ended_unasked_may_have_done_its_work(
    relay: Relay, status: str, notified: bool
) -> None:
    begun(relay)
    ended = {**TASK, "status": status}
    if notified:
        relay.from_server(
            JSONRPCNotification(jsonrpc="2.0", method="notifications/tasks/status", params=ended)
        )
    else:
        relay.from_client(request("tasks/get", 6, taskId="t-1"))
        relay.from_server(JSONRPCResponse(jsonrpc="2.0", id=6, result=ended))
    assert doubts(relay) == ["cancel_order"] and writes(relay) == []
    relay.from_client(request("tasks/result", 7, taskId="t-1"))
    done(relay, 7)
    assert writes(relay) == ["cancel_order"] and doubts(relay) == []


def test_a_task_still_working_changes_nothing(relay: Relay) -> None:
    begun(relay)
    relay.from_client(request("tasks/get", 6, taskId="t-1"))
    relay.from_server(JSONRPCResponse(jsonrpc="2.0", id=6, result=TASK))
    assert writes(relay) == [] and doubts(relay) == []


@pytest.mark.parametrize("code", [-32042, -32602])
def test_a_call_that_asks_for_something_first_was_not_begun(relay: Relay, code: int) -> None:
    relay.from_client(cancelling(4))
    error = JSONRPCError(jsonrpc="2.0", id=4, error={"code": code, "message": "sign in first"})
    relay.from_server(error)
    again = cancelling(5)
    assert relay.from_client(again).to_server == (again,)


def record() -> tuple[str, Any]:
    with Shop() as shop:
        text = str(shop.execute(ToolCall(name="get_order", arguments=ORDER)).content)
    import json

    return text, json.loads(text)


TEXT, VALUE = record()


@pytest.mark.parametrize(
    "result",
    [
        {"content": [{"type": "text", "text": TEXT}]},
        {"content": [], "structuredContent": VALUE},
        {"content": [], "structuredContent": {"result": VALUE}},
        {"content": [{"type": "text", "text": "see below"}], "structuredContent": VALUE},
        {"content": [{"type": "resource", "resource": {"uri": "shop://o", "text": TEXT}}]},
        {
            "content": [
                {"type": "text", "text": TEXT},
                {"type": "image", "data": "", "mimeType": "x"},
            ]
        },
        {"content": [{"type": "text", "text": t} for t in TEXT.partition(",")]},
    ],
    ids=["text", "structured", "wrapped", "both", "resource", "image", "pieces"],
)
def test_a_record_is_read_however_it_is_packed(result: Any) -> None:
    relay = initialized(tools={})
    relay.from_client(request("tools/call", 2, name="get_order", arguments=ORDER))
    relay.from_server(response(2, **result))
    assert [str(entry.path) for entry in relay.conversation.ledger] == ["orders.G-1010"]


def test_a_listed_tool_that_the_pack_lacks_is_told_as_such() -> None:
    relay = initialized(tools={})
    relay.from_client(request("tools/list", 2))
    relay.from_server(response(2, tools=[{"name": "get_order"}, {"name": "send_gift"}]))
    for number, name in ((3, "send_gift"), (4, "no_such")):
        step = relay.from_client(request("tools/call", number, name=name, arguments={}))
        text = step.to_client[0].result["content"][0]["text"]
        assert text.startswith("Error: this call was not executed")
        assert ("not covered by the policy pack" in text) is (name == "send_gift")
        assert ("there is no tool named" in text) is (name == "no_such")


def test_one_policy_serves_connections_that_know_nothing_of_each_other() -> None:
    policy = Policy("shop")
    first, second = Relay(policy), Relay(policy)
    with Shop() as shop:
        read(first, shop)
    assert not list(second.conversation.ledger)
