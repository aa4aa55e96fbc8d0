"""Keys of interfaces: what can be one, told without showing it, and addresses without what is secret."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from ledgeragent.errors import UsageError


def require_key(key: str, place: str) -> str:
    """The key without the spaces around it; UsageError for one that no header can carry.

    A key that was pasted with a line break in it would be shown by whoever refuses to send it.
    """
    bare = key.strip()
    if not all("!" <= character <= "~" for character in bare):
        raise UsageError(f"{place} holds a key with a space, a line break or the like inside")
    return bare


def key_of_environment(variable: str) -> str:
    """The key in a variable of the environment, "" where there is none."""
    return require_key(os.environ.get(variable, ""), variable)


def shown_address(url: str) -> str:
    """The address without user name, password and query, for a text that people read."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "an address that cannot be read"
    hidden = "***@" if "@" in parts.netloc else ""
    query = "?***" if parts.query or parts.fragment else ""
    if not parts.scheme or not host:
        return "***" if "@" in url or "?" in url else url
    return f"{parts.scheme}://{hidden}{host}{parts.path}{query}"
