"""Which headers go through a gateway, and which end at it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

_CONNECTION = "connection"
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_HOP = frozenset(
    (
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)
"""For the next hop only (RFC 9110, 7.6.1)."""

_OURS = frozenset(
    (
        "host",
        "content-length",
        "content-encoding",
        "accept-encoding",
        "expect",
        "cookie",
        "origin",
        "forwarded",
        "via",
        "x-real-ip",
        "traceparent",
        "tracestate",
        "baggage",
    )
)
"""Between the client and the gateway: what it is called, how the body came, who stands before it, whose
trace it is in. A packed body has been unpacked by the time that it goes on."""

_OURS_BEGIN = ("x-forwarded-", "x-ledgeragent-", "sec-", "access-control-")

_THEIRS = frozenset(("set-cookie", "alt-svc", "strict-transport-security"))
_OF_THE_BYTES = frozenset(
    (
        "content-length",
        "content-encoding",
        "etag",
        "digest",
        "content-digest",
        "repr-digest",
        "content-md5",
    )
)
_THEIRS_BEGIN = ("access-control-", "x-ledgeragent-")


def request_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What of a client's headers goes upstream: all that is not between the client and us."""
    return _joined(headers, _upstream_name)


def response_headers(
    headers: Iterable[tuple[str, str]], *, same_bytes: bool = False
) -> dict[str, str]:
    """What of the upstream's headers goes to the client.

    Digests and lengths only with the `same_bytes`; cookies never, since clients share connections.
    """
    joined = _joined(headers, _client_name_of_same_bytes if same_bytes else _client_name)
    if "".join(joined.values()).isprintable():
        return joined
    # The library reads control characters from an upstream, but writes none to a client.
    return {name: value for name, value in joined.items() if not _CONTROL.search(value)}


def _joined(headers: Iterable[tuple[str, str]], name_of: Callable[[str], str]) -> dict[str, str]:
    """The headers that stay, in small letters; those of one name in one line."""
    by_name: dict[str, str] = {}
    hop_names: list[str] = []
    for written, value in headers:
        name = name_of(written)
        if name == _CONNECTION:
            hop_names.append(value)
        elif name:
            by_name[name] = f"{by_name[name]}, {value}" if name in by_name else value
    for name in ",".join(hop_names).split(",") if hop_names else ():
        by_name.pop(name.strip().lower(), None)
    return by_name


@lru_cache(256)
def _upstream_name(written: str) -> str:
    """What a client's header is called upstream; "" for one that ends here."""
    return _name(written, _OURS, _OURS_BEGIN)


@lru_cache(256)
def _client_name(written: str) -> str:
    """What an upstream's header is called for the client; "" for one that ends here."""
    return _name(written, _THEIRS | _OF_THE_BYTES, _THEIRS_BEGIN)


@lru_cache(256)
def _client_name_of_same_bytes(written: str) -> str:
    """The same where the client gets the very bytes of the upstream."""
    return _name(written, _THEIRS, _THEIRS_BEGIN)


def _name(written: str, dropped: frozenset[str], beginnings: tuple[str, ...]) -> str:
    name = written.lower()
    if name == _CONNECTION:
        return name
    return "" if name in _HOP or name in dropped or name.startswith(beginnings) else name
