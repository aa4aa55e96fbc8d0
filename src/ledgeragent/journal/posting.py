"""Posting of heads to a URL, of which no message shows more than the host."""

from __future__ import annotations

import base64
import http.client
import urllib.error
import urllib.request
from urllib.parse import unquote, urlsplit, urlunsplit

from ledgeragent.errors import UsageError
from ledgeragent.files.keys import shown_address
from ledgeragent.journal.courier import PATIENCE


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    """Who is sent elsewhere would ask there, and post nothing."""

    def redirect_request(self, *_: object) -> None:
        """Nothing: what redirects has not taken it."""


class Post:
    """Posts to an `http` or `https` URL; UsageError for one that cannot be used.

    A user's name and password in it are sent as HTTP's basic authentication.
    """

    def __init__(self, url: str) -> None:
        self.host, self._url, self._headers = _parts(url)
        self._opener = urllib.request.build_opener(_NoRedirection)

    def send(self, line: str) -> None:
        """Posts one JSON text; OSError, which says why, if it was not taken."""
        request = urllib.request.Request(self._url, line.encode(), self._headers, method="POST")
        try:
            with self._opener.open(request, timeout=PATIENCE):
                pass
        except urllib.error.HTTPError as answer:
            answer.close()
            raise OSError(f"it answers {answer.code}") from None
        except urllib.error.URLError as problem:
            raise OSError(_words(problem.reason)) from None
        except OSError as problem:
            raise OSError(_words(problem)) from None
        # What these say may repeat the address.
        except (http.client.HTTPException, ValueError):
            raise OSError("what it answers is no HTTP") from None


def _parts(url: str) -> tuple[str, str, dict[str, str]]:
    """The host, the address without what is for the headers, and the headers."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not all("!" <= character <= "~" for character in url):
        raise UsageError(f"{shown_address(url)}: this address cannot be posted to")
    headers = {"content-type": "application/json"}
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["authorization"] = f"Basic {base64.b64encode(user.encode()).decode()}"
    name = f"[{host}]" if ":" in host else host
    netloc = name if port is None else f"{name}:{port}"
    return host, urlunsplit((parts.scheme, netloc, parts.path, parts.query, "")), headers


def _words(problem: str | BaseException) -> str:
    if isinstance(problem, TimeoutError):
        return f"no answer in {PATIENCE:g} seconds"
    return getattr(problem, "strerror", None) or type(problem).__name__
