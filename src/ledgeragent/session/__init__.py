"""One live conversation: `Session` for a host's own loop, `Conversation` for calls run one by one."""

from __future__ import annotations

from ledgeragent.session.session import Session

__all__ = ["Session"]
