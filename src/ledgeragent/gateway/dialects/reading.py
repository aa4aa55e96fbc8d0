"""The reading of a reply: whatever fails on the way is said in one error."""

from __future__ import annotations

from types import TracebackType

from ledgeragent.gateway.errors import BadReplyError, BadRequestError


class ReplyReading:
    """A context: whatever about a reply is not as it should be is a BadReplyError."""

    def __enter__(self) -> None:
        """Nothing to begin with."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Nearly always there is none, and a look at seven classes costs more than one at nothing.
        if problem is not None and isinstance(problem, _UNREADABLE):
            # As text, since some quote in their form for programs what they could not read.
            name = "" if isinstance(problem, BadRequestError) else f"{type(problem).__name__}: "
            why = f"{name}{problem}"
            raise BadReplyError(f"the upstream reply cannot be read: {why}") from None


_UNREADABLE = (
    ArithmeticError,
    AttributeError,
    BadRequestError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
_READING = ReplyReading()


def reading() -> ReplyReading:
    """Around the reading of a reply: whatever about it is not as it should be is a BadReplyError."""
    return _READING
