"""Execution of a judged reply in a plain loop: every call gets an answer, however that ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ledgeragent.adapters.common import as_text
from ledgeragent.gate import NOT_EXECUTED
from ledgeragent.session.conversation import Conversation
from ledgeragent.session.outcome import failure
from ledgeragent.session.ticket import Ticket
from ledgeragent.types import ToolCall

RunCall: TypeAlias = Callable[[ToolCall], object]
"""Executes a call and returns its answer; raising is answered with an error."""

AsyncRunCall: TypeAlias = Callable[[ToolCall], Awaitable[object]]

_CUT = "Error: this call was interrupted; it is not known what it did."
_UNREADABLE = f"{NOT_EXECUTED}, because its arguments are not a JSON object."
_NOT_BEGUN = f"{NOT_EXECUTED}, because the turn was interrupted."


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """The answer to one call of a reply."""

    call: ToolCall
    content: str
    error: bool = False


def execute(
    conversation: Conversation, calls: Sequence[ToolCall], run: RunCall, answers: list[CallResult]
) -> None:
    """Runs the allowed calls of a judged reply; every call gets an answer, however this ends.

    Each is judged when its turn comes, if it had to wait for one before it.
    """
    try:
        for call in calls:
            ticket = conversation.take(call)
            answers.append(_executed(conversation, call, ticket, run))
    finally:
        _complete(calls, answers)


async def aexecute(
    conversation: Conversation,
    calls: Sequence[ToolCall],
    run: AsyncRunCall,
    answers: list[CallResult],
) -> None:
    """The same with an asynchronous `run`."""
    try:
        for call in calls:
            ticket = await conversation.atake(call)
            answers.append(await _aexecuted(conversation, call, ticket, run))
    finally:
        _complete(calls, answers)


def _executed(
    conversation: Conversation, call: ToolCall, ticket: Ticket, run: RunCall
) -> CallResult:
    if (settled := _unrunnable(conversation, call, ticket)) is not None:
        return settled
    try:
        with conversation.running(ticket):
            return _answered(conversation, call, ticket, run(call))
    except Exception as error:
        return CallResult(call=call, content=failure(error), error=True)


async def _aexecuted(
    conversation: Conversation, call: ToolCall, ticket: Ticket, run: AsyncRunCall
) -> CallResult:
    if (settled := _unrunnable(conversation, call, ticket)) is not None:
        return settled
    try:
        with conversation.running(ticket):
            return _answered(conversation, call, ticket, await run(call))
    except Exception as error:
        return CallResult(call=call, content=failure(error), error=True)


def _unrunnable(conversation: Conversation, call: ToolCall, ticket: Ticket) -> CallResult | None:
    """The answer to a call that is rejected, or that nobody could run whatever the verdict."""
    if not ticket.allowed:
        return CallResult(call=call, content=conversation.refusal(ticket), error=True)
    if call.malformed is not None:
        return _answered(conversation, call, ticket, _UNREADABLE, error=True)
    return None


def _answered(
    conversation: Conversation,
    call: ToolCall,
    ticket: Ticket,
    content: object,
    *,
    error: bool = False,
) -> CallResult:
    conversation.observe(ticket, content, error=error)
    text = as_text(content)
    return CallResult(call=call, content=text, error=error or text.startswith("Error"))


def _complete(calls: Sequence[ToolCall], answers: list[CallResult]) -> None:
    for position, call in enumerate(calls[len(answers) :]):
        answers.append(CallResult(call=call, content=_NOT_BEGUN if position else _CUT, error=True))
