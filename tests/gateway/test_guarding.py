"""The gateway's judgement inside another program, without that program."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

import pytest

from ledgeragent.errors import UsageError
from ledgeragent.gateway.errors import BadRequestError, RefusedTooOftenError
from ledgeragent.gateway.guarding import Guarding
from ledgeragent.gateway.guardoptions import GuardrailOptions
from ledgeragent.gateway.overhearing import Overhearing
from ledgeragent.gateway.settings import Settings
from ledgeragent.gateway.sse import EventParser, ServerEvent
from tests.gateway.wires import CHAT, MESSAGES, RESPONSES, Wire
from tests.gateway.world import HELLO, KNOWN, READ, TOOLS, WRITE
from tests.lending.domain import LIBRARY

WIRES = pytest.mark.parametrize("wire", [CHAT, MESSAGES, RESPONSES], ids=lambda wire: wire.name)


def guarding(**settings: Any) -> Guarding:
    return Guarding(LIBRARY, Settings(upstream="", context_role="last", **settings))


async def _events(wire: Wire, reply: Any) -> AsyncIterator[ServerEvent]:
    for event in EventParser().feed(b"".join(wire.events(reply, "r1"))):
        yield event


def _whole(wire: Wire, reply: Any) -> bytes:
    return json.dumps(wire.answer(reply, "r1")).encode()


async def _never(body: Any) -> bytes:
    raise AssertionError("nothing is asked again")


@WIRES
def test_an_allowed_reply_stays_as_it_is_and_a_rejected_one_is_asked_for_again(wire: Wire) -> None:
    async def play() -> None:
        judge = guarding()
        body = wire.request(KNOWN, TOOLS, False)
        allowed = await judge.begin(wire.path, body, None, "")
        assert allowed is not None and "<ledger>" in json.dumps(allowed.prompt)
        whole = _whole(wire, WRITE)
        assert await allowed.answer(whole, _never) == whole
        asked: list[Any] = []

        async def ask(body: Any) -> bytes:
            asked.append(body)
            return _whole(wire, READ)

        rejected = await judge.begin(wire.path, wire.request((HELLO,), TOOLS, False), None, "")
        assert rejected is not None
        answer = await rejected.answer(_whole(wire, WRITE), ask)
        assert wire.read(json.loads(answer)).calls == READ.calls
        assert len(asked) == 1 and "get_book" in json.dumps(asked[0])
        assert rejected.verdicts == "lend_book=REVISE,get_member=ALLOW,get_book=ALLOW"
        assert judge.metrics.decisions["lend_book", "REVISE"] == 1

    asyncio.run(play())


@WIRES
def test_a_stream_holds_what_is_rejected(wire: Wire) -> None:
    async def play() -> None:
        judge = guarding(max_revisions=0)
        body = wire.request((HELLO,), TOOLS, True)
        guarded = await judge.begin(wire.path, body, None, "")
        assert guarded is not None
        sent = [event async for event in guarded.stream(_events(wire, WRITE), _listen)]
        assert "lend_book" not in json.dumps([event.data for event in sent])
        assert any("lend_book=REVISE" in event.name for event in sent)

    asyncio.run(play())


async def _listen(body: Any) -> Any:
    raise AssertionError("nothing is asked again")
    yield


@WIRES
@pytest.mark.parametrize("stream", [False, True])
def test_in_shadow_all_passes_and_is_judged(wire: Wire, stream: bool) -> None:
    async def play() -> None:
        judge = guarding(mode="shadow")
        body = wire.request((HELLO,), TOOLS, stream)
        guarded = await judge.begin(wire.path, body, None, "")
        assert guarded is not None and guarded.prompt == body
        if stream:
            heard = Overhearing()
            async for event in _events(wire, WRITE):
                heard.add(partial(iter, (event,)))
            await guarded.overheard(heard)
        else:
            whole = _whole(wire, WRITE)
            assert await guarded.answer(whole, _never) == whole
        assert guarded.verdicts == "lend_book=REVISE"
        assert await judge.begin(wire.path, {"messages": 3, "input": 3}, None, "") is None
        assert judge.metrics.unjudged == 1

    asyncio.run(play())


def test_a_stream_that_passes_is_kept_within_a_bound_and_stops_for_nothing() -> None:
    async def play(heard: Overhearing) -> None:
        judge = guarding(mode="shadow")
        guarded = await judge.begin(CHAT.path, CHAT.request((HELLO,), TOOLS, True), None, "")
        assert guarded is not None
        await guarded.overheard(heard)
        assert (guarded.verdicts, judge.metrics.unjudged) == ("", 1)

    def broken() -> Iterator[ServerEvent]:
        raise KeyError("type")
        yield

    endless, odd = Overhearing(limit=1_000), Overhearing()
    for _ in range(100):
        endless.add(lambda: [ServerEvent("", {"choices": "x" * 50})])
        odd.add(broken)
    assert endless.parts == odd.parts == []
    assert str(endless.problem) == "the answer is over 1000 bytes"
    for heard in (endless, odd):
        asyncio.run(play(heard))


def test_a_conversation_that_is_refused_again_and_again_is_not_asked_about_any_more() -> None:
    async def play() -> None:
        judge = guarding(max_revisions=0, max_refusals=1)
        body = CHAT.request((HELLO,), TOOLS, False)
        first = await judge.begin(CHAT.path, body, "mine", "")
        assert first is not None
        await first.answer(_whole(CHAT, WRITE), _never)
        with pytest.raises(RefusedTooOftenError):
            await judge.begin(CHAT.path, body, "mine", "")

    asyncio.run(play())


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(BadRequestError):
        asyncio.run(guarding().begin(CHAT.path, {"messages": 3}, None, ""))


@pytest.mark.parametrize(
    "section, problem",
    [
        (None, "should be options"),
        ({}, "name the pack"),
        ({"domain": "shop", "domian": 1}, "ledgeragent.domian: no such option"),
        ({"domain": "shop", "max_revisions": "2"}, "max_revisions: should be a number"),
        ({"domain": "shop", "max_revisions": -1}, "max_revisions: should be a number"),
        ({"domain": "shop", "max_revisions": True}, "max_revisions: should be a number"),
        ({"domain": "shop", "shadow": "no"}, "shadow: should be true or false"),
        ({"domain": "shop", "redact": [1]}, "redact: should be a list of names"),
        ({"domain": "shop", "context_role": "first"}, "context_role: 'first' should be one of"),
        ({"domain": "shop", "unknown_tools": "perhaps"}, "unknown_tools: 'perhaps'"),
        ({"domain": "shop", "undecided": "revise"}, "undecided: 'revise'"),
        ({"domain": "nowhere"}, "nowhere"),
        ({"domain": "shop", "redact": ["text"]}, "redact: needs journal"),
    ],
)
def test_a_wrong_option_is_named(section: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        GuardrailOptions.read(section).guarding()


def test_options_reach_the_judge() -> None:
    judge = GuardrailOptions.read({"domain": "shop", "shadow": True, "neutral": "note"}).guarding()
    assert judge.is_shadow and judge.domain.name == "shop"
