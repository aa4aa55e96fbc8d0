"""No text with more values than the bound is given to a decoder, whoever sent it and however."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import bodies
from benchmarks.bodies import WIRES as HOSTILE
from ledgeragent import types
from ledgeragent.gateway import wirejson
from ledgeragent.gateway.memory import digest
from ledgeragent.gateway.sse import EventParser
from ledgeragent.gateway.values import MAX_VALUES, TooManyValuesError, ValueBound, read_call
from ledgeragent.types import Message, Reply, UserMessage
from tests.gateway.conftest import Client
from tests.gateway.upstream import Respond
from tests.gateway.wires import WIRES, Wire
from tests.gateway.world import KNOWN, SAY, TOOLS, WRITE, is_error, run, world
from tests.lending.domain import ADA, BOOK_IN, GET_BOOK, GET_MEMBER, answer, call

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='ab,:[{"\\\n\u00e9'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='a,:[{"\\'), inner),
    max_leaves=40,
)
pytestmark = pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")

SMALL = 1_000
"""A bound for tests that need no large text to be over it."""


def size(value: Any) -> int:
    """Its values and keys, counted one by one."""
    if isinstance(value, dict):
        return 1 + len(value) + sum(map(size, value.values()))
    return 1 + (sum(map(size, value)) if isinstance(value, list) else 0)


@given(JSON, st.booleans())
@settings(max_examples=300, deadline=None)
def test_what_passes_has_no_more_values_than_may_be(value: Any, is_ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii).encode()
    count = size(value)
    with pytest.raises(TooManyValuesError):
        ValueBound(count // 2 - 2 if count > 4 else -1).check(text)
    ValueBound(2 * count).check(text)


@pytest.mark.parametrize("place", range(6))
def test_strings_are_seen_wherever_a_piece_ends(
    monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    monkeypatch.setattr("ledgeragent.gateway.values._PIECE", 7)
    text = " " * place + json.dumps(['\\", [[[[,,,,' * 9, "\\" * 9, '"' * 9, ",\\", [1, 2, 3]])
    ValueBound(8).check(text.encode())
    with pytest.raises(TooManyValuesError):
        ValueBound(7).check(text.encode())


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many values there were in each text that was decoded in one go."""
    sizes: list[int] = []
    strict = types.strict

    class Watching:
        def scan_once(self, text: str, start: int) -> Any:
            value = strict.scan_once(text, start)
            sizes.append(size(value[0]))
            return value

        def decode(self, text: str) -> Any:
            sizes.append(sum(map(text.count, ",:[{")))
            return strict.decode(text)

    for module in (types, wirejson):
        monkeypatch.setattr(module, "strict", Watching())
    yield sizes
    assert max(sizes, default=0) <= MAX_VALUES


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
@pytest.mark.parametrize("number", range(3), ids=["chat", "messages", "responses"])
def test_requests_of_more_values_are_refused_before_they_are_read(
    decoded: list[int], number: int, mode: str
) -> None:
    hostile = HOSTILE[number]
    names = ["a field of lists", "a return of keys"]

    async def scenario() -> None:
        async with world(mode=mode) as w:
            w.upstream.choose = lambda body: SAY
            wire = next(x for x in WIRES if x.path == hostile.path)
            for name in names:
                got = await w.post(wire, hostile.requests()[name]().encode())
                assert got.status == (413 if mode == "enforce" else 200), name
                if mode == "enforce":
                    assert "holds more than 200000 values" in got.body["error"]["message"]
            assert len(w.upstream.asked) == (0 if mode == "enforce" else len(names))
            assert w.gateway.metrics.unjudged == len(w.upstream.asked)

    run(scenario())


def test_replies_of_more_values_are_not_handed_on(decoded: list[int], client: Client) -> None:
    async def scenario() -> None:
        async with world(with_field("[" + "[]," * 100_000 + "[]]"), WRITE) as w:
            got = await client.ask(w, *KNOWN)
            if client.stream:
                assert got.status == 502 or is_error(got.events[-1])
            else:
                assert got.status == 502
                assert "holds more than 200000 values" in got.body["error"]["message"]
            assert "lend_book" not in f"{got.body}{got.events}"
            assert (await client.ask(w, *KNOWN)).reply == WRITE

    run(scenario())


def test_in_shadow_they_pass_and_are_counted(decoded: list[int], client: Client) -> None:
    async def scenario() -> None:
        async with world(with_field("[" + "[]," * 100_000 + "[]]"), mode="shadow") as w:
            assert (await client.ask(w, *KNOWN)).status == 200
            while w.gateway.metrics.active:
                await asyncio.sleep(0.01)
            assert w.gateway.metrics.unjudged == 1

    run(scenario())


def with_field(value: str) -> Respond:
    """A reply with a write and one more field, in the first event where it streams."""

    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        if not body.get("stream"):
            text = json.dumps(wire.answer(WRITE, "r"))
            return web.Response(text=f'{text[:-1]},"x":{value}}}', content_type="application/json")
        first, *rest = wire.events(WRITE, "r")
        at = first.rindex(b"}")
        raw = first[:at] + f',"x":{value}'.encode() + first[at:] + b"".join(rest)
        return web.Response(body=raw, content_type="text/event-stream")

    return respond


def test_the_bound_is_the_operators(client: Client) -> None:
    async def scenario() -> None:
        async with world(SAY, SAY, max_values=SMALL) as w:
            long = (UserMessage(text=", ".join("word" for _ in range(2 * SMALL))),)
            assert (await client.ask(w, *long)).reply == SAY
            got = await client.ask(w, *KNOWN, metadata={"x": [[]] * SMALL})
            assert got.status == 413
            assert f"more than {SMALL} values" in got.body["error"]["message"]

    run(scenario())


def test_a_long_conversation_of_several_megabytes_is_no_attack(client: Client) -> None:
    async def scenario() -> None:
        async with world(WRITE) as w:
            messages: list[Message] = []
            for number in range(1_000):
                book = {**BOOK_IN, "note": "a long note, " * 120, "seen": list(range(60))}
                read = call("get_book", f"b{number}", book_id="B1")
                said = UserMessage(text=f"{number}: " + "once more, please; " * 60)
                messages += [said, Reply(calls=(read,)), answer(read, book), Reply(text="Done.")]
            messages += [UserMessage(text="Now lend it."), Reply(calls=(GET_MEMBER, GET_BOOK))]
            messages += [answer(GET_MEMBER, ADA), answer(GET_BOOK, BOOK_IN)]
            raw = json.dumps(client.wire.request(messages, TOOLS, client.stream)).encode()
            assert len(raw) > 3 << 20
            got = await w.post(client.wire, raw)
            assert got.verdicts == "lend_book=ALLOW"

    run(scenario())


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.name)
def test_every_body_that_is_measured_with_is_json_and_of_its_size(
    monkeypatch: pytest.MonkeyPatch, hostile: Any
) -> None:
    monkeypatch.setattr(bodies, "LARGEST", 200_000)
    monkeypatch.setattr(bodies, "MOST", 5_000)
    for make in [*hostile.requests().values(), *hostile.replies().values()]:
        assert 1_000 < len(make()) <= 200_000
        assert size(json.loads(make())) > 1
    assert all(1_000 < len(make()) <= 200_000 for make in hostile.streams().values())


def test_an_event_of_more_values_ends_the_stream() -> None:
    parser = EventParser(ValueBound(SMALL))
    assert len(list(parser.feed(b'data: {"a": 1}\n\n' * SMALL))) == SMALL
    with pytest.raises(TooManyValuesError, match="an event holds more than 1000 values"):
        list(parser.feed(b"data: [" + b"[]," * SMALL + b"[]]\n\n"))


@pytest.mark.parametrize("depth", range(3))
def test_arguments_of_more_values_are_malformed_and_never_read(
    decoded: list[int], depth: int
) -> None:
    arguments = '{"a": [' + "[]," * 60_000 + "0]}"
    for _ in range(depth):
        arguments = json.dumps({"arguments": arguments})
    made = read_call(name="lend_book", arguments=arguments, id="b")
    assert made.malformed == "arguments of too many values to be read"
    assert (made.name, made.id, dict(made.arguments), decoded) == ("lend_book", "b", {}, [])


def test_arguments_of_much_text_are_read() -> None:
    code = "def f(a, b): return {a: [b]}\n" * 12_000
    made = read_call(name="write_file", arguments=json.dumps({"text": code}))
    assert made.arguments == {"text": code}


def test_spaces_count_for_nothing_in_a_long_text_either() -> None:
    text = "a b\tc\n" * 100_000
    spaced = digest(b"", UserMessage(text=text + "  "))
    assert spaced == digest(b"", UserMessage(text="".join(text.split())))
    assert spaced != digest(b"", UserMessage(text=text + "d"))
