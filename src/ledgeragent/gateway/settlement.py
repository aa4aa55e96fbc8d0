"""A settlement: what an answered request leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ledgeragent.gateway.dialects.base import Body
from ledgeragent.stores.memory import Memory
from ledgeragent.types import Reply


class Settlement(NamedTuple):
    """A reply that the client gets, and what is known after it; `id` if it can be continued by it.

    `items` are parts of it that a later request may name.
    """

    reply: Reply
    memory: Memory
    id: str = ""
    items: Sequence[Body] = ()
