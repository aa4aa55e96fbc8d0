"""A conversation in progress: what the gate knows, and every world that may be the case."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

from ledgeragent import Domain, Effect, Gate, Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.gate import Filtered
from ledgeragent.state import State

from .odd_words import misread
from .possible import Possible
from .steps import Arrive, Case, Fate, Look, Send, Turn
from .world import Answer, Facts
from .worlds import WORLDS

MOST_WORLDS = 6
TWINS = 3
TIME_OUT = "Error: the request timed out"
_NONE: Facts = frozenset()
REFUSAL = "Error: this cannot be done now"

_AT_LAST = {Fate.LATE, Fate.SLOW, Fate.FORGOTTEN}


class Conversation:
    """One conversation. Its fields are replaced, never changed in place, so that a fork is a copy.

    `worlds` are possible, the real one first. `known` are facts that whoever reads along could know
    (or that a write has changed since): no twin differs in them. `late` are calls whose results will
    still come, with their fates.
    """

    def __init__(self, case: Case, domain: Domain) -> None:
        self.domain = domain if case.tools is None else domain.bind(case.tools)
        self.gate = Gate(domain=self.domain, order=case.order)
        self.state = State()
        self.worlds = [Possible(WORLDS[case.world].make(Random(case.seed)))]
        self.known: Facts = frozenset()
        self.late: tuple[tuple[ToolCall, Fate], ...] = ()
        self.number = 0

    @property
    def real(self) -> Possible:
        """The real world."""
        return self.worlds[0]

    @property
    def running(self) -> tuple[ToolCall, ...]:
        """The calls whose results the host waits for."""
        return tuple(call for call, fate in self.late if fate is not Fate.FORGOTTEN)

    def fork(self) -> Conversation:
        """This conversation, to be continued without changing it."""
        return copy.copy(self)

    def twins(self, rng: Random) -> list[Possible]:
        """Worlds that look like the real one to whoever knows only what was shown."""
        return [
            replace(self.real, world=self.real.world.twin(self.known, rng)) for _ in range(TWINS)
        ]

    def has(self, read: ToolCall) -> bool:
        """True if the run has this tool."""
        return self.domain.has(read.name)

    def turn(self, step: Turn) -> None:
        """Lets the customer speak, and do what is theirs to do."""
        worlds = []
        for possible in self.worlds:
            world = possible.world.fork()
            old = world.turn(Random(step.seed))
            if not worlds:
                self.known -= old
            worlds.append(replace(possible, world=world).hears(ToolCall(name=""), Answer("")))
        self.worlds = worlds
        self.state = self.state.observe(UserMessage(), self.domain)

    def look(self, step: Look) -> None:
        """Lets the agent read."""
        _, filtered = self.ask([step.call])
        answer, odd = self._read(step.call, step.odd)
        self.known = (self.known | answer.shown) - odd
        self._return(filtered.execute[0], answer.text)

    def ask(self, calls: Sequence[ToolCall]) -> tuple[Reply, Filtered]:
        """Puts a reply to the gate; what it lets through awaits its result from here on."""
        fresh = []
        for call in calls:
            self.number += 1
            fresh.append(replace(call, id=call.id or f"n{self.number}"))
        reply = Reply(calls=tuple(fresh))
        self.state, filtered = self.state.filter(reply, self.gate, "drop", self.running)
        return reply, filtered

    def execute(self, step: Send, calls: Iterable[ToolCall]) -> None:
        """Lets allowed calls run, in any order where the host may, and their results come."""
        rng = Random(step.seed)
        order = list(calls)
        if self.gate.order == "any":
            rng.shuffle(order)
        fates = {call.id: fate for call, fate in zip(step.calls, step.fates, strict=True)}
        told = [(call, self._run(call, fates[call.id])) for call in order]
        if self.gate.order == "any":
            rng.shuffle(told)
        for call, text in told:
            if text is not None:
                self._return(call, text)

    def arrive(self, step: Arrive) -> None:
        """Lets the result of a late call come, if there is such a one."""
        for call, _ in self.late:
            if call.id == step.id:
                self.late = tuple(pair for pair in self.late if pair[0].id != step.id)
                told = [w for w in self.worlds if call in w.open or call.id in w.untold]
                self._tell([possible.tells(call) for possible in told], call)
                return

    def _run(self, call: ToolCall, fate: Fate) -> str | None:
        """What comes back of a call, None if nothing does."""
        if self.domain.effect(call.name) is Effect.READ:
            answer, _ = self._read(call)
            self.known |= answer.shown
            return answer.text
        if fate is Fate.DONE:
            return self._show([possible.does(call) for possible in self.worlds])
        if fate is Fate.REFUSED:
            refused = Answer(REFUSAL, failed=True)
            self.worlds = [possible.hears(call, refused) for possible in self.worlds]
            return REFUSAL
        self._branch(call, fate)
        if fate in _AT_LAST:
            self.late = (*self.late, (call, fate))
        return TIME_OUT if fate in (Fate.CUT_DONE, Fate.CUT_UNDONE) else None

    def _branch(self, call: ToolCall, fate: Fate) -> None:
        """Every world becomes two: one in which the call is done, one in which it isn't (so far)."""
        real, others = [], []
        for number, possible in enumerate(self.worlds):
            done, answer = possible.does(call)
            undone = possible
            done = done.keeps(call, answer) if fate in _AT_LAST else done.mutes()
            if fate in (Fate.LATE, Fate.SLOW):
                undone = possible.leaves(call)
            both = [done, undone]
            if fate in (Fate.LOST_UNDONE, Fate.CUT_UNDONE, Fate.SLOW):
                both.reverse()
            if number == 0:
                real, others = both[:1], both[1:]
                self.known |= answer.changed if both[0] is done else frozenset()
            else:
                others += both
        self.worlds = [*real, *others][:MOST_WORLDS]

    def _read(self, call: ToolCall, odd: int | None = None) -> tuple[Answer, Facts]:
        """What a read answers, and what an odd word hides of it.

        Worlds in which it answers otherwise are none that may be the case.
        """
        answers = [possible.world.read(call) for possible in self.worlds]
        heard, hidden = answers[0], _NONE
        if odd is not None:
            heard, hidden = misread(self.real.world, call, heard, Random(odd))
        self.worlds = [
            possible.hears(call, heard)
            for possible, answer in zip(self.worlds, answers, strict=True)
            if answer.text == answers[0].text
        ]
        return heard, hidden

    def _show(self, outcomes: list[tuple[Possible, Answer]]) -> str:
        """Goes on in the worlds that answer as the real one does."""
        answer = outcomes[0][1]
        self.worlds = [possible for possible, other in outcomes if other.text == answer.text]
        self.known |= answer.changed | answer.shown
        return answer.text

    def _tell(self, outcomes: list[tuple[Possible, Answer]], call: ToolCall) -> None:
        self._return(call, self._show(outcomes))

    def _return(self, call: ToolCall, text: str) -> None:
        self.state = self.state.observe(ToolReturn(call_id=call.id, content=text), self.domain)
