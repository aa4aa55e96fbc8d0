"""The shortest conversation that fails like a long one: steps and calls are dropped while it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from .steps import Case, Fate, Look, Send, Step

T = TypeVar("T")

TRIES = 500

Fails = Callable[[Case], bool]


def shrunk(case: Case, fails: Fails) -> Case:
    """A case of the same failure from which nothing more can be left out, within `TRIES` replays."""
    tries = TRIES
    smaller: Case | None = case
    while smaller is not None and tries > 0:
        case = smaller
        smaller = None
        for simpler in _simpler(case):
            tries -= 1
            if fails(simpler):
                smaller = simpler
                break
            if tries <= 0:
                break
    return case


def _simpler(case: Case) -> Iterator[Case]:
    """Cases with less in them: the boldest cuts first."""
    steps = case.steps
    size = len(steps) // 2
    while size:
        for start in range(0, len(steps), size):
            yield replace(case, steps=steps[:start] + steps[start + size :])
        size //= 2
    for place, step in enumerate(steps):
        for other in _plainer(step):
            yield replace(case, steps=(*steps[:place], other, *steps[place + 1 :]))
    if case.tools is not None:
        yield replace(case, tools=None)


def _plainer(step: Step) -> Iterator[Step]:
    if isinstance(step, Look) and step.odd is not None:
        yield replace(step, odd=None)
    if isinstance(step, Send):
        for place in range(len(step.calls) if len(step.calls) > 1 else 0):
            yield replace(step, calls=_but(step.calls, place), fates=_but(step.fates, place))
        for place, fate in enumerate(step.fates):
            if fate is not Fate.DONE:
                fates = (*step.fates[:place], Fate.DONE, *step.fates[place + 1 :])
                yield replace(step, fates=fates)


def _but(items: tuple[T, ...], place: int) -> tuple[T, ...]:
    return items[:place] + items[place + 1 :]
