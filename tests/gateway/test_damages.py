"""Some hundred of the random damages for each format; `python -m tests.gateway.damages` does more."""

from __future__ import annotations

import asyncio
import json

import pytest

from ledgeragent.types import Reply
from tests.gateway.clientview import calls_of_stream, events_in
from tests.gateway.damages import damage, faults_of
from tests.gateway.wires import Wire
from tests.gateway.world import LONG, WRITE

SEED = 7


@pytest.mark.parametrize("stream", [False, True])
def test_no_damage_gets_a_write_through(wire: Wire, stream: bool) -> None:
    tally = asyncio.run(damage(wire, stream, SEED, range(150)))
    assert tally.faults == []
    assert min(tally.outcomes["refused"], tally.outcomes["with calls"]) > 20


@pytest.mark.parametrize("stream", [False, True])
def test_a_write_that_got_through_would_be_found(wire: Wire, stream: bool) -> None:
    def found(reply: Reply) -> list[str]:
        kind = "text/event-stream" if stream else "application/json"
        whole = json.dumps(wire.answer(reply, "r")).encode()
        data = b"".join(wire.events(reply, "r")) if stream else whole
        return list(faults_of(200, kind, data))

    assert found(WRITE) == []
    assert len(found(LONG)) >= 1
    if stream:
        calls = calls_of_stream(events_in(b"".join(wire.events(LONG, "r"))))
        assert {call.intent for call in calls} == {LONG.calls[0].intent}
