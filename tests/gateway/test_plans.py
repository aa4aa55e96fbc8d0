"""A reply is a plan, and so is what was let through and never answered: 49.00 are paid once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ledgeragent.demo.shop.shop import Shop
from ledgeragent.gateway.metrics import Metrics
from ledgeragent.gateway.notices import Notices
from ledgeragent.gateway.policycheck import LEAD
from ledgeragent.gateway.recorder import MemoryRecorder
from ledgeragent.packs import load_domain
from ledgeragent.state import State
from ledgeragent.stores.memory import Memory
from ledgeragent.types import Reply
from tests.gateway.conftest import Client
from tests.gateway.shopping import AGAIN, READS, REFUND, REREADS, Shopper
from tests.gateway.upstream import Play
from tests.gateway.world import run, world
from tests.lending.domain import GET_BOOK, LEND, LIBRARY, answer

SHOP = load_domain("shop")
SAY = Reply(text="Done.")
MINE = {"x-ledgeragent-session": "elena"}


def play(
    client: Client,
    scenario: Callable[[Shopper], Any],
    *script: Play,
    headers: dict[str, str] | None = None,
) -> None:
    """Plays a scenario in a shop of its own."""

    async def played() -> None:
        with Shop() as shop:
            async with world(*script, domain=SHOP, max_revisions=0) as w:
                await scenario(Shopper(client, w, shop, headers))

    run(played())


def test_a_double_refund_in_one_reply_is_paid_once(client: Client) -> None:
    async def scenario(shopper: Shopper) -> None:
        await shopper.run()
        got = await shopper.run()
        assert got.reply == Reply(text="At once.", calls=(REFUND,))
        assert got.verdicts == "refund_item=ALLOW,refund_item=REVISE"
        assert shopper.paid == 49.0
        await shopper.run()
        assert f"{LEAD}{REFUND} was not executed: " in shopper.told
        assert "was changed by refund_item since it was read" in shopper.told
        await shopper.run()
        last = await shopper.run()
        assert last.called == []
        assert shopper.paid == 49.0

    twice = Reply(text="At once.", calls=(REFUND, AGAIN))
    play(client, scenario, READS, twice, SAY, REREADS, Reply(calls=(AGAIN,)))


def _asks_again(shopper: Shopper) -> None:
    shopper.says("Hello? Are you there?")


def _fails_on_the_way(shopper: Shopper) -> None:
    shopper.hears(REFUND, "Error: 504 Gateway Timeout")


def _drops_it(shopper: Shopper) -> None:
    shopper.history.pop()
    shopper.says("Hello? Are you there?")


IN_FLIGHT = {
    "asks again without the result": (_asks_again, None),
    "asks again in a session": (_asks_again, MINE),
    "drops the call from the history of a session": (_drops_it, MINE),
    "sends the request of a session once more": (lambda shopper: shopper.history.pop(), MINE),
    "is told of a failure on the way": (_fails_on_the_way, None),
    "is told of a failure on the way, in a session": (_fails_on_the_way, MINE),
}


@pytest.mark.parametrize("case", IN_FLIGHT, ids=IN_FLIGHT.keys())
def test_a_refund_without_a_result_may_have_been_paid(client: Client, case: str) -> None:
    goes_on, headers = IN_FLIGHT[case]

    async def scenario(shopper: Shopper) -> None:
        await shopper.run()
        got = await shopper.ask()
        assert got.called == ["refund_item"]
        shopper.shop.execute(REFUND)
        goes_on(shopper)
        second = await shopper.run()
        assert second.verdicts == "refund_item=REVISE"
        assert "STALE" in shopper.told, "the model is shown what the gate goes by"
        assert shopper.paid == 49.0
        shopper.says("And now?")
        await shopper.run()
        shopper.says("Once more, please.")
        third = await shopper.run()
        assert third.called == []
        assert shopper.paid == 49.0

    once = Reply(calls=(AGAIN,))
    play(client, scenario, READS, Reply(calls=(REFUND,)), once, REREADS, once, headers=headers)


def test_of_two_requests_of_a_session_at_once_one_is_let_through(client: Client) -> None:
    async def scenario(shopper: Shopper) -> None:
        await shopper.run()
        asked = [client.ask(shopper.world, *shopper.history, headers=MINE) for _ in range(2)]
        answers = await asyncio.gather(*asked)
        replies = [got.reply for got in answers if got.status == 200 and got.reply is not None]
        assert sum(len(reply.calls) for reply in replies) == 1

    play(client, scenario, READS, Reply(calls=(REFUND,)), Reply(calls=(AGAIN,)), headers=MINE)


def folding() -> MemoryRecorder:
    return MemoryRecorder(domain=LIBRARY, notices=Notices(Metrics(tools=frozenset())))


def test_a_reply_given_back_in_other_words_is_not_done_twice() -> None:
    memory = Memory(session="s", state=State(pending=(LEND,)))
    given_back = Reply(text="As I said.", calls=(replace(LEND),))
    ledger = folding().fold(memory, [given_back, answer(LEND, "ok")]).state.ledger
    assert (ledger.writes, ledger.unconfirmed) == ((LEND,), ())


@pytest.mark.parametrize("reply", [Reply(text="Well."), Reply(calls=(GET_BOOK,))])
def test_a_history_that_goes_on_without_a_result_leaves_it_open(reply: Reply) -> None:
    memory = Memory(session="s", state=State(pending=(LEND,)))
    ledger = folding().fold(memory, [reply]).state.ledger
    assert [doubt.call for doubt in ledger.unconfirmed] == [LEND]
