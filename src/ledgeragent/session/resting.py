"""Resting: how a conversation is put away between two calls, and gone on with somewhere else.

For hosts that meet a conversation again over another connection, or in another process.
"""

from __future__ import annotations

from ledgeragent.session.conversation import Conversation
from ledgeragent.session.ticket import Ticket
from ledgeragent.state import State
from ledgeragent.types import Reply, ToolCall


def state_of(conversation: Conversation) -> State:
    """All that is known, with the calls that await an answer."""
    return conversation._live.state


def take_up(conversation: Conversation, state: State, name: str) -> None:
    """Goes on from a state that somebody kept, under the `name` that the journal has for it.

    What others began and have not answered may have happened: nobody here will hear of it.
    """
    with conversation._lock:
        live, tickets = conversation._live, conversation._tickets
        conversation._thread.name = name
        own = [ticket.call for ticket in tickets.running]
        ids = {call.id for call in own}
        foreign = tuple(call for call in state.pending if call.id not in ids)
        left = state._replace(pending=foreign).observe(Reply(calls=()), live.gate.domain)
        live.state = left._replace(pending=_unanswered(own, left))


def _unanswered(own: list[ToolCall], state: State) -> tuple[ToolCall, ...]:
    """The calls that run here, but those that somebody else has given up: they are answered late."""
    doubts = {doubt.call.id for doubt in state.ledger.unconfirmed}
    return tuple(call for call in own if call.id not in doubts)


def hurry(conversation: Conversation, ticket: Ticket) -> None:
    """Lets the verdict of a waiting ticket stand as it is: its host waits no longer."""
    with conversation._lock:
        if ticket in conversation._tickets.waiting:
            live = conversation._live
            live.remember(live.state.rejections.add(ticket.verdict))
            conversation._tickets.decide(ticket)


def take_back(conversation: Conversation, ticket: Ticket) -> None:
    """Forgets a call that was let through and then not begun after all."""
    with conversation._lock:
        tickets, live = conversation._tickets, conversation._live
        if ticket in tickets.running:
            tickets.running.remove(ticket)
            tickets.wakeups.notify()
            live.pend(*(call for call in live.state.pending if call is not ticket.call))
        tickets.withdraw(ticket)
