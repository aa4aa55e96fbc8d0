"""The timeline: what each step taught the ledger, and what the gate answered on which facts."""

from __future__ import annotations

import json

from ledgeragent import load_domain
from ledgeragent.offline.changes import differing
from ledgeragent.offline.timeline import TimelineStep, timeline
from ledgeragent.offline.traces import Trace
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

SHOP = load_domain("shop")


def _order(status: str, due: float) -> str:
    return json.dumps(
        {
            "order_id": "G-1",
            "customer_id": "C-1",
            "status": status,
            "due": due,
            "vouchers": {},
            "lines": {},
        }
    )


def _call(name: str, **arguments: str) -> Reply:
    return Reply(calls=(ToolCall(name=name, arguments=arguments, id=name),))


def _steps(*messages: Message) -> list[TimelineStep]:
    return timeline(Trace(run="r", messages=messages), SHOP)


READ = (
    _call("get_order", order_id="G-1"),
    ToolReturn(call_id="get_order", content=_order("open", 5)),
)
WHO = (
    _call("find_customer", email="a@b.example"),
    ToolReturn(call_id="find_customer", content='"C-1"'),
)


def test_a_first_read_is_new_and_tells_its_call() -> None:
    (change,) = _steps(UserMessage(text="hello"), *READ)[2].changes
    assert (change.path, change.kind, change.turn) == ("orders.G-1", "new", 1)
    assert change.source == 'get_order(order_id="G-1")'
    assert json.loads(change.value or "")["due"] == 5


def test_the_same_read_again_confirms_and_another_value_changes() -> None:
    later = ToolReturn(call_id="get_order", content=_order("packed", 5))
    steps = _steps(*READ, *READ, READ[0], later)
    assert steps[3].changes[0].kind == "confirmed" and steps[3].changes[0].value is None
    (difference,) = steps[5].changes[0].differences
    assert difference == ("status", '"open"', '"packed"')


def test_a_write_leaves_marks_and_a_verdict_with_its_facts() -> None:
    cancel = _call("cancel_order", order_id="G-1")
    steps = _steps(*WHO, *READ, cancel, ToolReturn(call_id="cancel_order", content="{}"))
    answer = steps[4].calls[0].answer
    assert answer is not None and (answer.outcome, answer.executed) == ("allow", True)
    assert {f.path: f.value for f in answer.facts}["orders.G-1.status"] == '"open"'
    (change,) = steps[5].changes
    assert change.kind == "stale" and {m.fields for m in change.stale} >= {"status", "due"}
    assert {m.by for m in change.stale} == {"cancel_order"}


def test_a_call_without_evidence_names_the_read() -> None:
    answer = _steps(*WHO, _call("cancel_order", order_id="G-1"))[2].calls[0].answer
    assert answer is not None and answer.outcome == "evidence" and not answer.executed
    assert any(read.startswith("get_order(") for found in answer.findings for read in found.reads)


def test_a_return_that_was_not_stored_says_why() -> None:
    steps = _steps(READ[0], ToolReturn(call_id="get_order", content="Error: no such order"))
    assert steps[1].failed and steps[1].skipped == "the read failed" and not steps[1].changes


def test_differences_go_into_objects_and_take_lists_whole() -> None:
    found = list(
        differing({"a": {"b.c": 1}, "l": [1], "gone": 0}, {"a": {"b.c": 2}, "l": [2], "new": 1})
    )
    assert [d.field for d in found] == ['a."b.c"', "l", "gone", "new"]
    assert found[2].after == "" and found[3].before == ""
