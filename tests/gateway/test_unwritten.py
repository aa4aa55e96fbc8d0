"""What the journal could not be told at a request's first attempt is told at its second."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ledgeragent.gateway.journaling import GatewayJournal
from ledgeragent.journal.sealing import parsed
from tests.gateway.conftest import Client
from tests.gateway.world import KNOWN, WRITE, is_error, run, world
from tests.lending.domain import LIBRARY


class Away:
    """A store that fails so many times after some records, as a database that restarts."""

    waits = True

    def __init__(self, after: int, times: int) -> None:
        self.kept: list[str] = []
        self._after = after
        self._times = times

    def append(self, line: str) -> None:
        if len(self.kept) >= self._after and self._times > 0:
            self._times -= 1
            raise OSError("it restarts")
        self.kept.append(line)

    def lines(self) -> Iterator[str]:
        return iter(())

    def recent(self, count: int) -> Iterator[str]:
        return iter(())

    def torn(self) -> bytes:
        return b""

    def drop_torn(self) -> None: ...

    def sync(self) -> None: ...

    def make_replaceable(self) -> None: ...

    def close(self) -> None: ...


@pytest.mark.parametrize("headers", [{"x-ledgeragent-session": "mine"}, {}], ids=["named", "whole"])
@pytest.mark.parametrize("missed", range(1, 5))
def test_nothing_that_was_seen_is_missing_after_a_retry(
    client: Client, headers: dict[str, str], missed: int
) -> None:
    """The database is away for all that a request records from one of its records on."""

    async def scenario() -> None:
        before = 3 if headers else 0
        store = Away(before + missed - 1, 9 - missed)
        with GatewayJournal(store, LIBRARY) as journal:
            async with world(WRITE, WRITE, journal=journal) as w:
                if headers:
                    await client.release(w, headers)
                got = await client.ask(w, *KNOWN, headers=headers)
                assert got.status == 503 or is_error(got.events[-1])
                store._times = 0
                again = await client.ask(w, *KNOWN, headers=headers)
                assert again.verdicts == "lend_book=ALLOW"
        records = [parsed(line) for line in store.kept]
        sessions: dict[str, list[str]] = {}
        for record in records:
            sessions.setdefault(record["session"], []).append(record["event"])
        whole = [e for e in sessions.values() if e.count("observed") >= 2 and e[-1] == "judged"]
        assert whole, sessions

    run(scenario())
