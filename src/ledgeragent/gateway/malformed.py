"""Malformed requests in the log: that there was one and of what kind, without a word of it."""

from __future__ import annotations

import logging

from ledgeragent.errors import MissingExtraError

try:
    from aiohttp.http_exceptions import HttpProcessingError
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None


def http_log() -> logging.Logger:
    """The log of the HTTP server. Its own would quote keys and bodies of what it could not read."""
    log = logging.getLogger("ledgeragent.gateway.http")
    log.addFilter(_without_words)
    return log


def _without_words(record: logging.LogRecord) -> bool:
    problem = record.exc_info[1] if record.exc_info else None
    if isinstance(problem, HttpProcessingError):
        record.msg, record.args = (
            "a request that is no HTTP was refused: %s",
            (type(problem).__name__,),
        )
        record.exc_info = None
    return True
