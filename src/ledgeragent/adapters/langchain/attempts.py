"""Attempts: one conversation for all attempts at a call, or a request, whose run has none yet."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from ledgeragent.session.conversation import Conversation

_REMEMBERED = 100


class Attempts:
    """The conversations that were rebuilt for calls or requests, by the runtime that these have.

    A retry has the runtime of the first attempt. Rebuilt anew, it would not know of that attempt.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, tuple[object, Conversation]] = OrderedDict()

    def conversation(self, runtime: object, rebuild: Callable[[], Conversation]) -> Conversation:
        """The call's conversation, rebuilt if this is its first attempt, or nothing tells attempts."""
        if runtime is None:
            return rebuild()
        with self._lock:
            of_runtime = self._kept.get(id(runtime))
        if of_runtime is not None and of_runtime[0] is runtime:
            return of_runtime[1]
        conversation = rebuild()
        with self._lock:
            # The runtime is kept as well, so that its id isn't given to another meanwhile.
            self._kept[id(runtime)] = runtime, conversation
            if len(self._kept) > _REMEMBERED:
                self._kept.popitem(last=False)
        return conversation
