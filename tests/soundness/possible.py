"""A possible world: what may be the case, as far as the conversation shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ledgeragent import ToolCall

from .judgement import Exchange, Judgement, Talk
from .world import Answer, World


@dataclass(frozen=True)
class Possible:
    """A world with what was said in it, the calls not done so far, and the answers not told so far.

    `untold` is by the id of the call. Each step gives another one.
    """

    world: World
    talk: Talk = ()
    open: tuple[ToolCall, ...] = ()
    untold: Mapping[str, Answer] = field(default_factory=dict)

    def judge(self, call: ToolCall) -> Judgement:
        """The independent judge, here and now."""
        return self.world.judge(self.talk, call)

    def hears(self, call: ToolCall, answer: Answer) -> Possible:
        """This world after an answer that changed nothing."""
        said = Exchange(call.name, call.arguments, answer.text, answer.failed)
        return replace(self, talk=(*self.talk, said))

    def does(self, call: ToolCall) -> tuple[Possible, Answer]:
        """The world after a call was sent to its tool, and what it answers."""
        changed = replace(self, world=self.world.fork(), open=_without(self.open, call))
        answer = changed.world.attempt(self.talk, call)
        return changed.hears(call, answer), answer

    def leaves(self, call: ToolCall) -> Possible:
        """This world with a call that will be done later."""
        return replace(self, open=(*self.open, call))

    def keeps(self, call: ToolCall, answer: Answer) -> Possible:
        """This world with an answer that will be told later."""
        return replace(self.mutes(), untold={**self.untold, call.id: answer})

    def mutes(self) -> Possible:
        """This world in which nobody has heard what the latest call answered."""
        return replace(self, talk=(*self.talk[:-1], replace(self.talk[-1], answer="")))

    def tells(self, call: ToolCall) -> tuple[Possible, Answer]:
        """The world in which the result of a late call comes, and that result."""
        if call.id not in self.untold:
            return self.does(call)
        answer = self.untold[call.id]
        rest = {key: other for key, other in self.untold.items() if key != call.id}
        mute = Exchange(call.name, call.arguments, "", answer.failed)
        place = self.talk.index(mute)
        heard = replace(mute, answer=answer.text)
        talk = (*self.talk[:place], heard, *self.talk[place + 1 :])
        return replace(self, talk=talk, untold=rest), answer


def _without(calls: tuple[ToolCall, ...], call: ToolCall) -> tuple[ToolCall, ...]:
    return tuple(other for other in calls if other.id != call.id)
