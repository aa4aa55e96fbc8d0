"""Domain: tools with routes and rules, the path map inverted, and a run's own tools."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ledgeragent.domain import Clause, Domain
from ledgeragent.effects import Effect, Neutral, Read, ReturnRoute, Tool, Write
from ledgeragent.errors import DomainError
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.predicates import predicate
from ledgeragent.shape import ANYTHING
from ledgeragent.types import Json
from ledgeragent.verdict import Enforcement
from tests.lending.domain import AUTH, BOOK, LIBRARY, MEMBER, TOOLS, Note, Shelve, available


def domain(*tools: Tool) -> Domain:
    return Domain(name="d", version="1", tools=tools)


def asked(of: Domain, path: Path[Json]) -> list[str]:
    return [str(read) for read in of.reads_for(path)]


@pytest.mark.parametrize(
    ("tool", "effect"),
    [
        ("get_book", Effect.READ),
        ("lend_book", Effect.WRITE),
        ("call_librarian", Effect.NEUTRAL),
        ("burn_book", Effect.WRITE),
    ],
)
def test_a_tool_the_domain_does_not_list_counts_as_a_write(tool: str, effect: Effect) -> None:
    assert LIBRARY.effect(tool) is effect


def test_what_is_listed_is_found() -> None:
    assert LIBRARY.tool("lend_book") is TOOLS[4]
    assert LIBRARY.tool("burn_book") is None and LIBRARY.guard("burn_book") is None
    assert LIBRARY.routes("get_book") == (TOOLS[2],)
    assert LIBRARY.routes("lend_book") == LIBRARY.routes("burn_book") == ()


def test_a_guard_holds_the_rules_over_its_tool_in_order() -> None:
    lend, note = LIBRARY.guard("lend_book"), LIBRARY.guard("call_librarian")
    assert lend is not None and note is not None
    assert [rule.id for rule in lend.predicates] == [rule.id for rule in LIBRARY.predicates]
    assert lend.judged and not note.judged


def test_a_read_is_named_by_inverting_the_path_map() -> None:
    assert asked(LIBRARY, MEMBER("M1")) == ['get_member(member_id="M1")']


def test_a_lookup_that_the_path_cannot_complete_is_left_out_where_another_read_is_complete() -> (
    None
):
    assert asked(LIBRARY, BOOK("B1")) == ['get_book(book_id="B1")']


def test_a_lookup_is_named_where_there_is_nothing_better() -> None:
    assert asked(LIBRARY, AUTH()) == ["find_member()"]
    assert asked(LIBRARY.bind({"list_books"}), BOOK("B1")) == ["list_books()"]


def test_no_read_supplies_an_unknown_family() -> None:
    assert LIBRARY.reads_for(Path(("rooms", "1"))) == ()


def test_an_argument_may_be_called_otherwise_than_the_key() -> None:
    room = PathTemplate("rooms.{room_id}.days.{day}", dict)
    route = Read(
        tool="get_room", to=room, parameters=("number", "day"), rename={"room_id": "number"}
    )
    assert asked(domain(route), room("7", "Monday")) == ['get_room(number="7", day="Monday")']


def test_a_tool_with_several_routes_is_asked_by_the_one_that_fits() -> None:
    bill, line = PathTemplate("bills.{id}", dict), PathTemplate("lines.{id}", dict)
    routes = [
        Read(tool="details", to=bill, parameters=("id",), when=lambda a: a["id"].startswith("B")),
        Read(tool="details", to=line, parameters=("id",), when=lambda a: a["id"].startswith("L")),
    ]
    both = domain(*routes)
    assert both.routes("details") == tuple(routes)
    assert asked(both, bill("B1")) == ['details(id="B1")']
    assert asked(both, line("B1")) == []


def test_several_tools_that_supply_a_record_are_all_named() -> None:
    other = Read(tool="scan_book", to=BOOK, parameters=("book_id",))
    assert asked(domain(*TOOLS, other), BOOK("B1")) == [
        'get_book(book_id="B1")',
        'scan_book(book_id="B1")',
    ]


def test_a_bound_domain_never_asks_for_a_tool_the_run_does_not_have() -> None:
    bound = LIBRARY.bind(["lend_book", "get_member", "a_tool_of_the_host"])
    assert asked(bound, MEMBER("M1")) == ['get_member(member_id="M1")']
    assert asked(bound, BOOK("B1")) == []
    assert bound.has("get_member") and not bound.has("get_book")
    assert not bound.has("a_tool_of_the_host")
    assert LIBRARY.has("get_book")


def test_nothing_is_declared_of_a_record_that_no_route_serves() -> None:
    assert LIBRARY.shape(Path(("rooms", "1"))) is ANYTHING
    assert LIBRARY.shape(Path(("books", "B1", "pages"))) is ANYTHING
    assert LIBRARY.shape(BOOK("B1")).required == {"book_id", "title", "status"}


def test_read_literally_what_a_write_returns_is_no_observation() -> None:
    returns = (ReturnRoute(to=BOOK),)
    write = Write(tool="buy_book", arguments=Shelve, returns=returns, open=True)
    literal = domain(*TOOLS, write).literal()
    assert literal.tools == [*TOOLS, replace(write, returns=())]
    assert literal.effect("buy_book") is Effect.WRITE


def test_a_guard_knows_which_arguments_its_tool_takes() -> None:
    open_write = Write(tool="buy_book", arguments=Shelve, open=True)
    bare = Neutral(tool="wait")
    made = domain(*TOOLS, open_write, bare)
    takes = {tool.tool: guard.takes for tool in made.tools if (guard := made.guard(tool.tool))}
    assert takes["shelve_book"] == {"book_id"} and takes["call_librarian"] == {"note"}
    assert takes["buy_book"] is takes["get_book"] is None
    assert takes["wait"] is None


def test_binding_leaves_routes_and_rules_as_they_are() -> None:
    bound = LIBRARY.bind([])
    assert bound.routes("get_book") == LIBRARY.routes("get_book")
    assert bound.predicates == LIBRARY.predicates
    assert LIBRARY.available is None


def test_a_tool_is_declared_once() -> None:
    write = Write(tool="lend_book", arguments=Shelve)
    for again in (
        write,
        Neutral(tool="lend_book", arguments=Note),
        Read(tool="lend_book", to=BOOK),
    ):
        with pytest.raises(DomainError, match="lend_book is declared twice"):
            domain(write, replace(again))


def test_two_rules_do_not_share_an_id() -> None:
    with pytest.raises(DomainError, match="share an id"):
        replace(LIBRARY, predicates=(available, available))


@pytest.mark.parametrize("tool", ["get_book", "burn_book"])
def test_a_rule_guards_a_write_or_neutral_tool_that_exists(tool: str) -> None:
    rule = predicate("lending/odd", guards=tool)(lambda call, view: None)
    with pytest.raises(DomainError, match=f"lending/odd guards {tool}"):
        replace(LIBRARY, predicates=(rule,))


def test_a_rule_can_guard_a_neutral_tool() -> None:
    rule = predicate("lending/calls", guards="call_librarian")(lambda call, view: None)
    guard = replace(LIBRARY, predicates=(rule,)).guard("call_librarian")
    assert guard is not None and guard.judged


def test_a_clause_says_what_enforces_it() -> None:
    clause = Clause(id="a/b", section="s", summary="x", checkable="none", why="nobody can tell")
    assert clause.predicates == () and clause.why


def levels(found: Domain) -> dict[str, Enforcement]:
    return {rule.id: rule.enforcement for rule in found.predicates}


def test_a_rule_can_run_in_shadow_and_the_others_stay_as_they_are() -> None:
    shadowed = LIBRARY.enforcing({"lending/days": Enforcement.AUDIT})
    assert levels(shadowed) == {**levels(LIBRARY), "lending/days": Enforcement.AUDIT}
    assert shadowed.guard("lend_book") != LIBRARY.guard("lend_book")


def test_the_star_speaks_for_all_rules_that_are_not_named() -> None:
    shadowed = LIBRARY.enforcing({"*": Enforcement.AUDIT, "lending/fines": Enforcement.WARN})
    assert levels(shadowed) == {
        "lending/days": Enforcement.AUDIT,
        "lending/available": Enforcement.AUDIT,
        "lending/fines": Enforcement.WARN,
    }


def test_a_level_for_a_rule_that_does_not_exist_is_refused() -> None:
    with pytest.raises(DomainError, match="has no rule lending/dayz"):
        LIBRARY.enforcing({"lending/dayz": Enforcement.AUDIT})
