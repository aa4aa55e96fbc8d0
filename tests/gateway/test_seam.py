"""Revised streams: words that were sent are not sent again, and others stand clear of them."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.gateway.dialects.chat import ChatStream
from ledgeragent.gateway.dialects.responses import ResponsesStream
from ledgeragent.gateway.seam import BREAK, Seam
from ledgeragent.gateway.sse import ServerEvent
from ledgeragent.types import Reply, ToolCall, UserMessage
from tests.gateway.upstream import Respond, sent, stepwise
from tests.gateway.wires import RESPONSES, Wire, sse
from tests.gateway.world import KNOWN, LONG, TOOLS, WRITE, run, world
from tests.lending.domain import GET_BOOK, LEND

REJECTED = LONG.calls
TOO_LONG = "I can't do that: a loan of 120 days is too long: 28 at most."
ENDS: dict[str, tuple[ToolCall, ...]] = {
    "nothing": (),
    "a read": (GET_BOOK,),
    "a write": (LEND,),
}
TEXTS: dict[str, tuple[list[str], str]] = {
    "the same": (["Let me see.", "Let me see."], "Let me see."),
    "the same and more": (["Let me see.", "Let me see. It is in."], "Let me see. It is in."),
    "the same beginning": (["Let me see.", "Let us look."], "Let me see.\n\nLet us look."),
    "something else": (["One.", "Two."], "One.\n\nTwo."),
    "only the beginning": (["No problem.", "No"], "No problem.\n\nNo"),
    "the same before a space": (["Let me see.", "Let me see.\n"], "Let me see."),
    "the same after a space": (["Let me see.\n", "Let me see."], "Let me see.\n"),
    "a word after a space": (["Let me ", "Let metal rust."], "Let me \n\nLet metal rust."),
    "more after a space": (["One.\n", "One. Two."], "One.\n Two."),
    "more after the same space": (["One.\n", "One.\nTwo."], "One.\nTwo."),
    "a word that goes on": (["Let me", "Let metal rust."], "Let metal rust."),
    "nothing before": (["", "Two."], "Two."),
    "a space before": ([" ", "Two."], " Two."),
    "ever more": (["A.", "A. B.", "A. B. C."], "A. B. C."),
    "the last but not the first": (["A.", "B.", "B. C."], "A.\n\nB. C."),
    "the first but not the last": (["A.", "B.", "A. C."], "A.\n\nB.\n\nA. C."),
    "the same after silence": (["A.", "", "A. B."], "A. B."),
    "three times the same": (["A.", "A.", "A."], "A."),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("case", TEXTS)
def test_what_a_client_reads_of_revised_replies(wire: Wire, case: str, end: str) -> None:
    texts, shown = TEXTS[case]
    calls = ENDS[end]

    async def scenario() -> None:
        script = [Reply(text=text, calls=REJECTED) for text in texts[:-1]]
        script.append(Reply(text=texts[-1], calls=calls))
        async with world(*script, max_revisions=2) as w:
            got = await w.ask(wire, KNOWN, stream=True)
            assert got.reply == Reply(text=shown, calls=calls)

    run(scenario())


@pytest.mark.parametrize("text", ["Let me see.", "Let me see. It is in.", "Something else."])
def test_the_conversation_goes_on_from_what_was_read(wire: Wire, text: str) -> None:
    """What was rejected is known with the next turn, so the history was found again."""

    async def scenario() -> None:
        first = Reply(text="Let me see.", calls=REJECTED)
        async with world(first, Reply(text=text, calls=REJECTED), WRITE) as w:
            got = await w.ask(wire, KNOWN, stream=True)
            assert got.reply is not None
            assert got.reply.text.endswith(f"\n\n{TOO_LONG}")
            assert got.reply.text.count("Let me see.") == 1
            await w.ask(wire, (*KNOWN, got.reply, UserMessage(text="Then less.")), stream=True)
            assert "rejected before" in wire.told(w.upstream.asked[-1])

    run(scenario())


def test_a_refusal_stands_clear_of_what_was_said(wire: Wire) -> None:
    async def scenario() -> None:
        for stream in (False, True):
            async with world(LONG, max_revisions=0) as w:
                got = await w.ask(wire, KNOWN, stream=stream)
                assert got.reply is not None
                assert got.reply.text.startswith(f"{LONG.text}\n\nI can't do that: ")

    run(scenario())


def test_new_words_pass_at_once(wire: Wire) -> None:
    """The client has them before the upstream has gone on."""

    async def scenario() -> None:
        steps = asyncio.Semaphore(0)
        first = Reply(text="Let me see.", calls=REJECTED)
        again = Reply(text="Let me see. It is here again.", calls=(LEND,))
        pieces = wire.events(again, "r")
        reached = next(n for n, piece in enumerate(pieces) if b"again" in piece)
        async with world(first, stepwise(again, steps)) as w:
            body = json.dumps(wire.request(KNOWN, TOOLS, True))
            async with w.http.post(f"{w.url}{wire.path}", data=body) as response:
                for _ in range(reached + 1):
                    steps.release()
                read = b""
                while b"again" not in read:
                    read += await response.content.readany()
                assert b"see. It" not in read
                for _ in pieces:
                    steps.release()
                await response.content.read()

    run(scenario())


def test_reasoning_keeps_what_it_led_to() -> None:
    """A client that sends the items back must not send reasoning that leads to nothing."""

    def thinking(reply: Reply) -> Respond:
        async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
            item = {"type": "reasoning", "id": "rs", "summary": []}
            at = {"output_index": 0, "item": item}
            pieces = [sse(d, d["type"]) for d in _behind(item, wire, reply)]
            thought = [sse({"type": f"response.output_item.{k}", **at}) for k in ("added", "done")]
            return await sent(request, [*pieces[:2], *thought, *pieces[2:]])

        return respond

    async def scenario() -> None:
        first = Reply(text="Let me see.", calls=REJECTED)
        async with world(first, thinking(Reply(text=first.text))) as w:
            got = await w.ask(RESPONSES, KNOWN, stream=True)
            output = got.events[-1]["response"]["output"]
            assert [item["type"] for item in output] == ["message", "reasoning", "message"]

    run(scenario())


def _behind(item: Any, wire: Wire, reply: Reply) -> list[Any]:
    """The events of a reply, with an item before all others."""
    shifted = []
    for event in wire.events(reply, "r"):
        data = json.loads(event.decode().split("data: ")[1])
        if "output_index" in data:
            data["output_index"] += 1
        if data["type"] == "response.completed":
            data["response"]["output"].insert(0, item)
        shifted.append(data)
    return shifted


def feed(stream: Any, *data: Any) -> list[Any]:
    return [out.data for item in data for out in stream.feed(ServerEvent("", item))]


def test_what_stands_beside_the_text_of_a_chunk_passes() -> None:
    stream = ChatStream(frozenset())

    def chunk(content: str, reason: str | None = None, **more: Any) -> Any:
        choice = {"index": 0, "delta": {"content": content, **more}, "finish_reason": reason}
        return {"id": "c", "choices": [{**choice, "logprobs": {"content": [content]}}]}

    for reason in ("", "more"):
        out = feed(stream, chunk("Yes", reasoning_content="hm"), chunk(reason, "stop"))
        deltas = [choice["delta"] for data in out for choice in data["choices"]]
        assert [d for d in deltas if d.get("reasoning_content")]
        assert stream.reply().reply.text == f"Yes{reason}"
        stream.again()
    assert [c["logprobs"] for d in out for c in d["choices"] if c["delta"].get("content")] == [
        {"content": ["more"]}
    ]


def test_a_message_of_the_responses_that_has_no_deltas_passes_whole() -> None:
    """As does one that turns into something the gate must see."""
    stream = ResponsesStream(frozenset())
    pieces = RESPONSES.events(Reply(text="One."), "r")
    whole = [json.loads(piece.decode().split("data: ")[1]) for piece in pieces]
    feed(stream, *whole)
    stream.reply()
    stream.again()
    bare = [data for data in whole if not data["type"].endswith("delta")]
    kinds = [data["type"] for data in feed(stream, *bare)]
    assert kinds.count("response.output_item.done") == 1
    assert stream.reply().reply.text == "One."


TEXT = st.text(alphabet="ab \n", max_size=6)


def spaced(text: str) -> str:
    """The text with each stretch of spaces as one, and none at its end."""
    return re.sub(r"\s+", " ", text).rstrip()


@given(texts=st.lists(st.tuples(TEXT, st.integers(1, 4)), min_size=1, max_size=4))
def test_whatever_is_said_however_it_is_cut(texts: list[tuple[str, int]]) -> None:
    """The client reads all replies, the last one at the end, and none twice in a row."""
    seam, read, said = Seam(), "", []
    for number, (text, size) in enumerate(texts):
        if number:
            seam.again()
        before = read
        for at in range(0, len(text), size):
            piece = text[at : at + size]
            read += "".join(e.name for e in seam.add(piece, lambda t: [ServerEvent(t, None)]))
        read += "".join(e.name for e in seam.close())
        assert seam.text == text
        assert read.startswith(before)
        assert spaced(read).endswith(spaced(text))
        new = text[seam.repeated :]
        assert read in (before + new, before + BREAK + new)
        said += [text.rstrip()] if text.strip() else []
    assert seam.has_words is bool(read.strip())
    if len(set(said)) == 1:
        assert read.rstrip().endswith(said[0])
        assert len(read.strip()) == len(said[0].strip())
