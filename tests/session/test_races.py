"""Replies of several calls, run at once in any order, with failures and losses: no two disturb."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from ledgeragent.adapters.common import Policy
from ledgeragent.gate import Gate
from ledgeragent.types import Reply, ToolCall
from tests.lending.domain import ADA, BOOK_IN, LIBRARY
from tests.lending.talk import read

Outcome = Literal["done", "failed", "raises", "lost", "cancelled"]
FERNS, OTHER = "B1", "B2"
SOON = 20.0


@dataclass(frozen=True)
class Run:
    """One call as it goes: when its host begins it, how long it takes (in ticks), how it ends."""

    name: str
    book: str
    begins: int
    takes: int
    ends: Outcome

    def call(self, number: int) -> ToolCall:
        arguments = {
            "lend_book": {"member_id": "M1", "book_id": self.book, "days": 14},
            "shelve_book": {"book_id": self.book},
            "move_member": {"member_id": "M1", "city": self.book},
            "get_book": {"book_id": self.book},
            "get_member": {"member_id": "M1"},
        }[self.name]
        return ToolCall(name=self.name, arguments=arguments, id=f"call {number}")

    @property
    def marks(self) -> set[str]:
        """What it changes, or rests on, so that nobody else may change it meanwhile."""
        return {
            "lend_book": {self.book, "loans"},
            "shelve_book": {self.book},
            "move_member": {"city"},
        }.get(self.name, set())


RUNS = st.builds(
    Run,
    name=st.sampled_from(
        ["lend_book", "lend_book", "shelve_book", "move_member", "get_book", "get_member"]
    ),
    book=st.sampled_from([FERNS, OTHER]),
    begins=st.integers(0, 3),
    takes=st.integers(0, 3),
    ends=st.sampled_from(["done", "done", "done", "failed", "raises", "lost", "cancelled"]),
)


class Host:
    """Runs the calls of a reply at once, and watches who runs beside whom."""

    def __init__(self, gate: Gate | None = None) -> None:
        self.conversation = Policy(gate or LIBRARY).open()
        self.conversation.patience = 0.05
        self.busy: list[Run] = []
        self.collisions: list[tuple[Run, Run]] = []
        self.ended = 0
        self.written = 0

    async def reply(self, runs: Sequence[Run]) -> None:
        """Judges a reply of these calls, and runs it to its end."""
        calls = [run.call(n) for n, run in enumerate(runs)]
        self.conversation.judge(Reply(calls=tuple(calls)))
        tasks = [self.run(r, c) for r, c in zip(runs, calls, strict=True)]
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), SOON)

    async def run(self, run: Run, call: ToolCall) -> None:
        """One call, from its ticket to its answer."""
        await ticks(run.begins)
        ticket = await self.conversation.atake(call)
        try:
            if ticket.allowed:
                with self.conversation.running(ticket):
                    await self.execute(run)
                    error = run.ends == "failed"
                    content = "Error: no" if error else self.content(run)
                    self.conversation.observe(ticket, content, error=error)
                    self.written += bool(run.marks) and not error
        finally:
            self.ended += 1

    async def execute(self, run: Run) -> None:
        """The tool: it must not meet another that its own verdict rests on."""
        self.collisions += [(run, other) for other in self.busy if run.marks & other.marks]
        self.busy.append(run)
        try:
            await ticks(run.takes)
        finally:
            self.busy.remove(run)
        match run.ends:
            case "raises":
                raise ValueError("no such thing")
            case "lost":
                raise TimeoutError
            case "cancelled":
                raise asyncio.CancelledError

    def content(self, run: Run) -> object:
        if run.name == "get_book":
            return {**BOOK_IN, "book_id": run.book}
        return ADA if run.name == "get_member" else "done"


async def ticks(number: int) -> None:
    """Lets the others go on so many times."""
    for _ in range(number):
        await asyncio.sleep(0)


@given(st.lists(st.lists(RUNS, min_size=1, max_size=4), min_size=1, max_size=3))
@settings(max_examples=80, deadline=None)
def test_no_two_calls_that_disturb_each_other_run_at_once_and_every_ticket_ends(
    replies: list[list[Run]],
) -> None:
    async def played() -> Host:
        host = Host()
        read(host.conversation)
        for runs in replies:
            ended = host.ended
            await host.reply(runs)
            assert host.ended == ended + len(runs), "every ticket ends"
        return host

    host = asyncio.run(played())
    assert not host.collisions
    done = [run for runs in replies for run in runs if run.ends == "done" and run.marks]
    assert len(host.conversation.ledger.writes) == host.written <= len(done)


def test_the_host_notices_where_a_gate_lets_them_disturb_each_other() -> None:
    async def played() -> Host:
        host = Host(Gate(domain=LIBRARY, order="snapshot"))
        await host.reply([Run("shelve_book", FERNS, 0, 3, "done")] * 2)
        return host

    assert asyncio.run(played()).collisions
