"""Live state: the state of a conversation as its messages move it, each told to the journal."""

from __future__ import annotations

from collections.abc import Sequence

from ledgeragent.effects import Effect
from ledgeragent.gate import Delivery, Filtered, Gate
from ledgeragent.journal.threads import Thread
from ledgeragent.opencalls import answer_first
from ledgeragent.rejections import Rejections
from ledgeragent.session.unread import warn_of
from ledgeragent.state import State, at_time
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn
from ledgeragent.verdict import Decision, Finding, Kind, Verdict

UNJUDGED = "adapter/unjudged"

_DELIVERY: Delivery = "tool_result"


class LiveState:
    """The latest `state` under a `gate`. The caller sees to it that one thread at a time is here."""

    def __init__(self, gate: Gate, thread: Thread) -> None:
        self.gate = gate
        self.thread = thread
        self.state = State()

    def writes(self, call: ToolCall) -> bool:
        """True if the call may change the world."""
        return self.gate.domain.effect(call.name) is Effect.WRITE

    def judge(self, reply: Reply, running: Sequence[ToolCall] = ()) -> Filtered:
        """The verdicts on a reply, whose allowed calls are pending. The loop guard hears nothing."""
        before = self.state
        self.state, filtered = before.filter(reply, self.gate, _DELIVERY, running)
        self.remember(before.rejections)
        return filtered

    def foresee(self, reply: Reply, running: Sequence[ToolCall] = ()) -> tuple[State, Filtered]:
        """The verdicts on a reply beside the calls that run, and the state if they stand."""
        before = self.state._replace(pending=running)
        return before.filter(reply, self.gate, _DELIVERY, running)

    def judge_unannounced(self, call: ToolCall) -> Filtered:
        """The verdict on a call that no reply held: it does not run, unless verdicts change nothing."""
        state, shadow = self.state, self.thread.shadow
        now = at_time(state.ledger, self.gate.clock(), self.gate.domain)
        verdict = self.gate.judge(call, now) if shadow else _unannounced(call)
        if shadow:
            self.pend(*state.pending, call)
        return Filtered(
            reply=Reply(calls=(call,)),
            execute=(call,) if verdict.allowed else (),
            verdicts=(verdict,),
            returns=(),
            rejections=state.rejections,
        )

    def remember(self, memory: Rejections) -> None:
        """Makes this what the loop guard knows."""
        self.state = self.state._replace(rejections=memory)

    def pend(self, *calls: ToolCall) -> None:
        """Makes these the calls that an answer is awaited for."""
        self.state = self.state._replace(pending=calls)

    def observe(self, message: Message, *, new: bool = True) -> None:
        """Takes in a message; one that is not `new` was told to the journal before."""
        before = self.state
        self.state = before.observe(message, self.gate.domain)
        if isinstance(message, ToolReturn) and new:
            warn_of(before, message, self.state)
        if new:
            self.thread.note(message, before, self.state)

    def answer(
        self,
        call: ToolCall,
        content: Json,
        *,
        error: bool = False,
        lost: bool = False,
        new: bool = True,
    ) -> None:
        """Takes in an answer to this very call: where verdicts change nothing, ids may repeat."""
        first, _ = answer_first(self.state.pending, call.id)
        if first is not call:
            rest = self._others(call)
            if len(rest) < len(self.state.pending):
                self.pend(call, *rest)
        self.observe(ToolReturn(call_id=call.id, content=content, error=error, lost=lost), new=new)

    def interrupt(self, call: ToolCall, *, new: bool = True) -> None:
        """Takes a call for one whose answer will not come, whatever it did."""
        if self.writes(call):
            self.answer(call, None, lost=True, new=new)
        else:
            first, rest = answer_first(self.state.pending, call.id)
            self.state = self.state._replace(pending=rest if first is call else self._others(call))

    def _others(self, call: ToolCall) -> tuple[ToolCall, ...]:
        return tuple(c for c in self.state.pending if c is not call)


def _unannounced(call: ToolCall) -> Verdict:
    reason = "this call was not part of the reply that was judged, so it was not done"
    finding = Finding(Kind.ERROR, UNJUDGED, None, Decision.BLOCK, reason)
    return Verdict(call, Decision.BLOCK, (finding,))
