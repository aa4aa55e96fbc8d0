"""Names of tools as hosts write them: read under the pack's where exactly one reading fits, and told."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from ledgeragent.errors import UsageError
from ledgeragent.session.toolnames import ToolNames, ending
from ledgeragent.types import Message, Reply
from tests.gateway.conftest import Client
from tests.gateway.wires import CHAT
from tests.gateway.world import HELLO, KNOWN, OWES, READ, SAY, TOOLS, WRITE, run, world

PACK = frozenset({"find", "get_order", "cancel_order", "order"})


@pytest.mark.parametrize(
    ("offered", "tools"),
    [
        (["mcp__shop__get_order"], {"mcp__shop__get_order": "get_order"}),
        (["shop-cancel_order"], {"shop-cancel_order": "cancel_order"}),
        (["shop.find", "get_order"], {"shop.find": "find"}),
        (
            ["shop_find", "shop_get_order"],
            {"shop_find": "find", "shop_get_order": "get_order"},
        ),
        (["bulk_cancel_order"], {}),
        (["cancel_order", "admin__cancel_order"], {}),
        (["a__cancel_order", "b__cancel_order"], {}),
        (["recancel_order", "_find", "Get_Order"], {}),
        (
            ["mcp__shop__get_order", "mcp__shop__delete_everything"],
            {"mcp__shop__get_order": "get_order"},
        ),
    ],
)
def test_a_prefix_is_found_where_one_reading_fits(
    offered: list[str], tools: dict[str, str]
) -> None:
    assert ToolNames().read(offered, PACK).tools == tools


@pytest.mark.parametrize(
    ("offered", "name", "why"),
    [
        (["bulk_cancel_order"], "bulk_cancel_order", "before no other tool"),
        (["cancel_order", "admin__cancel_order"], "admin__cancel_order", "by its own name"),
        (["a__find", "b__find"], "a__find", "so may b__find"),
    ],
)
def test_a_name_in_doubt_is_told(offered: list[str], name: str, why: str) -> None:
    assert why in ToolNames().read(offered, PACK).doubtful[name]


def test_what_the_operator_says_of_names_comes_first() -> None:
    names = ToolNames(
        prefixes=("bulk_",), aliases={"a__find": "find"}, neutrals=frozenset({"note_find"})
    )
    reading = names.read(["bulk_cancel_order", "a__find", "b__find", "note_find"], PACK)
    assert reading.tools == {"bulk_cancel_order": "cancel_order", "a__find": "find"}
    assert "note_find" not in reading.doubtful


@pytest.mark.parametrize(
    "names", [ToolNames(aliases={"a": "nowhere"}), ToolNames(neutrals=frozenset({"find"}))]
)
def test_what_the_pack_does_not_have_or_says_itself_is_an_error(names: ToolNames) -> None:
    with pytest.raises(UsageError, match="the pack"):
        names.check(PACK)


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("Tool_Cancel_Order", "cancel_order"),
        ("x-cancel-order", "cancel_order"),
        ("recancel_order", None),
        ("cancel", None),
    ],
)
def test_an_ending_is_a_word_of_its_own(name: str, tool: str | None) -> None:
    assert ending(name, ["cancel_order"]) == tool


PREFIXED: dict[str, dict[str, Any]] = {
    "mcp__library__": {},
    "library-": {},
    "library_": {},
    "the": {"tool_names": ToolNames(prefixes=("the",))},
}


def named(prefix: str, *messages: Message) -> list[Message]:
    from dataclasses import replace

    return [
        Reply(text=m.text, calls=tuple(replace(c, name=f"{prefix}{c.name}") for c in m.calls))
        if isinstance(m, Reply)
        else m
        for m in messages
    ]


@pytest.mark.parametrize("prefix", PREFIXED)
def test_prefixed_calls_are_judged_and_stay_prefixed(client: Client, prefix: str) -> None:
    """Asked for a read, revised, refused and let through, all by the names on the wire."""

    async def scenario() -> None:
        tools = [f"{prefix}{tool}" for tool in TOOLS]
        write, read, say = (named(prefix, reply)[0] for reply in (WRITE, READ, SAY))
        script: Any = (write, read, write, write, say)
        async with world(*script, **PREFIXED[prefix]) as w:
            got = await client.ask(w, HELLO, tools=tools)
            assert got.verdicts == "lend_book=REVISE,get_member=ALLOW,get_book=ALLOW"
            assert got.called == [f"{prefix}get_member", f"{prefix}get_book"]
            told = client.wire.told(w.upstream.asked[-1])
            assert f"{prefix}get_book(" in told and " get_book(" not in told
            got = await client.ask(w, *named(prefix, *KNOWN), tools=tools)
            assert (got.verdicts, got.called) == ("lend_book=ALLOW", [f"{prefix}lend_book"])
            got = await client.ask(w, *named(prefix, *OWES), tools=tools)
            assert got.verdicts == "lend_book=BLOCK"

    run(scenario())


def test_how_names_are_read_is_told_at_the_first_request(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with world(SAY, SAY) as w:
            for _ in range(2):
                await client.ask(w, HELLO, tools=["lib__get_book", "burn_book"])

    with caplog.at_level(logging.WARNING, "ledgeragent.gateway"):
        run(scenario())
    texts = [record.getMessage() for record in caplog.records]
    assert len(texts) == 2
    assert "lib__get_book as get_book" in texts[0]
    assert "burn_book" in texts[1] and "--neutral" in texts[1]


@pytest.mark.parametrize("name", ["bulk_lend_book", "Lend_Book", "x-lend-book"])
def test_a_look_alike_of_a_write_that_passes_unjudged_is_told(
    client: Client, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    from ledgeragent.verdict import Decision

    async def scenario() -> None:
        async with world(SAY, unknown=Decision.ALLOW) as w:
            await client.ask(w, HELLO, tools=[*TOOLS, name])

    with caplog.at_level(logging.WARNING, "ledgeragent.gateway"):
        run(scenario())
    assert any(f"calls of {name} pass" in r.getMessage() for r in caplog.records)


def test_a_request_of_very_many_tools_is_told_in_a_short_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Clients name the tools, and the log is the operator's."""

    async def scenario() -> None:
        async with world(SAY) as w:
            names = [f"tool_{n}_{'x' * 40}" for n in range(3_000)]
            body = CHAT.request(KNOWN, [*TOOLS, *names], False)
            assert (await w.post(CHAT, json.dumps(body).encode())).status == 200

    with caplog.at_level("WARNING", "ledgeragent.gateway"):
        run(scenario())
    assert any("more" in record.getMessage() for record in caplog.records)
    assert max(len(record.getMessage()) for record in caplog.records) < 20_000
