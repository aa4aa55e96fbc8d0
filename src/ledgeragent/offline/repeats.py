"""Logs of requests: each repeats what was said before, so that all but the last are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ledgeragent.errors import DataError
from ledgeragent.offline.heads import Trace
from ledgeragent.types import Message, Reply, ToolCall

REPEATS = "requests that a later one repeats"


def unrepeated(traces: Iterable[Trace | DataError]) -> Iterator[Trace | DataError]:
    """The conversations without those that another one goes on with.

    Runs of which a task or a reward is known stand for themselves.
    """
    rest = iter(traces)
    for one in rest:
        if not isinstance(one, DataError) and _may_repeat(one):
            yield from _unrepeated([one, *rest])
            return
        yield one


def _unrepeated(traces: Sequence[Trace | DataError]) -> Iterator[Trace | DataError]:
    later: dict[int, int] = {}
    unrepeated: list[Trace | DataError] = []
    for one in reversed(traces):
        if isinstance(one, DataError) or not _may_repeat(one):
            unrepeated.append(one)
            continue
        keys = _keys(one.messages)
        if keys[-1] in later:
            unrepeated[later[keys[-1]]] = _repeated(unrepeated[later[keys[-1]]])
        else:
            later |= dict.fromkeys(keys[:-1], len(unrepeated))
            unrepeated.append(one)
    yield from reversed(unrepeated)


def _repeated(one: Trace | DataError) -> Trace | DataError:
    """The conversation, with one more request that it repeats counted."""
    assert isinstance(one, Trace)
    counts = dict(one.left_out)
    counts[REPEATS] = counts.get(REPEATS, 0) + 1
    return replace(one, left_out=tuple(counts.items()))


def _may_repeat(one: Trace) -> bool:
    known_of_run = (one.benchmark, one.task_id, one.reward)
    return bool(one.messages) and known_of_run == (None, None, None)


def _keys(messages: Sequence[Message]) -> list[int]:
    """What stands for the first message, the first two, and so on, up to all of them."""
    keys: list[int] = []
    for message in messages:
        keys.append(hash((keys[-1] if keys else 0, _text(message))))
    return keys


def _text(message: Message) -> str:
    if isinstance(message, Reply):
        return repr((message.text, [_call(call) for call in message.calls]))
    return repr(message)


def _call(call: ToolCall) -> tuple[str, str, str]:
    return (call.id, *call.intent)
