"""SIGHUP before a gateway can reload: it is kept for later, where the system would end the process."""

from __future__ import annotations

import signal
import threading
from types import FrameType

_heard = threading.Event()


def keep_hangups() -> None:
    """From here on SIGHUP is noted, until somebody acts on it. Nothing on systems without it."""
    # In another thread than the main one, somebody else's program answers for its signals.
    if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGHUP, _note)


def take_hangup() -> bool:
    """True if one was noted, which is forgotten with it."""
    was_heard = _heard.is_set()
    _heard.clear()
    return was_heard


def _note(number: int, frame: FrameType | None) -> None:
    _heard.set()
