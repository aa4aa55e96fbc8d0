"""The console of a route: its feed, and the viewer's page to look through its conversations."""

from __future__ import annotations

from collections.abc import Sequence

from ledgeragent.cli.gatewayplan import PlannedRoute
from ledgeragent.domain import Domain
from ledgeragent.errors import DataError
from ledgeragent.gateway.console.desk import Console, SessionView
from ledgeragent.gateway.console.feed import ConsoleFeed
from ledgeragent.gateway.server import Gateway
from ledgeragent.journal.sealing import parsed
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.viewing import recorded_session, viewed
from ledgeragent.report.view import live_view_html, run_json
from ledgeragent.types import Json


def console_of(route: PlannedRoute, domain: Domain, before: Gateway | None) -> Console | None:
    """A route's console, if it has one; what it has seen stays unless the pack has changed."""
    if route.settings.console_key is None:
        return None
    feed = None
    if before is not None and before.console is not None and _is_same(before.domain, domain):
        feed = before.console.feed
    return Console(feed or ConsoleFeed(domain), session_view(route.binding), live_view_html())


def session_view(binding: Binding) -> SessionView:
    """How a conversation's records become what the viewer shows, by the rules of this binding."""

    def view(lines: Sequence[str]) -> Json:
        recording = recorded_session([parsed(line) for line in lines], "the console")
        if isinstance(recording, DataError):
            raise recording
        return run_json(viewed(recording, binding))

    return view


def _is_same(one: Domain, other: Domain) -> bool:
    return (one.name, one.version, one.digest) == (other.name, other.version, other.digest)
