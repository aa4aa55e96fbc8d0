"""Collection of garbage: what many short-lived values cost that nothing refers back to."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collected_later() -> Iterator[None]:
    """Looks for circles of garbage only behind the block, which is to hold little at once.

    What a decoder makes has none, and looking for them there takes a tenth of the time of a replay.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def collected_seldom() -> None:
    """Has all that was loaded by now stay, and circles be looked for in small pieces: for a whole process.

    What is taken in holds none, and Python's own limits have the collector go through all of it, and
    through what the process held before, each time that there is a quarter more. Everybody waits
    while it looks, so it never looks at more than some 25,000 new values at once.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 4, 400)
