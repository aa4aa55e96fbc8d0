"""What became of one request, as the access log tells it: names, numbers and verdicts, no content."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ledgeragent.types import Json

REQUEST_ID = "x-ledgeragent-request-id"

_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
_CLOSED = 499


def request_id(headers: Mapping[str, str]) -> str:
    """The name that a client or a proxy gave its request; a new one where there is none to use."""
    name = headers.get("x-request-id")
    if name is not None and _ID.fullmatch(name):
        return name
    # To be told apart by, and no secret: the system's own source costs ten times as much.
    return f"{random.getrandbits(128):032x}"


@dataclass(slots=True)
class Account:
    """One request. `path` is that of the format, whatever base the client asked for it under.

    `problem` is the kind of failure, `headers` what every answer to it carries. `has_begun` once the
    first byte of an answer is out.
    """

    id: str
    method: str
    path: str
    headers: dict[str, str]
    started: float = field(init=False, default_factory=time.perf_counter)
    status: int = field(init=False, default=_CLOSED)
    session: str = field(init=False, default="")
    stream: bool = field(init=False, default=False)
    verdicts: str = field(init=False, default="")
    revisions: int = field(init=False, default=0)
    upstream_calls: int = field(init=False, default=0)
    upstream_id: str = field(init=False, default="")
    received: int = field(init=False, default=0)
    returned: int = field(init=False, default=0)
    problem: str = field(init=False, default="")
    has_begun: bool = field(init=False, default=False)

    @property
    def seconds(self) -> float:
        """How long it has taken until now."""
        return time.perf_counter() - self.started

    def entry(self, **more: Json) -> dict[str, Json]:
        """The line of the access log, without what there is nothing to say of."""
        data = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "request": self.id,
            **more,
            "method": self.method,
            "path": self.path,
            "status": self.status,
            "seconds": round(self.seconds, 6),
            "bytes_in": self.received,
            "bytes_out": self.returned,
            "session": self.session,
            "stream": self.stream,
            "verdicts": self.verdicts,
            "revisions": self.revisions,
            "upstream_calls": self.upstream_calls,
            "upstream_request": self.upstream_id,
            "problem": self.problem,
        }
        return {name: value for name, value in data.items() if value not in ("", None)}
