"""A scene: a world, what was said and read in it so far, and the ledger that came of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from random import Random

from ledgeragent import Domain, Ledger, Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.state import State

from .judgement import Exchange, Talk
from .world import Answer, Facts, World, one_in

TWINS = 3
TRIES = 6


@dataclass
class Scene:
    """One conversation in one world.

    `known` are the facts that a read showed and nothing has changed since. `twins` are other worlds
    that look the same to whoever knows only those. `written` are the ids that executed writes named.
    """

    world: World
    domain: Domain
    talk: Talk = ()
    known: Facts = frozenset()
    state: State = field(default_factory=State)
    twins: tuple[World, ...] = ()
    written: frozenset[str] = frozenset()

    @property
    def ledger(self) -> Ledger:
        """What the gate sees."""
        return self.state.ledger

    def fork(self) -> Scene:
        """This scene, to be continued without changing it."""
        return replace(self)

    def read(self, call: ToolCall) -> Answer:
        """Lets the agent read."""
        answer = self.world.read(call)
        self._note(call, answer)
        self.known |= answer.shown
        return answer

    def write(self, call: ToolCall) -> None:
        """Lets the agent write: what breaks the policy fails and changes nothing."""
        answer = self.world.attempt(self.talk, call)
        self._note(call, answer)
        self.known = (self.known - answer.changed) | answer.shown
        if not answer.failed:
            self.written |= self._ids(call)

    def act(self, rng: Random) -> None:
        """Lets the agent write what the policy allows, if it hits on such a thing in a few tries."""
        for _ in range(TRIES):
            call = self.world.propose(rng)
            found = self.world.judge(self.talk, call)
            if not (found.broken or found.ghost or found.ungrounded):
                break
        self.write(call)

    def propose(self, rng: Random) -> ToolCall:
        """A call to judge; often one on what was written before, where there is such a thing."""
        call = self.world.propose(rng)
        if self.written and one_in(rng, 2):
            for _ in range(TRIES):
                if self._ids(call) & self.written:
                    break
                call = self.world.propose(rng)
        return call

    def _ids(self, call: ToolCall) -> set[str]:
        """The ids that a call names, other than the customer's own."""
        paying = call.arguments.get("payment_methods", [])
        groups = [call.arguments, *paying]
        named = {str(v) for given in groups for name, v in given.items() if name.endswith("_id")}
        return named - {self.world.me}

    def turn(self, rng: Random) -> None:
        """Lets the customer say something, and do what is theirs to do."""
        self.known -= self.world.turn(rng)
        self.talk = (*self.talk, Exchange())
        self.state = self.state.observe(UserMessage(), self.domain)

    def drift(self, rng: Random) -> None:
        """Lets something change from outside, unseen until the agent reads it on a later turn."""
        read, changed = self.world.drift(rng)
        self.known -= changed
        self.turn(rng)
        self.read(read)

    def part(self, rng: Random) -> None:
        """Makes the twins: worlds that differ from this one only in what is not known."""
        self.twins = tuple(self.world.twin(self.known, rng) for _ in range(TWINS))

    def _note(self, call: ToolCall, answer: Answer) -> None:
        said = Exchange(call.name, call.arguments, answer.text, answer.failed)
        self.talk = (*self.talk, said)
        state = self.state.observe(Reply(calls=(call,)), self.domain)
        returned = ToolReturn(call_id=call.id, content=answer.text)
        self.state = state.observe(returned, self.domain)


def make_scene(rng: Random, domain: Domain, kind: type[World], *, full: bool) -> Scene:
    """A random scene; `full` ends with every record that a clause could need read and fresh."""
    scene = Scene(kind.make(rng), domain)
    scene.turn(rng)
    tour = scene.world.tour()
    shares = _shares(tour)
    _read_all(scene, _without(rng, tour, rng.choice(shares[::-1] if full else shares)))
    for _ in range(rng.choice([0, 1, 2, 4, 6])):
        _something_happens(rng, scene)
    if full:
        scene.turn(rng)
        _read_all(scene, scene.world.tour())
    elif one_in(rng, 2):
        _read_all(scene, _without(rng, tour, rng.choice(shares)))
    if not full and one_in(rng, 3):
        scene.turn(rng)
    scene.part(rng)
    return scene


def _shares(tour: list[ToolCall]) -> list[int]:
    """How many of the reads to leave out: one or two, or a larger part."""
    return [0, 1, 2, len(tour) // 8, len(tour) // 4, len(tour) // 2, len(tour)]


def _read_all(scene: Scene, calls: Iterable[ToolCall]) -> None:
    for call in calls:
        scene.read(call)


def _without(rng: Random, calls: list[ToolCall], count: int) -> list[ToolCall]:
    """Some reads left out, the first one (the log-in) seldom."""
    kept = list(calls)
    for _ in range(min(max(count, 0), len(kept))):
        kept.pop(rng.randrange(len(kept)))
    return kept if kept[:1] == calls[:1] or one_in(rng, 6) else [calls[0], *kept]


def _something_happens(rng: Random, scene: Scene) -> None:
    match rng.randrange(8):
        case 0 | 1 | 2:
            scene.act(rng)
        case 3:
            scene.write(scene.world.propose(rng))
        case 4:
            scene.turn(rng)
        case 5:
            scene.read(rng.choice(scene.world.tour()))
        case 6:
            scene.drift(rng)
        case _:
            scene.read(scene.world.stray(rng))
