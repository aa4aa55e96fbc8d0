"""Why a session cannot be loaded or kept."""

from __future__ import annotations

from ledgeragent.errors import LedgerAgentError


class SessionStoreError(LedgerAgentError):
    """The session store cannot be used, so that nothing may be answered."""


class SessionChangedError(LedgerAgentError):
    """The session was kept by somebody else since it was read."""
