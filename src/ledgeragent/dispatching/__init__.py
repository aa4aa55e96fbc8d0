"""Tools that stand before others: one name on the wire, behind which each call names the tool it means."""

from __future__ import annotations

from ledgeragent.dispatching.dispatch import Dispatch
from ledgeragent.dispatching.domain import (
    DispatchingDomain,
    as_proposed,
    dispatching,
    explained,
    inner_call,
    inner_reply,
    is_door,
)

__all__ = [
    "Dispatch",
    "DispatchingDomain",
    "as_proposed",
    "dispatching",
    "explained",
    "inner_call",
    "inner_reply",
    "is_door",
]
