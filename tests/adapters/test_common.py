"""What the adapters share: tickets, replayed histories, interrupted calls, refusals."""

from __future__ import annotations

import logging

import pytest

from ledgeragent.adapters.common import Policy, as_text, require
from ledgeragent.adapters.execution import CallResult, aexecute, execute
from ledgeragent.errors import MissingExtraError
from ledgeragent.session.outcome import failure
from ledgeragent.types import Json, Reply, ToolCall, ToolReturn
from ledgeragent.verdict import Decision
from tests.lending.domain import ADA, GET_BOOK, GET_MEMBER, LEND, LIBRARY, call
from tests.lending.talk import opened, read


def test_a_rejected_call_in_a_history_was_not_executed() -> None:
    conversation = opened()
    read(conversation)
    bad = call("lend_book", member_id="M1", book_id="B1", days=99)
    answers: list[CallResult] = []
    conversation.judge(Reply(calls=(bad,)))
    execute(conversation, (bad,), lambda _: "never", answers)
    history = [Reply(calls=(bad,)), ToolReturn(call_id=bad.id, content=answers[0].content)]
    conversation.replay(history)
    assert conversation.ledger.writes == ()


def test_every_call_has_an_answer_however_a_loop_ends() -> None:
    conversation = opened()
    calls = (GET_MEMBER, GET_BOOK, LEND)
    conversation.judge(Reply(calls=calls))
    answers: list[CallResult] = []

    def run(asked: ToolCall) -> Json:
        if asked is GET_BOOK:
            raise KeyboardInterrupt
        return ADA

    with pytest.raises(KeyboardInterrupt):
        execute(conversation, calls, run, answers)
    assert [a.call for a in answers] == list(calls)
    assert [a.error for a in answers] == [False, True, True]
    assert "not known what it did" in answers[1].content
    assert "not executed" in answers[2].content


async def _fails(asked: ToolCall) -> Json:
    raise RuntimeError("the shelf is locked")


def test_a_tool_that_raises_is_a_failed_call() -> None:
    import asyncio

    conversation = opened()
    conversation.judge(Reply(calls=(GET_BOOK,)))
    answers: list[CallResult] = []
    asyncio.run(aexecute(conversation, (GET_BOOK,), _fails, answers))
    assert answers[0].error
    assert answers[0].content == "Error: RuntimeError: the shelf is locked"
    assert not list(conversation.ledger)


def test_a_guard_binds_the_policy_to_the_tools_of_the_agent() -> None:
    guard = Policy(LIBRARY)
    gate = guard.gate(["lend_book", "get_book"])
    assert gate.domain.available == {"lend_book", "get_book"}
    assert guard.gate({"get_book", "lend_book"}) is gate
    assert Policy("shop").gate().domain.name == "shop"


def test_answers_as_text() -> None:
    assert as_text({"é": 1}) == '{"é": 1}'
    assert as_text("as it is") == "as it is"
    assert as_text(object()).startswith("<object")
    assert failure(KeyError()) == "Error: KeyError"


def test_a_missing_or_old_library_is_named_with_its_command() -> None:
    with pytest.raises(MissingExtraError, match=r"nothing-like-it.*ledgeragent\[mcp\]"):
        require("nothing-like-it", "1.0", "mcp")
    with pytest.raises(MissingExtraError, match=r"pytest 999\.0 or newer"):
        require("pytest", "999.0", "mcp")
    require("pytest", "1.0", "mcp")


def test_in_shadow_mode_what_cannot_be_read_is_not_run() -> None:
    conversation = Policy(LIBRARY, mode="shadow").open()
    broken = ToolCall(name="lend_book", id="x", malformed="{")
    ran: list[ToolCall] = []
    answers: list[CallResult] = []
    conversation.judge(Reply(calls=(broken, LEND)))
    execute(conversation, (broken, LEND), ran.append, answers)
    assert ran == [LEND]
    assert [answer.error for answer in answers] == [True, False]


def test_what_a_framework_adds_is_told_once_and_is_no_write_by_another_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    policy = Policy(LIBRARY)
    controls = ("final_result", "mcp__shelf__lend_book")
    tools = ("get_member", *controls)
    with caplog.at_level(logging.INFO, "ledgeragent.adapters"):
        first = policy.open(tools, controls=controls)
        policy.offer(first, (*tools, "get_book"), controls)
        policy.unobserved().open(tools, controls=controls)
    told = [record.getMessage() for record in caplog.records]
    assert told == [
        "not judged, since it is the framework's own and changes no record: final_result",
        "the tool mcp__shelf__lend_book is read as the policy's lend_book",
    ]
    replies = [Reply(calls=(call(name, member_id="M1"),)) for name in controls]
    decisions = [first.judge(reply).verdicts[0].decision for reply in replies]
    assert decisions == [Decision.ALLOW, Decision.REVISE]
