"""The fold of a replay: what is judged, on which ledger, and what executed, as by the plain reducer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.absorb import absorb
from ledgeragent.domain import Domain
from ledgeragent.effects import ReturnRoute, Tool, Write
from ledgeragent.ledger import Evidence, Ledger, Touch
from ledgeragent.offline.judging import JudgedCall, follow, gate_of_records, judge, judge_followed
from ledgeragent.offline.ledgerdraft import LedgerDraft
from ledgeragent.offline.observation import Observations
from ledgeragent.offline.traces import Trace
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Verdict
from tests.lending.domain import ADA, BOOK, BOOK_IN, BOOK_OUT, LIBRARY, MEMBER
from tests.property.world import searched

TOOLS = (
    "find_member",
    "get_member",
    "get_book",
    "get_book",
    "list_books",
    "lend_book",
    "lend_book",
    "move_member",
    "shelve_book",
    "call_librarian",
    "burn_book",
)
VALUES: tuple[Json, ...] = (
    ADA,
    {**ADA, "fines": 3.0},
    BOOK_IN,
    BOOK_OUT,
    {**BOOK_IN, "status": 5},
    {"book_id": "B1", "title": "Ferns"},
    {"book_id": "B2", "status": "in"},
    {"title": "Ferns", "status": "in"},
    [{"book_id": "B1", "title": "Mosses"}, {"book_id": "B2", "status": "out"}],
    [BOOK_IN, {"title": "nobody's"}],
    [1, None],
    {"result": json.dumps(BOOK_OUT)},
    [{"type": "text", "text": json.dumps(BOOK_IN)}],
    {},
    7,
    "M1",
)
TEXTS = (
    *map(json.dumps, VALUES[:6]),
    *map(json.dumps, VALUES),
    repr(BOOK_OUT),
    '{"book_id": "B1", "book_id": "B2"}',
    "{",
    "",
    "Error: not today",
    "Error: withdrawn",
    "504 Gateway timeout",
    "connection reset",
    "done",
)
KEYS: st.SearchStrategy[Json] = st.sampled_from(("B1", "B1", "B1", "B2", "M1", "", 1, True, None))
ARGUMENTS = st.fixed_dictionaries(
    {"book_id": KEYS, "member_id": st.sampled_from(("M1", "M1", "M2"))},
    optional={"days": st.sampled_from((1, 99, "x")), "city": st.sampled_from(("Delft", ""))},
)
IDS = st.sampled_from(("", "a", "b", "c"))
LEND = {"book_id": "B1", "member_id": "M1", "days": 7}
LOOK = Reply(calls=(ToolCall(name="lend_book", arguments=LEND, id="a"),))
"""A call that is judged, so that what was read before is looked at."""


@st.composite
def calls(draw: st.DrawFn) -> ToolCall:
    name, key = draw(st.sampled_from(TOOLS)), draw(IDS)
    if draw(st.integers(0, 9)) == 0:
        return ToolCall(name=name, id=key, malformed="{")
    return ToolCall(name=name, arguments=draw(ARGUMENTS), id=key)


def returns(to: str) -> st.SearchStrategy[ToolReturn]:
    """What may come back for a call of this id: most of it is an answer."""
    return st.builds(
        ToolReturn,
        call_id=st.sampled_from((to, to, to, to, "a", "lost")),
        content=st.sampled_from((*TEXTS, *VALUES)),
        error=st.sampled_from((False, False, False, False, True)),
        lost=st.sampled_from((False, False, False, False, True)),
    )


@st.composite
def exchanges(draw: st.DrawFn) -> list[Message]:
    """A reply with calls, and what comes back: all of it or not, in any order."""
    made = tuple(draw(st.lists(calls(), min_size=1, max_size=3)))
    reply = Reply(text=draw(st.sampled_from(("", "Let me see"))), calls=made, at=draw(TIMES))
    back = [draw(returns(one.id)) for one in made if draw(st.integers(0, 5))]
    return [reply, *draw(st.permutations(back))]


TIMES = st.sampled_from(("", "", "2024-05-01", "2024-05-02"))
TALK: st.SearchStrategy[list[Message]] = st.one_of(
    st.builds(UserMessage, text=st.sampled_from(("", "Lend me Ferns"))),
    st.builds(Reply, text=st.sampled_from(("", "Well")), at=TIMES),
    returns("c"),
    st.just(LOOK),
).map(lambda message: [message])
RUNS = st.lists(st.one_of(exchanges(), exchanges(), TALK), min_size=1, max_size=8)


def _answering(tool: Tool) -> Tool:
    if not isinstance(tool, Write):
        return tool
    routes = (
        ReturnRoute(to=BOOK, omit=frozenset({"status"})),
        ReturnRoute(to=MEMBER, merge=True),
    )
    return replace(tool, returns=routes)


def every_record(ledger: Ledger) -> Iterable[Touch]:
    return [Touch(entry.path) for entry in ledger]


def of_early_reads(arguments: Json, ledger: Ledger) -> list[Touch]:
    """What a write touches that asks the whole ledger, and not for records alone."""
    books = {entry.path for entry in ledger.glob(BOOK)}
    early = [e for e in ledger if e.turn < ledger.turn or e.path in books]
    return [Touch(e.path) for e in early[len(ledger.writes) + len(ledger.utterances) :]]


def looking(tool: Tool) -> Tool:
    if not isinstance(tool, Write):
        return tool
    return replace(_answering(tool), touches=(*tool.touches, of_early_reads))


DOMAINS = {
    "plain": LIBRARY,
    "answering": replace(LIBRARY, tools=[_answering(tool) for tool in LIBRARY.tools]),
    "listening": replace(LIBRARY, listens=True, timed=True),
    "timed": replace(LIBRARY, timed=True),
    "shared": replace(LIBRARY, shared=every_record),
    "looking": replace(LIBRARY, tools=[*map(looking, LIBRARY.tools)], listens=True),
}


def nameless(read: ToolCall) -> ToolCall:
    """A read without its id: that of an earlier one with the same answer stands for it."""
    return replace(read, id="")


def seen(ledger: Ledger) -> Json:
    """All that there is to be seen of a ledger, in its order."""
    return (
        [
            (
                replace(e, source=nameless(e.source)),
                list(e.stale),
                list(e.stale_kinds.items()),
                {name: (nameless(o.source), o.turn) for name, o in e.inherited.items()},
            )
            for e in ledger
        ],
        list(ledger.writes),
        ledger.unconfirmed,
        list(ledger.unavailable.items()),
        list(ledger.utterances),
        (ledger.turn, ledger.now),
    )


def without_ids(evidence: Iterable[Evidence]) -> list[Evidence]:
    return [fact._replace(source=nameless(fact.source)) for fact in evidence]


def answered(verdict: Verdict) -> str:
    """All that there is to be seen of a verdict."""
    findings, shadow = (
        tuple(f._replace(evidence=without_ids(f.evidence)) for f in own)
        for own in (verdict.findings, verdict.shadow)
    )
    evidence = without_ids(verdict.evidence)
    return repr(verdict._replace(findings=findings, shadow=shadow, evidence=evidence))


def told(calls: Iterable[JudgedCall]) -> Json:
    return [
        (one.call, answered(one.verdict), one.executed, one.number, one.message, seen(one.ledger))
        for one in calls
    ]


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
@searched
@given(blocks=RUNS)
def test_a_run_is_judged_as_if_every_state_had_been_made(
    domain: Domain, blocks: list[list[Message]]
) -> None:
    trace = Trace(run="r", messages=(*chain(*blocks), LOOK, *chain(*blocks), LOOK))
    gate = gate_of_records(domain)
    assert told(judge(trace, gate)) == told(judge_followed(follow(trace, domain), gate))


READS = st.builds(
    ToolCall,
    name=st.sampled_from(("get_book", "get_book", "list_books")),
    arguments=st.fixed_dictionaries({"book_id": st.sampled_from(("B1", "B2", "1", 1, True, None))}),
    id=IDS,
    malformed=st.sampled_from((None, None, None, None, "{")),
)


KEYLESS = json.dumps({"title": "Ferns", "status": "in"})
ANSWERS = st.builds(
    ToolReturn,
    call_id=st.just("a"),
    content=st.sampled_from((KEYLESS, KEYLESS, KEYLESS, TEXTS[2], "[]", "{", "Error: withdrawn")),
    error=st.sampled_from((False, False, False, True)),
    lost=st.sampled_from((False, False, False, True)),
)


@searched
@given(reads=st.lists(st.tuples(READS, ANSWERS, st.integers(0, 12)), max_size=32))
def test_what_a_text_told_before_it_tells_again(
    reads: list[tuple[ToolCall, ToolReturn, int]],
) -> None:
    observations, draft, plain = Observations(), LedgerDraft(Ledger()), Ledger()
    for call, returned, turn in reads:
        plain = absorb(replace(plain, turn=turn), call, returned, LIBRARY).ledger
        draft.observe(observations.of(call, returned, LIBRARY, turn), call, turn)
    assert seen(draft.done(plain.turn, "", ())) == seen(plain)


@pytest.mark.parametrize(
    "other",
    [
        ToolCall(name="get_book", arguments={"book_id": "B2"}),
        ToolCall(name="get_book", arguments={}, malformed="{"),
        ToolCall(name="get_book", arguments={"book_id": "B1"}, malformed="{"),
    ],
    ids=str,
)
def test_a_text_tells_of_each_call_what_it_tells_of_that_call(other: ToolCall) -> None:
    observations = Observations()
    for call in (ToolCall(name="get_book", arguments={"book_id": "B1"}), other):
        returned, draft = ToolReturn(call_id="", content=KEYLESS), LedgerDraft(Ledger())
        draft.observe(observations.of(call, returned, LIBRARY, 0), call, 0)
        assert seen(draft.done(0, "", ())) == seen(absorb(Ledger(), call, returned, LIBRARY).ledger)
