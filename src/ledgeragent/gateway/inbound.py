"""A request that has come in: who asks, what it holds, whose conversation it is of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledgeragent.errors import MissingExtraError
from ledgeragent.gate import Gate
from ledgeragent.gateway.access import scope_of
from ledgeragent.gateway.account import Account
from ledgeragent.gateway.dialects.base import Body, Dialect, Request
from ledgeragent.gateway.equipment import Equipment
from ledgeragent.gateway.errors import BadRequestError, TooLargeError
from ledgeragent.gateway.readhistory import NOTHING
from ledgeragent.gateway.references import resolved
from ledgeragent.gateway.releases import UNRELEASED_HEADER
from ledgeragent.gateway.upstream import UpstreamLine
from ledgeragent.gateway.values import TooManyValuesError, check_returns
from ledgeragent.gateway.visits import Visit, Visitor
from ledgeragent.gateway.words import names_header

try:
    from aiohttp import web
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

if TYPE_CHECKING:
    from ledgeragent.gateway.spans import RequestTrace

SESSION_HEADER = "x-ledgeragent-session"

_LONGEST_NAME = 200
_PLAIN = re.compile("[ -~]+")
# A third of what a named tuple's own constructor costs.
_tuple = tuple.__new__


@dataclass(slots=True)
class Inbound:
    """A request of one format on its way: `line` is the upstream for it, `account` what is told of it."""

    dialect: Dialect
    request: web.BaseRequest
    line: UpstreamLine
    account: Account
    trace: RequestTrace | None = None

    def visitor(self, size: int) -> Visitor:
        """Who asks; BadRequestError for a session's name that is none."""
        headers = self.request.headers
        name = None
        if SESSION_HEADER in headers:
            if len(headers.getall(SESSION_HEADER)) > 1:
                raise BadRequestError(
                    f"{SESSION_HEADER}: stands twice, so whose request it is is open"
                )
            name = session_name(headers)
        return _tuple(Visitor, (name, scope_of(headers), size))

    async def read(
        self, raw: bytes, visitor: Visitor, equipment: Equipment
    ) -> tuple[Body, Request]:
        """The request's body, and the history in it.

        BadRequestError where it cannot be read, TooLargeError where it holds too many values.
        """
        try:
            body, reading = equipment.readings.decode(raw, self.dialect, equipment.bound)
        except TooManyValuesError as problem:
            raise TooLargeError(f"the body is not read: {problem}") from None
        except ValueError as problem:
            raise BadRequestError(f"the body cannot be read: {problem}") from None
        if "input" in body:  # Nothing else holds references.
            body = await resolved(body, visitor.item_key, equipment.visits.store)
        earlier = reading.earlier if reading is not None else NOTHING
        conversation = self.dialect.conversation(body, earlier)
        check_returns(conversation.messages[len(earlier.messages) :], equipment.bound)
        if reading is not None:
            reading.take(conversation.messages)
            equipment.readings.keep(reading, self.dialect)
            conversation = conversation._replace(reading=reading)
        self.account.stream = conversation.stream
        if self.trace is not None:
            self.trace.read(body, stream=conversation.stream)
        return body, conversation

    def belongs(self, visit: Visit, gate: Gate) -> Gate:
        """Notes whose request it is; the gate to judge it by, traced if requests are."""
        session = self.account.session = visit.memory.session
        if visit.claims:
            self.account.headers[UNRELEASED_HEADER] = names_header(visit.claims)
        if self.trace is None:
            return gate
        self.trace.belongs(session)
        return self.trace.gate(gate)


def session_name(headers: Mapping[str, str]) -> str | None:
    """The name that a client gave its session, if any; BadRequestError for one that is none."""
    name = headers.get(SESSION_HEADER)
    if name is not None and not (0 < len(name) <= _LONGEST_NAME and _PLAIN.fullmatch(name)):
        form = f"1 to {_LONGEST_NAME} printable characters of ASCII"
        raise BadRequestError(f"{SESSION_HEADER}: should be {form}")
    return name
