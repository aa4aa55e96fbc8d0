"""Bodies that begin like one that was read: they are read as any other, whatever is in them."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from ledgeragent.gateway.dialects.base import Dialect, decode
from ledgeragent.gateway.dialects.chat import ChatDialect
from ledgeragent.gateway.dialects.messages import MessagesDialect
from ledgeragent.gateway.memory import Histories
from ledgeragent.gateway.readhistory import NOTHING
from ledgeragent.gateway.readings import Readings
from ledgeragent.gateway.values import ValueBound
from ledgeragent.types import UserMessage

BOUND = ValueBound()
DIALECTS: tuple[Dialect, ...] = (ChatDialect(), MessagesDialect())
SPACES = ("", " ", "\n\t", " \r\n ")
ODD = (
    "",
    ",",
    ",,",
    "]",
    "}",
    ', "messages": []',
    ', "messages": [{"role": "user", "content": "other"}]',
    ', "stream": true, "stream": false',
    ', "model": "second"',
    ', "tools": [{"messages": [1]}]',
    ', "x": "\\u0022messages\\u0022: ["',
    ', "x": "\\"messages\\": ["',
    ', "x": NaN',
    ', "x": 1e999',
    ', "x": 12345678901234567890123456789',
    ', "x": "\\ud800"',
    ', "\\u006dessages": [{"role": "user", "content": "escaped"}]',
    ", x",
    '"x": 1',
)
HEADS = (
    "",
    '"model": "m", ',
    '"model": "m",, ',
    ", ",
    '"messages": [{"role": "user", "content": "first"}], ',
    '"system": "say \\"messages\\": [", ',
    '"system": {"messages": [{"role": "user", "content": "inner"}]}, ',
    '"\\u006dessages": [{"role": "user", "content": "escaped"}], ',
    '"model": ',
    '"model": "a", "model": "b", ',
)


def message(chance: random.Random, number: int) -> str:
    said = f"{number} " + chance.choice(
        ("words", "Wörter 🙂", "a \\ b", '"messages": [', "]}", "\u2028")
    )
    text = json.dumps(said * chance.choice((1, 40)), ensure_ascii=chance.random() < 0.5)
    role = chance.choice(("user", "assistant"))
    space = chance.choice(SPACES)
    pairs = [f'"role":{space}"{role}"', f'"content"{space}:{text}']
    if chance.random() < 0.1:
        pairs.append('"content": "twice"')
    if chance.random() < 0.3:
        pairs.reverse()
    return chance.choice(("{%s}", "{ %s\n}")) % f",{space}".join(pairs)


def body(chance: random.Random, head: str, messages: list[str], rest: str) -> bytes:
    space = chance.choice(SPACES)
    listed = f"{space},".join(messages)
    if chance.random() < 0.2:
        listed += chance.choice((",", "]", " 1", ", 1", '"'))
    return f'{space}{{{head}"messages"{space}:{space}[{listed}{space}]{rest}}}{space}'.encode(
        "utf-8", "surrogatepass"
    )


def outcome(raw: bytes, dialect: Dialect, readings: Readings | None) -> Any:
    """What a body is read as, or what is said against it."""
    try:
        if readings is None:
            decoded, reading = decode(raw, bound=BOUND), None
        else:
            decoded, reading = readings.decode(raw, dialect, BOUND)
        earlier = reading.earlier if reading is not None else NOTHING
        request = dialect.conversation(decoded, earlier)
        if reading is not None and readings is not None:
            reading.take(request.messages)
            readings.keep(reading, dialect)
        return json.dumps(decoded), request
    except Exception as problem:
        return type(problem), str(problem)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.path)
@pytest.mark.parametrize("seed", range(40))
def test_a_body_is_read_the_same_whatever_was_read_before(dialect: Dialect, seed: int) -> None:
    chance, readings = random.Random(seed), Readings(1 << 24)
    for _ in range(12):
        head = chance.choice(HEADS)
        messages = [message(chance, n) for n in range(chance.randint(1, 60))]
        for _ in range(6):
            rest = chance.choice(ODD) if chance.random() < 0.5 else ', "stream": false'
            raw = body(random.Random(chance.choice((seed, seed + 1))), head, messages, rest)
            if chance.random() < 0.1:
                raw = raw[: chance.randrange(len(raw))]
            assert outcome(raw, dialect, readings) == outcome(raw, dialect, None)
            if chance.random() < 0.2:
                messages = messages[: chance.randint(1, len(messages))]
            messages += [message(chance, n) for n in range(chance.randint(0, 4))]


def long_body(turns: int) -> bytes:
    messages = [{"role": "user", "content": f"{n} {'words ' * 40}"} for n in range(turns)]
    return json.dumps({"messages": messages, "model": "m"}).encode()


def test_only_what_is_new_is_read() -> None:
    dialect, readings = ChatDialect(), Readings(1 << 24)
    assert outcome(long_body(40), dialect, readings)
    raw = long_body(42)
    decoded, reading = readings.decode(raw, dialect, BOUND)
    assert reading is not None
    assert reading.earlier.items == 40
    before = reading.earlier.messages
    request = dialect.conversation(decoded, reading.earlier)
    assert len(request.messages) == 42
    assert all(one is other for one, other in zip(before, request.messages, strict=False))


def test_another_format_reads_the_same_bytes_for_itself() -> None:
    readings = Readings(1 << 24)
    for dialect in (*DIALECTS, *DIALECTS):
        assert outcome(long_body(40), dialect, readings) == outcome(long_body(40), dialect, None)


def test_readings_stay_within_their_bound() -> None:
    dialect, raw = ChatDialect(), long_body(40)
    readings = Readings(10 * len(raw))
    for number in range(20):
        outcome(raw.replace(b"words", b"w%04d" % number), dialect, readings)
    kept = sum(
        readings.decode(raw.replace(b"words", b"w%04d" % n), dialect, BOUND)[1].earlier != NOTHING  # type: ignore[union-attr]
        for n in range(20)
    )
    assert kept == 2


def test_a_history_is_not_digested_again_for_whoever_sent_it() -> None:
    dialect, readings, memories = ChatDialect(), Readings(1 << 24), Histories()
    plain = Histories()
    for turns, scope in ((40, "one"), (41, "one"), (42, "other"), (43, "one")):
        decoded, reading = readings.decode(long_body(turns), dialect, BOUND)
        assert reading is not None
        messages = dialect.conversation(decoded, reading.earlier).messages
        reading.take(messages)
        readings.keep(reading, dialect)
        assert isinstance(messages[-1], UserMessage)
        assert memories.find(messages, scope, reading).key == plain.find(messages, scope).key


NEXT = '{"role": "assistant", "content": "next"}'
TAILS = (
    "",
    "]",
    "]}",
    ",]}",
    " , ]}",
    "]]}",
    "}]}",
    "]},",
    "],}",
    "] x}",
    ", 1]}",
    ",, 1]}",
    "1]}",
    f"{NEXT}]}}",
    f",{NEXT}]}}",
    f" ,\n{NEXT} ] \t}}\r\n",
    f",{NEXT},]}}",
    f",{NEXT}]",
    f",{NEXT}]}}}}",
    f',{NEXT}], "messages": [{NEXT}]}}',
    f',{NEXT}], "\\u006dessages": [{NEXT}]}}',
    f',{NEXT}], "messages": null}}',
    f',{NEXT}], "stream": true, "stream": false}}',
    f',{NEXT}], "model": "other"}}',
    f',{NEXT}], "stream" : NaN}}',
    f',{NEXT}]\x0b, "stream": true}}',
    f',{NEXT}],\u00a0"stream": true}}',
    ',{"role": "tool", "tool_call_id": 1, "content": {}}]}',
    ',{"role": "nobody"}]}',
    f",{'[' * 3000}",
    ',"\ud800"]}',
)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.path)
@pytest.mark.parametrize("tail", TAILS, ids=range(len(TAILS)))
def test_whatever_follows_a_history_is_read_as_it_is_behind_any(
    dialect: Dialect, tail: str
) -> None:
    readings = Readings(1 << 24)
    begun = long_body(40)
    outcome(begun, dialect, readings)
    history = begun[: begun.index(b"]")]
    raw = history + tail.encode("utf-8", "surrogatepass")
    assert outcome(raw, dialect, readings) == outcome(raw, dialect, None)
