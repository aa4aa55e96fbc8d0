"""Names of an agent's tools under one policy: read, doubted, given by the operator, told."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from ledgeragent.adapters.common import Policy, named
from ledgeragent.adapters.execution import CallResult, execute
from ledgeragent.errors import UsageError
from ledgeragent.gate import Gate
from ledgeragent.types import Reply, ToolCall, ToolReturn
from ledgeragent.verdict import Decision
from tests.lending.domain import ADA, BOOK_IN, LIBRARY

MEMBER = ToolCall(name="shelf_get_member", arguments={"member_id": "M1"}, id="m")
BOOK = ToolCall(name="shelf_get_book", arguments={"book_id": "B1"}, id="b")
LEND = ToolCall(
    name="shelf_lend_book", arguments={"member_id": "M1", "book_id": "B1", "days": 14}, id="l"
)
TOOLS = (MEMBER.name, BOOK.name, LEND.name)


def test_a_loop_runs_its_own_tools_and_the_model_hears_of_them_by_their_names() -> None:
    conversation = Policy(LIBRARY).open(TOOLS)
    ran: list[str] = []
    answers: list[CallResult] = []

    def run(call: ToolCall) -> Any:
        ran.append(call.name)
        return {MEMBER.name: ADA, BOOK.name: BOOK_IN}.get(call.name, "lent")

    for calls in ((LEND,), (MEMBER, BOOK), (LEND,)):
        conversation.judge(Reply(calls=calls))
        execute(conversation, calls, run, answers)
    assert ran == [MEMBER.name, BOOK.name, LEND.name]
    assert answers[0].error and "shelf_get_member(" in answers[0].content
    assert [answer.call.name for answer in answers[1:]] == ran


def test_a_history_is_read_under_the_same_names() -> None:
    reads = Reply(calls=(MEMBER, BOOK))
    returns = ToolReturn(call_id="m", content=ADA), ToolReturn(call_id="b", content=BOOK_IN)
    conversation = Policy(LIBRARY).open(TOOLS, (reads, *returns))
    assert conversation.judge(Reply(calls=(LEND,))).verdicts[0].allowed
    resumed = Policy(LIBRARY).resume(TOOLS, (reads, *returns, Reply(calls=(LEND,))))
    assert resumed.lets_through(LEND)


def test_an_alias_is_the_operators_word() -> None:
    tools = ("fetch_person", "get_book", "lend_book")
    policy = Policy(LIBRARY, names=named({"fetch_person": "get_member"}, ()))
    conversation = policy.open(tools)
    conversation.judge(Reply(calls=(ToolCall(name="fetch_person", id="f"),)))
    assert conversation.take(ToolCall(name="fetch_person", id="f")).call.name == "get_member"
    with pytest.raises(UsageError, match="the pack has no tool get_person"):
        Policy(LIBRARY, names=named({"x": "get_person"}, ()))


def test_a_tool_of_the_policy_is_not_neutral_by_an_argument() -> None:
    with pytest.raises(UsageError, match="the pack says what this tool does"):
        Policy(LIBRARY, names=named(None, ["lend_book"]))


def test_two_that_could_be_one_tool_are_neither(caplog: pytest.LogCaptureFixture) -> None:
    tools = ("a__get_member", "b__get_member", "lend_book")
    conversation = Policy(LIBRARY).open(tools)
    call = ToolCall(name="a__get_member", id="m")
    assert conversation.judge(Reply(calls=(call,))).verdicts[0].decision is Decision.REVISE
    assert "a__get_member is not taken for one of the policy's, since so may b__" in caplog.text


@pytest.mark.parametrize("unknown", [Decision.REVISE, Decision.ALLOW])
def test_what_the_policy_does_not_cover_is_told_once(
    unknown: Decision, caplog: pytest.LogCaptureFixture
) -> None:
    policy = Policy(Gate(domain=LIBRARY, unknown=unknown))
    for _ in range(2):
        policy.open(("get_member", "burn_book", "bulk_lend_book"))
    told = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    sent_back = (
        "does not cover the tools bulk_lend_book, burn_book, so nobody can judge their calls"
    )
    passed = "calls of bulk_lend_book pass without being judged"
    assert len([t for t in told if sent_back in t]) == (unknown is Decision.REVISE)
    assert len([t for t in told if passed in t]) == (unknown is Decision.ALLOW)
