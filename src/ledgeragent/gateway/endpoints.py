"""The routes of the three formats, under whichever path a provider's client asks for them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

READ_ONLY = frozenset(
    {
        ("GET", "/models"),
        ("POST", "/embeddings"),
        ("POST", "/moderations"),
        ("POST", "/messages/count_tokens"),
        ("POST", "/responses/input_tokens"),
    }
)
"""What is asked for and answered with no call in it, by method and what follows the base path."""

_NAME = r"[A-Za-z0-9_~@:-][A-Za-z0-9._~@:-]*"
_MODEL = re.compile(rf"/models(?:/{_NAME})+")
_BASES = re.compile(rf"(/v1beta/openai|/openai/v1|/openai/deployments/{_NAME}|/openai|/v1)(/.+)")
"""Base paths of providers: OpenAI's own, Azure's (with and without deployments), Gemini's."""

_VERSION = re.compile(r"v\d+(?:(?:alpha|beta)\d*)?")
_DEFAULT = "/v1"
_REMEMBERED = 256


class ApiRoute(NamedTuple):
    """A path as a client asked for it, cut in two: `base`, and the `route` behind it."""

    base: str
    route: str

    def is_read_only(self, method: str) -> bool:
        """True if neither the request nor the answer can hold a call."""
        looks_up = method == "GET" and _MODEL.fullmatch(self.route) is not None
        return (method, self.route) in READ_ONLY or looks_up


class ApiAddress:
    """Where an upstream has its API.

    A path in `url` that names a version (`/v1beta/openai`) is the API's base; `/v1` goes behind any
    other (`/anthropic`). `base` says so where neither is right; "/" is the root.
    """

    def __init__(self, url: str, base: str | None = None) -> None:
        parts = urlsplit(url)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        path = parts.path.rstrip("/")
        if base is not None:
            self._root, self.base = path, f"{path}/{base.strip('/')}".rstrip("/")
        elif any(map(_VERSION.fullmatch, path.split("/"))):
            self._root, self.base = "", path
        else:
            self._root, self.base = path, f"{path}{_DEFAULT}"
        self._cached = lru_cache(_REMEMBERED)(self._endpoint)

    def endpoint(self, path: str) -> ApiRoute | None:
        """What a client's path asks for; None if no API of ours has such a path."""
        return self._cached(path)

    def _endpoint(self, path: str) -> ApiRoute | None:
        if self.base not in ("", _DEFAULT) and path.startswith(f"{self.base}/"):
            return ApiRoute(self.base, path[len(self.base) :])
        match = _BASES.fullmatch(path)
        return ApiRoute(match[1], match[2]) if match else None

    def url_of(self, endpoint: ApiRoute, query: str = "") -> str:
        """Where the upstream has it. `/v1` stands for its base, any other is the provider's own."""
        base = endpoint.base
        if base == _DEFAULT:
            base = self.base
        elif base != self.base:
            base = f"{self._root}{base}"
        return self.url(f"{base}{endpoint.route}", query)

    def url(self, path: str, query: str = "") -> str:
        """This path at the upstream, with the query as it stands."""
        return f"{self.origin}{path}?{query}" if query else f"{self.origin}{path}"

    def beside(self, raw_path: str) -> str:
        """A path that no format has, as it stands at the upstream."""
        if raw_path == _DEFAULT or raw_path.startswith(f"{_DEFAULT}/"):
            return f"{self.base}{raw_path[len(_DEFAULT) :]}"
        inside = self._root and raw_path.startswith(f"{self._root}/")
        return raw_path if inside else f"{self._root}{raw_path}"
