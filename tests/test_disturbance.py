"""Writes that disturb one another without naming the same fields, or whose answers are old."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import TypedDict

import pytest

from ledgeragent.domain import Domain
from ledgeragent.effects import Read, ReturnRoute, Write, touch
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger, Stale, Touch
from ledgeragent.paths import PathTemplate
from ledgeragent.plan import Order
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.state import State
from ledgeragent.types import Arguments, Json, Reply, ToolCall, ToolReturn
from ledgeragent.verdict import Decision


class Stall(TypedDict):
    """A place in a market."""

    stall_id: str
    tables: int
    lamps: int
    free: bool


class Outfit(TypedDict):
    """Arguments of `set_tables` and `set_lamps`."""

    stall_id: str
    number: int


class Close(TypedDict):
    """Arguments of `close_stalls`."""

    stall_ids: list[str]


class Stamp(TypedDict):
    """Arguments of `greet` and `collect_fee`."""


STALL = PathTemplate("stalls.{stall_id}", Stall)


def _closed(arguments: Arguments, ledger: Ledger) -> Iterable[Touch]:
    return [Touch(STALL(key), ("free",)) for key in arguments["stall_ids"]]


@predicate("market/free", guards="set_lamps")
def free(call: Outfit, ledger: View) -> Broken | None:
    """Only a free stall is outfitted."""
    return None if ledger[STALL(call["stall_id"])]["free"] else violation("it is taken")


@predicate("market/greet-first", guards="greet")
def greet_first(call: Stamp, ledger: View) -> Broken | None:
    """Nobody is greeted after paying."""
    paid = any(write.name == "collect_fee" for write in ledger.writes)
    return violation("the fee was collected") if paid else None


MARKET = Domain(
    name="market",
    version="1",
    tools=(
        Read(tool="get_stall", to=STALL, parameters=("stall_id",)),
        Write(
            tool="set_tables",
            arguments=Outfit,
            touches=(touch(STALL, "tables"),),
            returns=(ReturnRoute(to=STALL),),
        ),
        Write(
            tool="set_lamps",
            arguments=Outfit,
            touches=(touch(STALL, "lamps"),),
            returns=(ReturnRoute(to=STALL),),
        ),
        Write(tool="close_stalls", arguments=Close, touches=(_closed,)),
        Write(tool="greet", arguments=Stamp),
        Write(tool="collect_fee", arguments=Stamp),
    ),
    predicates=(free, greet_first),
)
GATE = Gate(domain=MARKET)
AS_READ = {"stall_id": "S-1", "tables": 1, "lamps": 1, "free": True}


def call(name: str, **arguments: Json) -> ToolCall:
    """A call of one of the market's tools."""
    return ToolCall(name=name, arguments=arguments, id=name)


TABLES = call("set_tables", stall_id="S-1", number=3)
LAMPS = call("set_lamps", stall_id="S-1", number=4)
CLOSE = call("close_stalls", stall_ids=["S-1"])
GET = call("get_stall", stall_id="S-1")


def answered(state: State, to: ToolCall, **fields: Json) -> State:
    """The state after a tool answered with the stall, as it saw it."""
    content = json.dumps({**AS_READ, **fields})
    return state.observe(ToolReturn(call_id=to.id, content=content), MARKET)


def filtered(state: State, *calls: ToolCall) -> State:
    """The state after the gate let all these calls through."""
    after, result = state.filter(Reply(calls=calls), GATE, "tool_result")
    assert result.decision is Decision.ALLOW
    return after


@pytest.fixture
def state() -> State:
    """The stall was read."""
    return answered(filtered(State(), GET), GET)


def marks(state: State) -> tuple[Stale, ...]:
    """What is unknown of the stall."""
    entry = state.ledger.get(STALL("S-1"))
    assert entry is not None
    return entry.stale


def test_one_object_listed_twice_is_two_calls() -> None:
    fee = call("collect_fee")
    assert len(GATE.filter(Reply(calls=(fee, fee)), Ledger()).execute) == 1


def test_an_answer_that_was_written_beside_another_write_may_be_older_than_it(state: State) -> None:
    running = filtered(state, TABLES, LAMPS)
    after = answered(answered(running, LAMPS, tables=3, lamps=4), TABLES, tables=3)
    assert marks(after) == (Stale(("lamps",), LAMPS),)


@pytest.mark.parametrize("order", ["any", "listed"])
def test_an_answer_is_older_than_a_write_of_a_later_reply_that_it_ran_beside(
    state: State, order: Order
) -> None:
    gate = replace(GATE, order=order)
    running, first = state.filter(Reply(calls=(TABLES,)), gate, "tool_result")
    beside, second = running.filter(Reply(calls=(LAMPS,)), gate, "tool_result", first.execute)
    assert second.execute
    newer = answered(beside, LAMPS, lamps=4)
    waiting, _ = newer.filter(Reply(calls=()), gate, "tool_result", first.execute)
    after = answered(waiting, TABLES, tables=3)
    assert marks(after) == (Stale(("lamps",), LAMPS),)


def test_an_answer_that_comes_late_is_no_knowledge_of_how_things_are_now(state: State) -> None:
    waiting = filtered(filtered(state, TABLES), GET)  # the first write was never answered
    newer = answered(waiting, GET, tables=3)
    late = answered(newer, TABLES, tables=3)
    assert late.ledger.writes == (TABLES,)
    assert marks(late)[-1] == Stale((), TABLES)


def test_our_own_rejection_of_another_call_with_the_same_id_settles_nothing(state: State) -> None:
    lost = filtered(filtered(state, TABLES), GET)
    wrong = ToolCall(name="set_tables", arguments={"stall_id": "S-1", "number": "?"}, id=TABLES.id)
    _, result = lost.filter(Reply(calls=(wrong,)), GATE, "tool_result")
    (rejection,) = result.returns
    assert [d.call for d in lost.observe(rejection, MARKET).ledger.unconfirmed] == [TABLES]


def test_what_a_write_touches_follows_from_its_arguments_as_the_rules_read_them(
    state: State,
) -> None:
    as_text = call("close_stalls", stall_ids='["S-1"]')
    after = answered(filtered(state, as_text), as_text)
    assert marks(after) == (Stale(("free",), as_text),)


def test_what_a_call_in_flight_rests_on_is_left_alone(state: State) -> None:
    running = filtered(state, LAMPS)
    _, result = running.filter(Reply(calls=(CLOSE,)), GATE, "tool_result", running.pending)
    (verdict,) = result.verdicts
    assert verdict.waits_for == (LAMPS,)


def test_no_later_write_is_let_through_that_an_earlier_rule_would_mind() -> None:
    reply = Reply(calls=(call("greet"), call("collect_fee")))
    greeting, fee = GATE.filter(reply, Ledger()).verdicts
    assert greeting.allowed
    assert fee.waits_for == (greeting.call,)
    assert len(Gate(domain=MARKET, order="listed").filter(reply, Ledger()).execute) == 2


@pytest.mark.parametrize(
    "content",
    [
        "Error: read ECONNRESET",
        "Error: socket hang up",
        "Error: Remote end closed connection without response",
        "Error: the connection has been reset by peer",
        "Error: Lost connection to the server during query",
        "Error: upstream connect error or disconnect/reset before headers",
        "Error: fetch failed",
        "Error: context canceled",
        f"Error: Traceback{' frame' * 200} TimeoutError: timed out",
        {"error": "Request timed out"},
        {"isError": True, "content": [{"type": "text", "text": "connection closed"}]},
        "",
        None,
    ],
)
def test_a_failure_that_gives_no_reason_of_the_tool_leaves_a_write_in_doubt(
    state: State, content: Json
) -> None:
    failed = ToolReturn(call_id=TABLES.id, content=content, error=True)
    after = filtered(state, TABLES).observe(failed, MARKET)
    assert [doubt.call for doubt in after.ledger.unconfirmed] == [TABLES]


@pytest.mark.parametrize(
    "content", ["Error: the stall is closed", {"error": "no tables left"}, "Error: 20 tables"]
)
def test_a_refusal_with_a_reason_leaves_nothing_in_doubt(state: State, content: Json) -> None:
    refused = ToolReturn(call_id=TABLES.id, content=content, error=True)
    after = filtered(state, TABLES).observe(refused, MARKET)
    assert after.ledger == state.ledger


@pytest.mark.parametrize(
    "arguments",
    [
        '{"stall_id": "S-2", "stall_id": "S-1", "number": 1}',
        '{"stall_id" : "S-2", "stall_id": "S-1", "number": 1}',
        '{"stall_id"\n: "S-2", "stall_id" : "S-1", "number": 1}',
        '{"\\u0073tall_id": "S-2", "stall_id": "S-1", "number": 1}',
        '{"stall_id": "S-1", "number": 1, "more": [{"a" : 1, "a": 2}]}',
    ],
)
def test_arguments_in_which_a_key_stands_twice_are_malformed(arguments: str) -> None:
    assert ToolCall.parse(name="set_tables", arguments=arguments).malformed == arguments


@pytest.mark.parametrize("text", ['{"at" : "10:30"}', '{"a": {"at" :"x\\" :y"}}', '{"a": "b" }'])
def test_colons_and_spaces_alone_make_no_arguments_malformed(text: str) -> None:
    assert ToolCall.parse(name="f", arguments=text).arguments == json.loads(text)
