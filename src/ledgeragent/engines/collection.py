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
