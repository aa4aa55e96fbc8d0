"""The fold behind the last judged reply: it goes on for as long as something can be heard of its calls."""

from __future__ import annotations

import pytest

from ledgeragent.offline.bulkfold import BulkFold
from ledgeragent.types import Message, Reply, ToolReturn, UserMessage
from tests.lending.domain import GET_BOOK, LEND, LIBRARY

SAID = (UserMessage(text="And?"), Reply(text="Well"))
TALK: tuple[Message, ...] = (*SAID, Reply(calls=(GET_BOOK,)))


def answer(content: str, **flags: bool) -> ToolReturn:
    return ToolReturn(call_id=LEND.id, content=content, **flags)


@pytest.mark.parametrize(
    ("back", "later", "left"),
    [
        ([answer("done")], [], len(TALK) - 1),
        ([answer("Error: no")], [], len(TALK) - 1),
        ([*SAID[:1], answer("Error: no")], [], len(TALK) - 1),
        ([answer("504 Gateway timeout", error=True)], [], 0),
        ([answer("", lost=True)], [answer("done")], 0),
        ([], [answer("done")], 0),
        ([], [], 0),
    ],
)
def test_it_ends_once_nothing_can_be_heard_of_a_call(
    back: list[Message], later: list[Message], left: int
) -> None:
    fold = BulkFold(LIBRARY)
    fold.take([Reply(calls=(LEND,))])
    rest = iter([*back, *TALK, *later])
    fold.end(rest, {id(LEND)})
    executed = any(one == answer("done") for one in (*back, *later))
    assert fold.executed == ({id(LEND)} if executed else set())
    assert len([*rest]) == left
