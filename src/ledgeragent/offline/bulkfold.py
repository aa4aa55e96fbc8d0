"""Bulk fold: a run followed message by message, where what only adds records waits until somebody looks.

The ledgers are those of `State.observe`; most of them are never made. Between two judged calls lie some
reads and some talk, and what comes behind the last one needs no records at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TypedDict

from ledgeragent.absorb import Outcome, after_write
from ledgeragent.domain import Domain
from ledgeragent.effects import Effect, FieldTouch, Neutral, Read, Write
from ledgeragent.ledger import Ledger, Utterance
from ledgeragent.offline.ledgerdraft import LedgerDraft
from ledgeragent.offline.observation import Observations
from ledgeragent.offline.writeoutcomes import WriteOutcomes
from ledgeragent.opencalls import answer_first
from ledgeragent.state import State
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

_MOST_DOMAINS = 64
_observations = Observations()
_outcomes = WriteOutcomes()
_NOTHING = Ledger()
_bare: dict[int, tuple[Domain, Domain]] = {}


class _Unread(TypedDict):
    """Arguments of which nobody asks anything."""


class BulkFold:
    """A run so far. `executed` are the calls that were seen to be done, by the ids of the objects.

    A run may give one id to several calls.
    """

    def __init__(self, domain: Domain) -> None:
        self.executed: set[int] = set()
        self._domain = domain
        self._keeps_records = True
        self._draft = LedgerDraft(_NOTHING)
        self._said: list[Utterance] = []
        self._pending: Sequence[ToolCall] = ()
        self._turn = _NOTHING.turn
        self._now = _NOTHING.now

    def _begin(self, ledger: Ledger) -> None:
        self._draft.begin(ledger)
        self._said.clear()
        self._turn = ledger.turn
        self._now = ledger.now

    def take(self, messages: Iterable[Message]) -> None:
        """These messages later."""
        for message in messages:
            if isinstance(message, ToolReturn):
                is_done = self._return(message)
            elif isinstance(message, Reply):
                is_done = self._reply(message)
            else:
                is_done = self._hear(message)
            if not is_done:
                self._observe(message)

    def ledger(self) -> Ledger:
        """The ledger after all of them."""
        ledger = self._draft.done(self._turn, self._now, self._said)
        if ledger is not self._draft.base:
            self._begin(ledger)
        return ledger

    def end(self, messages: Iterable[Message], calls: Collection[int]) -> None:
        """Takes messages for what they tell of these calls alone: nobody looks at the ledger again.

        The calls are given by the ids of the objects, and none of them is made anew.
        """
        self._keeps_records = False
        self._domain = _without_records(self._domain)
        for message in messages:
            if not self._awaits(calls):
                break
            self.take((message,))

    def _awaits(self, calls: Collection[int]) -> bool:
        """True if one of these calls has no result so far that is its last."""
        for call in self._pending:
            if id(call) in calls:
                return True
        return any(id(doubt.call) in calls for doubt in self._draft.base.unconfirmed)

    def _hear(self, message: UserMessage) -> bool:
        """Takes what the user says, unless that may change records."""
        domain = self._domain
        if domain.shared is not None:
            return False
        self._turn += 1
        if domain.listens:
            self._said.append(Utterance("user", message.text, self._turn))
        return True

    def _reply(self, message: Reply) -> bool:
        """Takes a reply, unless a write before it has no result, and will have none."""
        domain = self._domain
        pending = self._pending
        if pending and any(domain.effect(call.name) is Effect.WRITE for call in pending):
            return False
        if domain.listens:
            if message.text:
                self._said.append(Utterance("agent", message.text, self._turn))
        elif not message.calls and not pending:
            return True
        if domain.timed and message.at:
            self._now = message.at
        self._pending = message.calls
        return True

    def _return(self, returned: ToolReturn) -> bool:
        """Takes a return, unless it comes late: that of a write which nobody awaits any more."""
        pending = self._pending
        if len(pending) == 1 and pending[0].id == returned.call_id:  # as most are
            call, self._pending = pending[0], ()
        else:
            first, rest = answer_first(pending, returned.call_id)
            if first is None:
                return not self._draft.base.unconfirmed
            call, self._pending = first, rest
        domain = self._domain
        tool = domain.tool(call.name)
        if isinstance(tool, Read):
            if self._keeps_records:
                observation = _observations.of(call, returned, domain, self._turn)
                self._draft.observe(observation, call, self._turn)
        elif not isinstance(tool, Neutral):
            self._write(call, returned, _outcomes.of(tool, returned))
        elif not returned.failed:
            self.executed.add(id(call))
        return True

    def _write(self, call: ToolCall, returned: ToolReturn, outcome: Outcome) -> None:
        """Takes what a write answered."""
        if outcome == "executed":
            self.executed.add(id(call))
        if outcome == "executed" and self._keeps_records:
            self._wrote(call, returned)
            return
        # A write in doubt may be heard of again.
        if outcome == "lost" or self._draft.base.unconfirmed:
            before = self.ledger()
            after = after_write(before, call, returned, self._domain, outcome).ledger
            if after is not before:
                self._begin(after)

    def _wrote(self, call: ToolCall, returned: ToolReturn) -> None:
        """Takes a write that was done: most of the ledgers on the way would be seen by nobody."""
        tool = self._domain.tool(call.name)
        if isinstance(tool, Write) and not {FieldTouch}.issuperset(map(type, tool.touches)):
            self.ledger()  # what it touches may depend on all that came before
        object.__setattr__(self._draft, "turn", self._turn)
        after_write(self._draft, call, returned, self._domain, "executed")

    def _observe(self, message: Message) -> None:
        """Takes any message, by the state as it is."""
        after = State(self.ledger(), self._pending).observe(message, self._domain)
        if type(message) is ToolReturn:
            self.executed.add(id(executed_by(message, after, self._domain)))
        self._pending = after.pending
        self._begin(after.ledger)


def executed_by(returned: ToolReturn, after: State, domain: Domain) -> ToolCall | None:
    """The write or neutral call that a return shows to have executed, None if it shows none."""
    call = after.last.call if after.last is not None else None
    if call is None:
        return None
    if domain.effect(call.name) is Effect.NEUTRAL:
        return None if returned.failed else call
    writes = after.ledger.writes
    return call if writes and writes[-1] is call else None


def _without_records(domain: Domain) -> Domain:
    """The domain in which a write touches and tells nothing, and nobody listens."""
    pair = _bare.get(id(domain))
    if pair is None or pair[0] is not domain:
        tools = [
            replace(tool, arguments=_Unread, touches=(), returns=())
            if isinstance(tool, Write)
            else tool
            for tool in domain.tools
        ]
        bare = replace(domain, tools=tools, shared=None, listens=False, timed=False)
        if len(_bare) >= _MOST_DOMAINS:
            _bare.clear()
        pair = _bare[id(domain)] = domain, bare
    return pair[1]
