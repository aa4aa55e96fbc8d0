"""Proxies on the way to the upstream, as the environment names them."""

from __future__ import annotations

import ipaddress
from contextlib import suppress
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from ledgeragent.errors import UsageError


def proxy_for(url: str) -> str | None:
    """The proxy that HTTPS_PROXY or HTTP_PROXY names for an address, unless NO_PROXY leaves it out.

    UsageError for one that cannot be used. Addresses of this machine are never asked for by a proxy.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    with suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return None
    if host == "localhost" or proxy_bypass(host):
        return None
    proxies = getproxies_environment()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy is not None and not proxy.startswith(("http://", "https://")):
        raise UsageError(f"{parts.scheme.upper()}_PROXY: only proxies of http:// can be used")
    return proxy
