"""Which headers go through a gateway, and which end at it."""

from __future__ import annotations

from collections.abc import Iterable

_HOP = frozenset(
    (
        "connection",
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
    pairs = list(headers)
    dropped = _HOP | _OURS | _named_by_connection(pairs)
    return _joined(pairs, dropped, _OURS_BEGIN)


def response_headers(
    headers: Iterable[tuple[str, str]], *, same_bytes: bool = False
) -> dict[str, str]:
    """What of the upstream's headers goes to the client.

    Digests and lengths only with the `same_bytes`; cookies never, since clients share connections.
    """
    pairs = list(headers)
    dropped = _HOP | _THEIRS | _named_by_connection(pairs)
    dropped |= frozenset() if same_bytes else _OF_THE_BYTES
    return _joined(pairs, dropped, _THEIRS_BEGIN)


def _joined(
    pairs: Iterable[tuple[str, str]], dropped: frozenset[str], beginnings: tuple[str, ...]
) -> dict[str, str]:
    """The headers that stay, in small letters; those of one name in one line."""
    headers: dict[str, str] = {}
    for written, value in pairs:
        name = written.lower()
        if name not in dropped and not name.startswith(beginnings):
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _named_by_connection(pairs: Iterable[tuple[str, str]]) -> frozenset[str]:
    listed = ",".join(value for name, value in pairs if name.lower() == "connection")
    return frozenset(name.strip().lower() for name in listed.split(","))
