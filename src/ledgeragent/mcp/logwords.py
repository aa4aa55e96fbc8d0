"""Words for the proxy's log, which holds nothing of what was said, asked or answered, and no address."""

from __future__ import annotations

import logging

from ledgeragent.text import visible


class OwnWords(logging.Formatter):
    """The log's lines. Of what a library says only its own words stay, and of a failure only its kind.

    The values in them, and in tracebacks, are parts of messages and addresses with keys.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        is_ours = record.name.startswith("ledgeragent")
        text = record.getMessage() if is_ours else str(record.msg)
        kind = record.exc_info[0] if record.exc_info else None
        return f"ledgeragent: {visible(text)}{f' ({kind.__name__})' if kind else ''}"


def reason_of(problem: BaseException) -> str:
    """What a failure is, without what its message repeats."""
    if isinstance(problem, BaseExceptionGroup):
        return reason_of(problem.exceptions[0])
    status = getattr(getattr(problem, "response", None), "status_code", None)
    if isinstance(status, int):
        return f"it answers {status}"
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    return type(problem).__name__
