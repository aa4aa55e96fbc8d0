"""Conversations of the lending library, for the tests of what adapters share."""

from __future__ import annotations

from typing import Any

from ledgeragent.adapters.common import Policy
from ledgeragent.session.conversation import Conversation
from ledgeragent.types import Reply, ToolCall
from ledgeragent.verdict import Decision
from tests.lending.domain import ADA, BOOK_IN, GET_BOOK, GET_MEMBER, LIBRARY


def opened(watch: Any = None) -> Conversation:
    return Policy(LIBRARY, watch).open()


def read(conversation: Conversation) -> None:
    conversation.judge(Reply(calls=(GET_MEMBER, GET_BOOK)))
    for asked, found in ((GET_MEMBER, ADA), (GET_BOOK, BOOK_IN)):
        conversation.observe(conversation.take(asked), found)


def decision_on(conversation: Conversation, *calls: ToolCall) -> list[Decision]:
    return [verdict.decision for verdict in conversation.judge(Reply(calls=calls)).verdicts]
