"""Who may use a gateway: by key, by the name it is called by, by the web page that asks."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from ledgeragent.gateway.errors import ForbiddenError, UnknownKeyError
from ledgeragent.gateway.settings import ANY, Settings

OWN_KEY = "x-ledgeragent-key"
"""Carries a gateway's own key beside one that goes upstream."""

CREDENTIALS = ("authorization", "x-api-key", "api-key", OWN_KEY)

_ADDRESS = re.compile(r"(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])", re.IGNORECASE)


class Access:
    """What a request must bring. Keys are compared in the same time, whichever it is that fits."""

    def __init__(self, settings: Settings) -> None:
        self._keys = [_digest(key) for key in settings.keys]
        self._metrics_key = _digest(settings.metrics_key) if settings.metrics_key else None
        self._console_key = _digest(settings.console_key) if settings.console_key else None
        self._hosts = settings.hosts
        self._origins = settings.origins

    def check_origin(self, headers: Mapping[str, str]) -> None:
        """ForbiddenError where a browser asks for a page that may not, or by a name that is not ours.

        A page that reaches a gateway without keys could else spend its upstream's.
        """
        name = _host(headers.get("host", ""))
        if ANY not in self._hosts and name not in self._hosts and not _ADDRESS.fullmatch(name):
            raise ForbiddenError(
                "the host that the request names is not this gateway (allowed-hosts)"
            )
        origin = headers.get("origin")
        if origin is not None and not self.welcomes(origin):
            raise ForbiddenError(
                "web pages of this origin may not use this gateway (allowed-origins)"
            )

    def welcomes(self, origin: str) -> bool:
        """True if web pages of this origin may use the gateway."""
        return ANY in self._origins or origin in self._origins

    def check_key(self, headers: Mapping[str, str]) -> None:
        """UnknownKeyError where the gateway has keys, and the request none of them."""
        if self._keys and not sum(map(self._is_own, _credentials(headers))):
            raise UnknownKeyError("the API key is not one of this gateway's")

    def check_metrics_key(self, headers: Mapping[str, str]) -> None:
        """UnknownKeyError where metrics have a key, and the request does not bring it."""
        if self._metrics_key is not None and not _brings(headers, self._metrics_key):
            raise UnknownKeyError("the API key is not the one for metrics")

    def check_console_key(self, headers: Mapping[str, str]) -> None:
        """UnknownKeyError where a request does not bring the console's key, or there is none."""
        if self._console_key is None or not _brings(headers, self._console_key):
            raise UnknownKeyError("the API key is not the one for the console")

    def for_upstream(self, headers: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
        """The headers without those that carry a key of this gateway, whatever they are called."""
        if not self._keys:
            return headers
        return [(name, value) for name, value in headers if not self._is_own(_bare(value))]

    def _is_own(self, key: str) -> bool:
        digest = _digest(key)
        # A sum looks at all of them; `any` would stop at the first that fits.
        return sum(hmac.compare_digest(digest, own) for own in self._keys) > 0


def scope_of(headers: Mapping[str, str]) -> str:
    """What tells apart who has asked: a digest of all that a request names itself by."""
    get = headers.get
    return _scope(get("authorization"), get("x-api-key"), get("api-key"), get(OWN_KEY))


@lru_cache(1024)
def _scope(*headers: str | None) -> str:
    credentials = [_bare(credential or "") for credential in headers]
    joined = "\n".join(credentials[:3] if not credentials[3] else credentials)
    return hashlib.blake2b(joined.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _credentials(headers: Mapping[str, str]) -> Iterator[str]:
    for name in CREDENTIALS:
        if name in headers:
            yield _bare(headers[name])


def _brings(headers: Mapping[str, str], key: bytes) -> bool:
    """True if one of the credentials is this key."""
    digests = map(_digest, _credentials(headers))
    return sum(hmac.compare_digest(digest, key) for digest in digests) > 0


def _bare(credential: str) -> str:
    scheme, space, key = credential.partition(" ")
    return key.strip() if space and scheme.lower() == "bearer" else credential


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


@lru_cache(256)
def _host(header: str) -> str:
    """The name in a Host header, without its port."""
    name, colon, port = header.lower().rpartition(":")
    return name if colon and port.isdigit() else header.lower()


def names(text: Iterable[str]) -> frozenset[str]:
    """Hosts or origins as they are compared: without the slash at their end, in small letters."""
    return frozenset(name.strip().rstrip("/").lower() for name in text)
