"""Allowance: how much more memory this process may take while foreign code unpacks a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SIZES = Path("/proc/self/statm")
_DATA_FIELD = 5


@contextmanager
def allowance(most: int) -> Iterator[None]:
    """At most so many bytes more than now; MemoryError where the block would take them.

    Only Linux keeps such a limit. Elsewhere the block runs without one.
    """
    try:
        import resource

        now = int(_SIZES.read_text().split()[_DATA_FIELD]) * resource.getpagesize()
    except (ImportError, OSError):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    lower = [limit for limit in (soft, hard, now + most) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(lower), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
