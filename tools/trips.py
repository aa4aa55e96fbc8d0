"""The files that a value passes through on its way, as counted on real runs: `python -m tools.trips`.

One request through the gateway, one YAML rule to its domain, that rule judging a call, one recorded run
through replay, its report, and one rejected call on its way to a client. Each is made twice, so that what
is kept from a first time does not count.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import ledgeragent
from ledgeragent.compiler.loader import load_pack
from ledgeragent.demo.shop.shop import Shop
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger
from ledgeragent.offline.replay import replay
from ledgeragent.report.replay import replay_text
from ledgeragent.session import Session
from ledgeragent.state import ledger_of
from ledgeragent.types import Reply, ToolCall

SOURCE = str(Path(ledgeragent.__file__).parent)

PACK = """\
schema: ledgeragent/v1
domain: desk
version: "1"
records:
  Loan: {loan_id: str, status: [out, lost]}
reads:
  get_loan: {to: "loans.{loan_id}", record: Loan}
writes:
  renew: {arguments: {loan_id: str}, touches: [{"loans.{loan_id}": status}]}
rules:
  - id: desk/not-lost
    guards: renew
    requires: {loan: "loans.{loan_id}"}
    check: loan.status != "lost"
    message: loan {args.loan_id} is {loan.status}, and only one that is out can be renewed
    samples:
      allowed:
        - ledger: {loans.L1: {loan_id: L1, status: out}}
          call: {name: renew, arguments: {loan_id: L1}}
      rejected:
        - ledger: {loans.L1: {loan_id: L1, status: lost}}
          call: {name: renew, arguments: {loan_id: L1}}
"""
RENEW = ToolCall(name="renew", arguments={"loan_id": "L1"}, id="c2")
LOST: dict[str, Any] = {"loan_id": "L1", "status": "lost"}


@dataclass(slots=True)
class Trip:
    """The functions and files of the package that a run entered, and the steps from file to file."""

    functions: set[CodeType] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    crossings: int = 0
    returns: int = 0
    _last: str = ""

    def enter(self, code: CodeType) -> None:
        """Notes that a function is entered."""
        name = code.co_filename
        if name != self._last:
            self.crossings += bool(self._last)
            self.returns += name in self.files
        self.functions.add(code)
        self.files.add(name)
        self._last = name


@contextmanager
def watched() -> Iterator[Trip]:
    """The trip of what runs inside, in this thread."""
    trip = Trip()

    def profile(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            trip.enter(frame.f_code)

    sys.setprofile(profile)
    try:
        yield trip
    finally:
        sys.setprofile(None)


def trip_of(work: Callable[[], object]) -> Trip:
    """The trip of a function that has run once before."""
    work()
    with watched() as trip:
        work()
    return trip


async def gateway() -> Trip:
    """A request with one new tool return, in answer to which a write is proposed and blocked."""
    from tests.gateway.wires import CHAT
    from tests.gateway.world import HELLO, world
    from tests.lending.domain import ADA, BOOK_IN, GET_BOOK, GET_MEMBER, LEND, answer

    member, book = Reply(calls=(GET_MEMBER,)), Reply(calls=(GET_BOOK,))
    history = [HELLO, member, answer(GET_MEMBER, {**ADA, "fines": 3.5}), book]
    trip = Trip()
    for _ in range(2):
        async with world(member, book, Reply(calls=(LEND,))) as w:
            await w.ask(CHAT, history[:1])
            await w.ask(CHAT, history[:3])
            with watched() as trip:
                got = await w.ask(CHAT, [*history, answer(GET_BOOK, BOOK_IN)])
            assert "BLOCK" in got.verdicts
    return trip


def recorded_run(folder: Path) -> str:
    """A file with a run in which the shop's agent cancels an order that is packed."""
    calls = (
        ToolCall(name="find_customer", arguments={"email": "tom.okafor@example.com"}, id="c1"),
        ToolCall(name="get_order", arguments={"order_id": "G-1007"}, id="c2"),
        ToolCall(name="cancel_order", arguments={"order_id": "G-1007"}, id="c3"),
    )
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Cancel G-1007, please."}]
    with Shop() as shop:
        for call in calls:
            asked = {"id": call.id, "name": call.name, "arguments": dict(call.arguments)}
            messages.append({"role": "assistant", "content": "", "tool_calls": [asked]})
            content = shop.execute(call).content
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    file = folder / "run.jsonl"
    file.write_text(json.dumps({"id": "r1", "domain": "shop", "messages": messages}) + "\n")
    return str(file)


def rejected(domain: Any) -> Session:
    """A session that knows the loan to be lost."""
    session = Session(domain)
    session.state = session.state._replace(ledger=_ledger(domain))
    return session


def _ledger(domain: Any) -> Ledger:
    return ledger_of({"loans.L1": LOST}, domain)


def trips(folder: Path) -> Iterator[tuple[str, Trip]]:
    """Every trip with its name."""
    pack = folder / "desk.yaml"
    pack.write_text(PACK)
    domain, file = load_pack(pack), recorded_run(folder)
    yield "gateway: one new return, one write proposed, blocked, answered", asyncio.run(gateway())
    yield "one YAML rule, file to domain", trip_of(lambda: load_pack(pack))
    gate, ledger = Gate(domain=domain), _ledger(domain)
    yield "that rule judging one call", trip_of(lambda: gate.judge(RENEW, ledger))
    yield "one recorded run through replay", trip_of(lambda: replay([file], "shop"))
    result = replay([file], "shop")
    assert (result.runs, result.calls) == (1, 3)
    yield "its report as text", trip_of(lambda: replay_text(result, "shop"))
    reply = Reply(calls=(RENEW,))
    assert not rejected(domain).filter(reply).execute
    yield "a rejected call to its client", trip_of(lambda: rejected(domain).filter(reply))


def main() -> int:
    """Prints the trips as a table."""
    print("| trip | functions | files | crossings | returns |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, trip in trips(Path(folder)):
            figures = (len(trip.functions), len(trip.files), trip.crossings, trip.returns)
            print(f"| {name} | {' | '.join(map(str, figures))} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
