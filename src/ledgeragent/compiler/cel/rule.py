"""A rule written in CEL, as the gate calls it: fetch the records it requires, evaluate, explain.

Three answers, as for Python rules. A field that was never read, or is stale, leaves its variable
without a value; where CEL can decide all the same (`true || ?`) it does, and otherwise the missing
evidence is asked for. Any other failure is raised, and the gate refuses the call.
"""

from __future__ import annotations

from collections.abc import Mapping

from ledgeragent.compiler.cel.activation import Activation, Requirement
from ledgeragent.compiler.cel.characters import Unreadable
from ledgeragent.compiler.cel.engine import CelError
from ledgeragent.compiler.cel.programs import Program
from ledgeragent.compiler.cel.reasons import ReasonTexts
from ledgeragent.compiler.cel.surroundings import Surroundings
from ledgeragent.predicates import Broken, MissingEvidence, View, violation
from ledgeragent.types import Json

_MALFORMED = "{argument} is malformed: it holds the character {character}; send it without"


class CelCheck:
    """The check of one CEL rule: `test` is true for a call that satisfies it, None to demand only."""

    def __init__(
        self,
        *,
        about: str,
        requires: tuple[Requirement, ...],
        test: Program | None,
        messages: ReasonTexts,
        surroundings: Surroundings,
    ) -> None:
        self.__doc__ = about
        self.requires = requires
        self.test = test
        self.messages = messages
        self.surroundings = surroundings
        self._demanded = tuple(requirement.name for requirement in requires if requirement.always)

    def __call__(self, arguments: Mapping[str, Json], view: View) -> Broken | None:
        """None if the call satisfies the rule, else why not; raises MissingEvidence or CelError.

        An argument that CEL would misread breaks every rule that reads it.
        """
        try:
            return self._judged(arguments, view)
        except Unreadable as problem:
            argument = problem.where.removeprefix("args.")
            return violation(_MALFORMED, argument=argument, character=problem.character)

    def _judged(self, arguments: Mapping[str, Json], view: View) -> Broken | None:
        activation = Activation({"args": arguments, "params": view.parameters})
        if self.surroundings.names:
            activation.containers.update(self.surroundings.containers(view))
        for requirement in self.requires:
            activation.fetch(requirement, view)
        broken = self._violation(activation)
        if broken is None:
            for name in self._demanded:
                if name in activation.missing:
                    raise activation.missing[name]
        return broken

    def _violation(self, activation: Activation) -> Broken | None:
        about = self.__doc__ or "the policy does not allow this"
        if self.messages.joined is not None:
            try:
                answer = activation.evaluate(self.messages.joined)
                return None if answer is True else self.messages.told(answer, activation, about)
            except (MissingEvidence, CelError):
                pass  # a failure of the message never counts: the check alone decides
        answer = activation.evaluate(self.test) if self.test is not None else True
        if answer is True:
            return None
        if answer is False:
            return self.messages.reason(activation, about)
        raise CelError(f"the check gave {answer!r} instead of true or false")
