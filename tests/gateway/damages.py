"""Random damage to what a model API answers, against a running gateway: does a write get through?

    python -m tests.gateway.damages --count 10000 --seed 1

Each damage has a number, so that `--first N --count 1` shows one again. After each answer, whatever a
careless client could take for a call is judged once more by the core, on the same ledger.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import gzip
import json
import platform
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aiohttp import web

from ledgeragent.gate import Gate
from ledgeragent.state import State
from ledgeragent.types import Reply, ToolCall
from ledgeragent.verdict import Decision
from tests.gateway.clientview import calls_in, calls_of_stream, events_in
from tests.gateway.upstream import Respond
from tests.gateway.wires import WIRES, Wire, sse
from tests.gateway.world import KNOWN, LONG, MIXED, SAY, TOOLS, UNKNOWN, WRITE, World, world
from tests.lending.domain import GET_BOOK, LEND, LIBRARY

RESULT = Path(__file__).parents[2] / "benchmarks" / "results" / "damages.json"
PATIENCE = 20.0
"""Seconds after which an answer counts as one that hangs."""

REPLIES = (
    LONG,
    UNKNOWN,
    WRITE,
    MIXED,
    Reply(text="Yes.", calls=(GET_BOOK, *UNKNOWN.calls, LEND)),
    Reply(calls=(replace(LONG.calls[0], id=LEND.id), LEND)),
)
WORDS = (
    "tool_calls",
    "function_call",
    "tool_use",
    "message",
    "burn_book",
    "assistant",
    "custom",
    "",
)
ODD = (None, True, 0, -1, 1e9, "", "x", [], {}, "burn_book", "\ud800", [[]], {"name": "burn_book"})
KEYS = {"a": "а", "e": "е", "o": "о", "c": "с"}
"""Letters, and others that look like them."""


def judge() -> Callable[[ToolCall], bool]:
    """Whether a call may be executed, on the ledger of the history that every request sends."""
    gate = Gate(domain=LIBRARY)
    state = State()
    for message in KNOWN:
        state = state.observe(message, LIBRARY)

    def may(call: ToolCall) -> bool:
        _, filtered = state.filter(Reply(calls=(call,)), gate, "drop")
        return filtered.decision is Decision.ALLOW

    return may


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a JSON value."""
    if at:
        yield at
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*at, key))


def damaged(value: Any, rng: random.Random, wire: Wire) -> Any:
    """A JSON value with one part replaced, removed, doubled, moved, renamed or smuggled in."""
    spots = list(places(value))
    if not spots:
        return value
    *above, key = rng.choice(spots)
    parent = value
    for step in above:
        parent = parent[step]
    match rng.randrange(8):
        case 0:
            parent[key] = copy.deepcopy(rng.choice(ODD))
        case 1:
            del parent[key]
        case 2 if isinstance(parent, list):
            parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(parent[key]))
        case 3 if isinstance(parent, dict):
            parent[_renamed(str(key), rng)] = parent.pop(key)
        case 4 if isinstance(parent, list):
            rng.shuffle(parent)
        case 5:
            parent[key] = _smuggled(rng, wire)
        case 6 if isinstance(parent[key], str):
            parent[key] = rng.choice(
                (*WORDS, parent[key].upper(), parent[key] + " ", parent[key] * 2)
            )
        case 7 if isinstance(parent, dict):
            parent[rng.choice(WORDS) or "output"] = _smuggled(rng, wire)
    return value


def _renamed(key: str, rng: random.Random) -> str:
    look = "".join(KEYS.get(letter, letter) for letter in key)
    return str(rng.choice((key.upper(), key.title(), look, f"{key} ", rng.choice(WORDS))))


def _smuggled(rng: random.Random, wire: Wire) -> Any:
    """A call that is forbidden, as some format writes it, in some wrapping."""
    whole = rng.choice((wire, *WIRES)).answer(rng.choice((UNKNOWN, LONG)), "s")
    inner = [whole, *(part for part in _parts(whole))]
    return copy.deepcopy(rng.choice(inner))


def _parts(value: Any) -> Iterator[Any]:
    for at in places(value):
        part = value
        for step in at:
            part = part[step]
        if isinstance(part, dict | list):
            yield part


def torn(data: bytes, rng: random.Random) -> bytes:
    """Bytes of which some are flipped, cut out, doubled, moved, or other bytes."""
    at, size = rng.randrange(len(data) + 1), rng.choice((1, 2, 7, 60, 400))
    other = rng.randrange(len(data) + 1)
    match rng.randrange(8):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + data[at + size :]
        case 2:
            return data[:at] + data[at : at + size] * 2 + data[at + size :]
        case 3:
            return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        case 4:
            return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b"")))
        case 5:
            return rng.choice((b"\xef\xbb\xbf", b"\x00", b": c\n\n", b"\xff\xfe")) + data
        case 6:
            return data[:other] + data[at : at + size] + data[other:]
        case _:
            return gzip.compress(data)[: max(rng.randrange(900), 20)]


def answer_bytes(wire: Wire, reply: Reply, rng: random.Random, *, stream: bool) -> bytes:
    """The reply as the format writes it, damaged up to three times."""
    if not stream:
        value: Any = wire.answer(reply, "resp_1")
    else:
        value = events_in(b"".join(wire.events(reply, "resp_1")))
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        value = damaged(value, rng, wire)
    if stream and isinstance(value, list):
        kinds = (str(e.get("type", "")) if isinstance(e, dict) else "" for e in value)
        names = [kind.split("\n")[0] if rng.random() < 0.97 else "message_stop" for kind in kinds]
        data = b"".join(sse(e, _printable(n)) for e, n in zip(value, names, strict=True))
        data += sse("[DONE]") if wire.name == "chat" else b""
    else:
        data = json.dumps(value).encode()
    return torn(data, rng) if rng.random() < 0.3 else data


def _printable(name: str) -> str:
    return name.encode("ascii", "ignore").decode().replace("\r", "")


def spoiling(rng: random.Random) -> Respond:
    """An upstream that answers with damage, in pieces that end anywhere."""

    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        stream = bool(body.get("stream"))
        data = answer_bytes(wire, rng.choice(REPLIES), rng, stream=stream)
        kind = "text/event-stream" if stream else "application/json"
        headers = {"content-type": kind if rng.random() < 0.97 else "text/html"}
        if rng.random() < 0.02:
            headers["content-encoding"] = rng.choice(("gzip", "br", "identity"))
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.choice((0, 0, 1, 3))))
        for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
            if end > begin:
                await response.write(data[begin:end])
        await response.write_eof()
        return response

    return respond


@dataclass
class Tally:
    """What became of the damages of one format: by outcome, and those that should not be."""

    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


async def one(w: World, wire: Wire, stream: bool, name: str, tally: Tally) -> None:
    """One request, answered with the damage of this name."""
    rng = random.Random(name)
    first = spoiling(rng)
    plays = iter([first, rng.choice((first, SAY, WRITE, LONG))])
    w.upstream.choose = lambda _: next(plays)
    body = json.dumps(wire.request(KNOWN, TOOLS, stream)).encode()
    try:
        async with asyncio.timeout(PATIENCE), w.http.post(f"{w.url}{wire.path}", data=body) as got:
            data, status, kind = await got.read(), got.status, got.content_type
    except TimeoutError:
        tally.faults.append(f"{name}: no answer in {PATIENCE} s")
        return
    except Exception as problem:
        tally.faults.append(f"{name}: {problem!r}")
        return
    for fault in faults_of(status, kind, data):
        tally.faults.append(f"{name}: {fault}")
    has_error = status != 200 or b'"error"' in data
    passed = "with calls" if status == 200 and found(kind, data) else "without calls"
    tally.outcomes["refused" if has_error else passed] += 1


MAY = judge()


def found(kind: str, data: bytes) -> list[ToolCall]:
    """Every call that a client may find in the body."""
    if kind == "text/event-stream":
        return calls_of_stream(events_in(data))
    return list(calls_in(json.loads(data)))


def faults_of(status: int, kind: str, data: bytes) -> Iterator[str]:
    """What is wrong with an answer of the gateway."""
    if status not in (200, 502):
        yield f"status {status}: {data[:200]!r}"
        return
    if status == 502:
        return
    try:
        calls = found(kind, data)
    except ValueError as problem:
        yield f"no JSON: {problem}"
        return
    yield from (f"{call} passed" for call in calls if not MAY(call))


async def damage(wire: Wire, stream: bool, seed: int, numbers: range) -> Tally:
    """Damages of these numbers, one after the other, against one gateway."""
    tally = Tally()
    async with world(timeout=5.0) as w:
        for number in numbers:
            await one(
                w, wire, stream, f"{seed}-{wire.name}-{'s' if stream else 'w'}-{number}", tally
            )
            for kept in (w.upstream.asked, w.upstream.raw, w.upstream.headers):
                kept.clear()
    return tally


def main(argv: list[str] | None = None) -> int:
    """Damages each format, streamed and not; tells, and with `--write` keeps, what became of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="damages for each format and kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--format", choices=[wire.name for wire in WIRES])
    parser.add_argument("--write", action="store_true", help=f"keep the figures in {RESULT.name}")
    options = parser.parse_args(argv)
    rows: dict[str, Any] = {}
    faults: list[str] = []
    for wire in WIRES:
        for stream in (False, True):
            if options.format in (None, wire.name):
                numbers = range(options.first, options.first + options.count)
                began = time.perf_counter()
                tally = asyncio.run(damage(wire, stream, options.seed, numbers))
                faults += tally.faults
                kind = "streamed" if stream else "whole"
                rows[f"{wire.name} {kind}"] = {
                    **dict(sorted(tally.outcomes.items())),
                    "faults": len(tally.faults),
                }
                seconds = time.perf_counter() - began
                print(wire.name, kind, rows[f"{wire.name} {kind}"], f"{seconds:.0f} s", flush=True)
    print(*faults[:40], sep="\n")
    if options.write:
        keep(
            rows,
            {"python": platform.python_version(), "seed": options.seed, "count": options.count},
        )
    return 1 if faults else 0


def keep(rows: dict[str, Any], about: dict[str, Any]) -> None:
    """Writes the figures, beside those of other formats from a run like this one."""
    earlier = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    is_alike = all(earlier.get(name) == value for name, value in about.items())
    formats = {**(earlier["formats"] if is_alike else {}), **rows}
    RESULT.write_text(json.dumps({**about, "formats": formats}, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
