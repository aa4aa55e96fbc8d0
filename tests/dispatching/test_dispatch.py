"""Tools that stand before others: what a call of one means, at every door, and what cannot be told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent import Reply, Session, ToolCall, ToolReturn, load_domain
from ledgeragent.dispatching import (
    Dispatch,
    DispatchingDomain,
    dispatching,
    explained,
    inner_call,
    inner_reply,
)
from ledgeragent.errors import DataError
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.judging import judge
from ledgeragent.offline.traces import Trace
from ledgeragent.state import State
from ledgeragent.verdict import Decision
from tests.lending.domain import LIBRARY

DOOR = Dispatch(tool="run_tool", name="tool", arguments="with", unlock="unlock_tool")
BESIDE = Dispatch(tool="run_tool", name="tool")
SHOP = dispatching(load_domain("shop"), DOOR)
CANCEL = {"order_id": "G-1007"}


def run(arguments: Any, tool: object = "cancel_order", **beside: Any) -> ToolCall:
    return ToolCall(name="run_tool", arguments={"tool": tool, "with": arguments, **beside}, id="7")


@pytest.mark.parametrize("arguments", [CANCEL, json.dumps(CANCEL)])
def test_a_call_means_the_tool_that_it_names_with_arguments_as_object_or_text(
    arguments: Any,
) -> None:
    inner = SHOP.inner(run(arguments))
    assert (inner.name, inner.arguments, inner.id) == ("cancel_order", CANCEL, "7")
    assert inner.malformed is None


def test_arguments_may_stand_beside_the_name() -> None:
    call = ToolCall(name="run_tool", arguments={"tool": "cancel_order", **CANCEL})
    assert BESIDE.inner(call).arguments == CANCEL
    assert BESIDE.inner(BESIDE.outer(BESIDE.inner(call))) == BESIDE.inner(call)


def test_no_arguments_are_none() -> None:
    assert SHOP.inner(ToolCall(name="run_tool", arguments={"tool": "list_orders"})).arguments == {}


@pytest.mark.parametrize(
    "arguments", ["not json", "[1]", '{"order_id": "a", "order_id": "b"}', 7, ["G-1007"]]
)
def test_arguments_that_are_no_object_are_refused(arguments: Any) -> None:
    inner = SHOP.inner(run(arguments))
    assert inner.malformed is not None
    assert Gate(domain=SHOP).judge(inner, Ledger()).decision is Decision.REVISE


def test_so_are_arguments_that_nobody_would_read() -> None:
    assert SHOP.inner(run(CANCEL, order_id="G-1008")).malformed is not None


@pytest.mark.parametrize("tool", [None, 3, "", ["cancel_order"], "run_tool"])
def test_a_call_that_names_no_tool_is_refused_under_its_own_name(tool: object) -> None:
    call = run(CANCEL, tool)
    verdict = Gate(domain=SHOP).judge(SHOP.inner(call), Ledger())
    assert verdict.decision is Decision.REVISE
    assert "does not say which tool" in verdict.objection or "no tool" in verdict.objection


def test_so_is_one_that_no_door_has_read() -> None:
    assert Gate(domain=SHOP).judge(run(CANCEL), Ledger()).decision is Decision.REVISE


def test_a_tool_that_the_pack_does_not_list_is_unknown_behind_a_door_too() -> None:
    verdict = Gate(domain=SHOP).judge(SHOP.inner(run({}, "format_disk")), Ledger())
    assert verdict.findings[0].predicate == "gate/unknown-tool"


def test_a_door_within_a_door_is_opened_and_a_long_row_of_them_is_not() -> None:
    nested = run(json.dumps({"tool": "cancel_order", "with": CANCEL}), "run_tool")
    assert SHOP.inner(nested).name == "cancel_order"
    for _ in range(6):
        nested = run(dict(nested.arguments), "run_tool")
    assert SHOP.inner(nested).name == "run_tool"


def test_tools_behind_a_door_are_had_where_the_door_is() -> None:
    assert SHOP.bind(["run_tool"]).has("get_order")
    assert not SHOP.bind(["list_orders"]).has("get_order")
    assert isinstance(SHOP.bind(["run_tool"]), DispatchingDomain)
    assert isinstance(SHOP.literal(), DispatchingDomain)
    some = dispatching(
        load_domain("shop"), Dispatch(tool="run_tool", name="tool", tools=("get_*",))
    )
    assert some.bind(["run_tool"]).has("get_order")
    assert not some.bind(["run_tool"]).has("find_customer")


def test_the_model_hears_how_a_tool_behind_a_door_is_called() -> None:
    text = explained('x was not executed: call get_order(order_id="G-1") first', SHOP)
    assert text.endswith(
        "(NAME that is not in your list of tools: run_tool(tool=NAME, with=...), after "
        "unlock_tool(tool=NAME))"
    )
    assert explained("nothing of ours (really)", SHOP) == "nothing of ours (really)"
    assert explained("call get_order()", LIBRARY) == "call get_order()"


def test_other_domains_leave_calls_alone() -> None:
    assert inner_call(run(CANCEL), LIBRARY) == run(CANCEL)


def test_a_session_judges_the_inner_calls_and_gives_back_those_of_the_host() -> None:
    session = Session(SHOP)
    refund = {"order_id": "G-1012", "parcel_id": "P-33", "sku": "a", "quantity": 1, "amount": 2.0}
    reply = Reply(
        calls=(
            run({"email": "ada@example.org"}, "find_customer"),
            ToolCall(name="run_tool", arguments={"tool": "refund_item", "with": refund}, id="8"),
        )
    )
    judged = session.filter(reply)
    assert judged.execute == reply.calls[:1]
    assert judged.reply == reply
    assert [verdict.call.name for verdict in judged.verdicts] == ["find_customer", "refund_item"]
    assert [returned.call_id for returned in judged.returns] == ["8"]
    session.observe(ToolReturn(call_id="7", content="C-104"))
    assert [str(entry.path) for entry in session.ledger] == ["auth.customer_id"]


def test_with_drop_the_reply_holds_what_is_allowed_as_the_host_has_it() -> None:
    session = Session(SHOP, delivery="drop")
    reply = Reply(text="One moment.", calls=(run(CANCEL), run({"email": "a@b.c"}, "find_customer")))
    judged = session.filter(reply)
    assert judged.reply == Reply(text="One moment.", calls=reply.calls[1:])


ORDER = '{"order_id": "G-1007", "status": "pending"}'


def after(domain: DispatchingDomain, *calls_and_answers: Any) -> Ledger:
    """The ledger of a host that ran these calls, each with its answer behind it."""
    state = State()
    for call, answer in zip(calls_and_answers[::2], calls_and_answers[1::2], strict=True):
        state = state.observe(inner_reply(Reply(calls=(call,)), domain), domain)
        state = state.observe(ToolReturn(call_id=call.id, content=answer), domain)
    return state.ledger


BEHIND = dispatching(load_domain("shop"), Dispatch(tool="run_tool", name="tool", tools=("get_*",)))


@pytest.mark.parametrize("undecided", [Decision.BLOCK, Decision.ALLOW])
@pytest.mark.parametrize("unknown", [Decision.REVISE, Decision.ALLOW])
@pytest.mark.parametrize(
    "name",
    [
        *("cancel_order", "find_customer", "run_tool", "GET_ORDER", " get_order", "get-order"),
        *("Get_Order", "get_order\n", "get__order", "\uff47et_order", "getOrder"),
    ],
)
def test_a_tool_that_is_not_behind_a_door_is_not_called_through_it(
    name: str, unknown: Decision, undecided: Decision
) -> None:
    """Nor is one whose name may only pass for that of a tool where the inner tool is looked up."""
    gate = Gate(domain=BEHIND, unknown=unknown, undecided=undecided)
    call = BEHIND.inner(ToolCall(name="run_tool", arguments={"tool": name, "order_id": "G-1007"}))
    verdict = gate.judge(call, Ledger())
    assert verdict.decision is Decision.REVISE
    assert "is none of the tools that are called so" in verdict.objection


@pytest.mark.parametrize("name", ["cancel_order", "Get_Order", None])
def test_neither_is_its_answer_evidence(name: str | None) -> None:
    call = ToolCall(name="run_tool", arguments={"tool": name, "order_id": "G-1007"}, id="1")
    assert [*after(BEHIND, call, ORDER)] == []


@pytest.mark.parametrize(
    "call",
    [
        ToolCall(name="run_tool", arguments={"tool": "Cancel_Order"}, id="2"),
        ToolCall(name="run_tool", arguments={}, id="2"),
        ToolCall(name="cancel_order", malformed='{"order_id": "G-1007",}', id="2"),
        ToolCall(name="run_tool", arguments={"tool": "cancel_order", "with": "{,}"}, id="2"),
        ToolCall(name="run_tool", id="2", arguments={**run(CANCEL).arguments, "order_id": "G-1"}),
    ],
)
@pytest.mark.parametrize("domain", [SHOP, BEHIND])
def test_what_was_executed_and_cannot_be_told_may_have_changed_everything(
    domain: DispatchingDomain, call: ToolCall
) -> None:
    """A host that repairs arguments runs more than a parser reads in them."""
    read = ToolCall(name="get_order", arguments=CANCEL, id="1")
    (entry,) = after(domain, read, ORDER)
    assert not entry.stale_at(("status",))
    (entry,) = after(domain, read, ORDER, call, "done")
    assert entry.stale_at(("status",))


PACK = """
schema: ledgeragent/v1
domain: lending
records:
  Loan: {loan_id: str, renewals: int}
reads:
  get_loan_11: {to: "loans.{loan_id}", record: Loan}
writes:
  renew_loan_12:
    arguments: {loan_id: str}
    touches:
      - loans.{loan_id}: renewals
dispatch:
  call_tool: {name: tool, arguments: with, tools: "*_1?"}
clauses:
  - {id: lending/renewals, section: Loans, summary: Twice at most.}
rules:
  - id: lending/renewals
    guards: renew_loan_12
    requires: {loan: "loans.{loan_id}"}
    check: loan.renewals < 2
    message: renewed {loan.renewals} times
    samples:
      allowed:
        - ledger: {loans.L-1: {loan_id: L-1, renewals: 0}}
          call: {name: renew_loan_12, arguments: {loan_id: L-1}}
      rejected:
        - ledger: {loans.L-1: {loan_id: L-1, renewals: 2}}
          call: {name: renew_loan_12, arguments: {loan_id: L-1}}
"""


def in_yaml(tmp_path: Path, text: str = PACK) -> str:
    file = tmp_path / "pack.yaml"
    file.write_text(text)
    return str(file)


def test_a_yaml_pack_says_so_and_recorded_runs_are_judged_by_it(tmp_path: Path) -> None:
    def asking(number: int, tool: str) -> Reply:
        arguments = {"tool": tool, "with": '{"loan_id": "L-1"}'}
        return Reply(calls=(ToolCall(name="call_tool", arguments=arguments, id=str(number)),))

    loan = ToolReturn(call_id="1", content='{"loan_id": "L-1", "renewals": 2}')
    done = ToolReturn(call_id="2", content="done")
    messages = (asking(1, "get_loan_11"), loan, asking(2, "renew_loan_12"), done)
    binding = Binding(name=in_yaml(tmp_path))
    trace = binding.named(Trace(run="r", messages=messages))
    (one,) = judge(trace, binding.gate_for(trace))
    assert one.executed
    assert one.verdict.objection == "renewed 2 times"


@pytest.mark.parametrize(
    ("door", "problem"),
    [
        ("call_tool: {arguments: with}", "needs the key 'name'"),
        ("call_tool: {name: tool, argument: with}", "has no key 'argument'"),
        ("call_tool: {name: tool, tools: nothing_*}", "stands before no tool of the pack"),
        ("get_loan_11: {name: tool}", "given twice"),
    ],
)
def test_a_mistake_in_it_is_told_with_its_line(tmp_path: Path, door: str, problem: str) -> None:
    text = PACK.replace('call_tool: {name: tool, arguments: with, tools: "*_1?"}', door)
    with pytest.raises(DataError, match=problem) as error:
        load_domain(in_yaml(tmp_path, text))
    assert error.value.line is not None
