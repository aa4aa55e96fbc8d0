"""What is known of a conversation between two requests of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ledgeragent.gate import Filtered
from ledgeragent.state import State
from ledgeragent.text import visible
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, canonical
from ledgeragent.verdict import Verdict

# A third of what a named tuple's own constructor costs.
_tuple = tuple.__new__


class Unsent(NamedTuple):
    """A rejected call, which the client never saw.

    `note` is the loop guard's remark, `awaits` the calls of the same reply, in words, whose results had
    to come first. `behind` counts the calls of the same id that the client did
    see and that came before it; None where upstream has an answer to the call already.
    """

    call: ToolCall
    note: str
    awaits: str
    behind: int | None


class Refusals(NamedTuple):
    """How many times in a row a conversation was refused the same: `what` names tools and rules."""

    what: str = ""
    times: int = 0

    def after(self, filtered: Filtered, revised: Sequence[Filtered]) -> Refusals:
        """What it is after an answer; `revised` are the rejected replies that led to it.

        Only an answer with no call in it is a refusal, in whoever's words.
        """
        last = filtered if filtered.verdicts or not revised else revised[-1]
        refused = [verdict for verdict in last.verdicts if not verdict.allowed]
        if filtered.execute or not refused:
            return NOT_REFUSED
        what = ", ".join(sorted({_refused(verdict) for verdict in refused}))
        return Refusals(what, self.times + 1 if what == self.what else 1)


NOT_REFUSED = Refusals()


def _refused(verdict: Verdict) -> str:
    rules = ", ".join(dict.fromkeys(finding.predicate for finding in verdict.findings))
    return f"{visible(verdict.call.name)} by {rules}"


class Memory(NamedTuple):
    """The state after some history, and what the model must still be told of the latest reply.

    `session` is the conversation's name in the journal. `unsent` are the rejected calls of that reply,
    `warnings` what was said of the others, `refusals` whether that repeats itself. `upstream` is
    upstream's name for it, for formats that continue a reply by name. `size` is about how many bytes
    it holds: the length of all that was taken in.
    """

    session: str
    state: State = State()
    unsent: tuple[Unsent, ...] = ()
    warnings: tuple[str, ...] = ()
    refusals: Refusals = NOT_REFUSED
    upstream: str = ""
    size: int = 0

    def after(self, state: State, size: int) -> Memory:
        """The memory one message later."""
        # Spelled out, since `_replace` costs more than most messages.
        session, _, unsent, warnings, refusals, upstream, _ = self
        return _tuple(Memory, (session, state, unsent, warnings, refusals, upstream, size))

    def past_reply(self, state: State) -> Memory:
        """The memory once another reply has come: of the one before, nothing is left to be told."""
        session, _, _, _, refusals, upstream, size = self
        return _tuple(Memory, (session, state, (), (), refusals, upstream, size))

    def answered(self, state: State, upstream: str, size: int) -> Memory:
        """The memory after an answer that upstream calls so, with nothing of it left to be told."""
        return _tuple(Memory, (self[0], state, (), (), NOT_REFUSED, upstream, size))


_NOTHING = State()


def beginning(session: str) -> Memory:
    """The memory of a conversation in which nothing was said yet."""
    return _tuple(Memory, (session, _NOTHING, (), (), NOT_REFUSED, "", 0))


def weight(message: Message, *, listens: bool = False) -> int:
    """About how many bytes of a message stay: what tools returned, and what calls asked for.

    In domains that listen, also what was said.
    """
    if isinstance(message, ToolReturn):
        content = message.content
        return len(content if isinstance(content, str) else canonical(content))
    words = len(message.text) if listens else 0
    if isinstance(message, Reply) and message.calls:
        words += sum([len(call.intent[1]) for call in message.calls])
    return words
