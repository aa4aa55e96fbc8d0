"""The role of the message that carries the ledger: which one a model API takes, tried and remembered.

Chat templates differ: some take a system message only where it comes first, some no user message after
another. `auto` goes from one form to the next where an API refuses one for that reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

FORMS = ("system", "user", "last")
"""`system`, `user`: a message of its own behind the history. `last`: the end of the last message."""

ROLES = ("auto", *FORMS)

_TELLING = (400, 422, 500)
_NAMES_ROLES = re.compile(r"\broles?\b|system message|chat.?template|jinja|\balternat", re.I)

_taken: dict[Hashable, str] = {}


def is_about_roles(status: int | None, text: str) -> bool:
    """True if an API's refusal is about the order or the roles of messages."""
    return status in _TELLING and bool(_NAMES_ROLES.search(text))


def send(
    role: str,
    model: Hashable,
    attempt: Callable[[str], T],
    refuses: Callable[[Exception], bool],
) -> T:
    """What `attempt` gives for the form of `role`; for `auto`, for the first form that `model` takes.

    Raises what the first attempt raised where none helps. Which form a model took is remembered as
    long as the process runs.
    """
    if role != "auto":
        return attempt(role)
    start = FORMS.index(_taken.get(model, FORMS[0]))
    refusal: Exception | None = None
    for form in FORMS[start:]:
        try:
            answer = attempt(form)
        except Exception as error:
            if not refuses(error):
                raise
            refusal = refusal or error
            continue
        if refusal is not None:
            _taken[model] = form
        return answer
    assert refusal is not None
    raise refusal


def placed(messages: Sequence[Mapping[str, Any]], text: str, form: str) -> list[Mapping[str, Any]]:
    """The messages of a chat request with `text` behind them, in this form."""
    if form != "last":
        return [*messages, {"role": form, "content": text}]
    *earlier, last = messages
    content = f"{last.get('content') or ''}\n\n{text}".lstrip()
    return [*earlier, {**last, "content": content}]
