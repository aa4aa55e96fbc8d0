"""Loops in loops: evaluated in pieces they give what the library gives, up to limits that are told."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.compiler.cel.engine import Absent, CelError, Source, environment
from ledgeragent.compiler.cel.evaluation import ROUNDS_AT_ONCE, TooOften
from ledgeragent.compiler.cel.pieces import MOST_ROUNDS, Pieces
from ledgeragent.compiler.cel.programs import Program, compile_expression
from ledgeragent.compiler.cel.scope import Scope
from ledgeragent.compiler.cel.variables import Variable
from ledgeragent.compiler.problems import Problems
from ledgeragent.compiler.shapes import ANY, TEXT, ListOf, Scalar, Shape
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.verdict import Decision, Kind
from tests.compiler.yaml_pack import LOAN, domain_of, pay, text_of
from tests.property.world import searched

pytest.importorskip("cel_expr_python")

NUMBERS = ListOf(Scalar("int"))
SHAPES: dict[str, Shape] = {"a": NUMBERS, "b": NUMBERS, "m": ANY, "ids": ListOf(TEXT), "day": TEXT}


def program_of(text: str) -> Program:
    """The program of an expression over `SHAPES`."""
    scope = Scope(SHAPES, Problems())
    for name, shape in SHAPES.items():
        scope.variables[name] = Variable(root=name, fields=(), shape=shape)
    source = Source.of(Node(text, "test", 1, 1))
    program = compile_expression(source, scope, environment(scope.variables.values()))
    assert program is not None, [*scope.findings]
    return program


@cache
def declared() -> Any:
    """The environment of `SHAPES`."""
    return environment(Variable(root=n, fields=(), shape=shape) for n, shape in SHAPES.items())


def in_pieces(text: str, values: Mapping[str, Any], at_once: int) -> Any:
    """The value of an expression over `SHAPES`, from pieces of so many rounds."""
    return Pieces(declared().compile(text), declared()).evaluate(values, at_once)


# ── The same values, errors and missing variables as the library's own evaluation ───────────────

CONDITIONS = st.sampled_from(
    [
        "x == y", "x < y", "x != 2", "10 / x > y", "10 / (x - y) > 1", "m[0] == x", "m[y] == x",
        "x in b", "x in m", "m == 1", "m", "b.exists(z, z == x + y)", "a.all(z, z != y || 1 / z > 0)",
        "b.exists_one(z, z == x)", "a.map(z, z + y) == b", "a.filter(z, z > y).size() < x",
        "b.map(z, z > x, 6 / z).size() == y", "cel.bind(c, 6 / x, x == 1 || c == y)",
        "timestamp(day) > timestamp('2025-01-01T00:00:00Z')", "has(m.k) && m.k == x", "true", "false",
    ]
)  # fmt: skip
MARCH = "timestamp('2025-03-01T00:00:00Z')"
LISTS = st.sampled_from(
    ["a", "b", "[0, 1, 2]", "(a + b)", "b.filter(z, z != 1)", "a.map(z, 4 / z)"]
)


def _loops(inner: st.SearchStrategy[str], name: str) -> st.SearchStrategy[str]:
    bool_macro = st.builds(
        "{}.{}({}, {})".format,
        LISTS,
        st.sampled_from(["all", "exists", "exists_one"]),
        st.just(name),
        inner,
    )
    list_macro = st.builds(
        "({}.{}.size() {} 1)".format,
        LISTS,
        st.one_of(
            inner.map(f"filter({name}, {{}})".format),
            inner.map(f"map({name}, {{}})".format),
            inner.map(f"map({name}, {{}}, {name} * 2)".format),
        ),
        st.sampled_from([">", "==", "<"]),
    )
    return bool_macro | list_macro


def _joined(inner: st.SearchStrategy[str], level: int) -> st.SearchStrategy[str]:
    return st.one_of(
        inner,
        inner,
        st.builds("({} {} {})".format, inner, st.sampled_from(["&&", "||", "=="]), inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
        inner.map("!({})".format),
        st.builds(
            f"cel.bind(t{level}, {{}}, t{level} || {{}})".format,
            inner | st.just(f"timestamp(day) > {MARCH}"),
            inner,
        ),
        inner.map(f"cel.bind(d{level}, timestamp(day), {{}} && d{level} < {MARCH})".format),
        inner.map("[{}, true][0]".format),
        inner.map("{{'k': {}}}.k".format),
    )


EXPRESSIONS = _joined(_loops(_joined(_loops(CONDITIONS, "y"), 2), "x"), 1)
SMALL = st.lists(st.integers(0, 3), max_size=4)
VALUES = st.fixed_dictionaries(
    {"a": SMALL},
    optional={
        "b": SMALL,
        "m": SMALL | st.integers(0, 2) | st.booleans() | st.just({"k": 1}),
        "day": st.sampled_from(["2025-02-01T00:00:00Z", "2025-04-01T00:00:00Z", "soon"]),
    },
)


def outcome(evaluate: Any) -> Any:
    """The value, the variable that is missing, or that it failed."""
    try:
        return evaluate()
    except Absent:
        return "absent"
    except TooOften:
        raise
    except CelError:
        return "error"


@searched
@given(EXPRESSIONS, VALUES, st.integers(1, 12))
def test_pieces_give_what_the_library_gives(
    text: str, values: dict[str, Any], at_once: int
) -> None:
    whole = outcome(lambda: program_of(text)(values))
    parts = outcome(lambda: in_pieces(text, values, at_once))
    if whole in ("absent", "error"):  # of two, either may be told
        assert parts in ("absent", "error")
    else:
        assert (parts, type(parts)) == (whole, type(whole))


# ── Loops as large as honest calls have them ────────────────────────────────────────────────────

IDS = [f"I-{number}" for number in range(160)]
ITEMS = [{"item_id": item_id, "price": 2.5} for item_id in IDS]
OTHER = [*IDS[:-1], "I-other"]

LARGE: list[tuple[str, bool, bool]] = [
    ("ids.all(i, m.exists(o, o.item_id == i))", True, False),
    ("!ids.exists(i, !m.exists(o, o.item_id == i))", True, False),
    ("ids.map(i, m.filter(o, o.item_id == i).size()).all(n, n == 1)", True, False),
    ("ids.filter(i, m.exists_one(o, o.item_id == i)).size() == 160", True, False),
    ("ids.exists_one(i, !m.exists(o, o.item_id == i))", False, True),
    ("sum(ids.map(i, m.filter(o, o.item_id == i)[0].price)) == 400.0", True, False),
    ("timestamp(day) > timestamp('2025-01-01T00:00:00Z') && ids.all(i, i in m.map(o, o.item_id))",
     True, False),
    ("cel.bind(d, date(day), ids.all(i, m.exists(o, o.item_id == i && d == date(day))))", True, False),
    ("ids.map(i, m.filter(o, o.item_id == i))[159][0].item_id == 'I-159'", True, False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "answer", "for_other"), LARGE)
def test_160_items_compared_with_160_are_evaluated(
    text: str, answer: bool, for_other: bool
) -> None:
    program, values = program_of(text), {"m": ITEMS, "day": "2025-02-01"}
    if text.startswith("timestamp"):
        values["day"] += "T00:00:00Z"
    assert program({**values, "ids": IDS}) is answer
    if "[0]" not in text:  # there an item that nobody has is an error
        assert program({**values, "ids": OTHER}) is for_other
        return
    with pytest.raises(CelError, match="index"):
        program({**values, "ids": OTHER})


def test_a_call_with_160_items_is_allowed_and_one_with_a_strange_item_is_not(
    tmp_path: Path,
) -> None:
    check = "loan.copies.all(c, loan.copies.exists(d, d.copy_id == c.copy_id && d.price == 2.5))"
    domain = domain_of(tmp_path, text_of(check))
    copies = [{**LOAN["copies"][0], "copy_id": i, "price": 2.5} for i in IDS]
    assert pay(domain, {"loans.L1": {**LOAN, "copies": copies}}).allowed
    copies[80]["price"] = 3.5
    (finding,) = pay(domain, {"loans.L1": {**LOAN, "copies": copies}}).findings
    assert finding.kind is Kind.VIOLATION


def test_flat_loops_may_be_longer_than_one_evaluation_allows() -> None:
    many = ["x"] * (3 * ROUNDS_AT_ONCE)
    assert program_of("ids.all(i, i == 'x') && !ids.exists(i, i == 'y')")({"ids": many}) is True
    assert program_of("ids.all(i, i == 'x')")({"ids": [*many, "y"]}) is False


@pytest.mark.parametrize(
    "text",
    [
        "ids.all(i, ids.exists(j, i == j))",
        "ids.all(i, ids.all(j, ids.all(k, k != 'x')))",
        "ids.all(i, m.exists(o, o.item_id == i))",
    ],
)
def test_past_a_million_rounds_the_limit_is_told_at_once(text: str) -> None:
    ids = [str(number) for number in range(10_000)]
    values = {"ids": ids, "m": [{"item_id": item_id} for item_id in ids]}
    program, start = program_of(text), time.process_time()
    with pytest.raises(TooOften, match=f"more than {MOST_ROUNDS:,} times together"):
        program(values)
    assert time.process_time() - start < 2


def test_what_the_pieces_read_together_is_limited_and_told() -> None:
    values = {"ids": IDS * 60, "m": [{"item_id": "x" * 20_000}] * 100}
    with pytest.raises(TooOften, match="read more than 10 MB"):
        program_of("ids.all(i, m.exists(o, o.item_id == i) || true)")(values)


def test_a_limit_is_an_error_of_the_call(tmp_path: Path) -> None:
    check = "loan.copies.all(c, loan.copies.all(d, loan.copies.all(e, c.price <= e.price + 9.0)))"
    domain = domain_of(tmp_path, text_of(check))
    copies = LOAN["copies"] * 60
    verdict = pay(domain, {"loans.L1": {**LOAN, "copies": copies}})
    (finding,) = verdict.findings
    assert (verdict.decision, finding.kind) == (Decision.BLOCK, Kind.ERROR)
    assert "1,000,000 times together" in str(finding.error)


# ── A loop that ended early spoils no name that is bound after it ───────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "ids.exists(i, i == 'u') && cel.bind(t, 'n', t == 'u')",
        "[ids.exists(i, i == 'u'), cel.bind(t, ids[0] + '!', t == 'u')][1]",
        "ids.exists(i, i == 'u') ? cel.bind(t, ids[0] + '!', t == 'u') : false",
        "!ids.all(i, i != 'u') && cel.bind(t, 'n', t == 'u')",
        "ids.all(i, ids.exists(j, i == j) && cel.bind(t, i + '!', t == 'u'))",
        "cel.bind(q, 'n', ids.exists(i, i == q || i == 'u') && cel.bind(t, q, t == 'u'))",
        "{'k': ids.exists(i, i == 'u') && cel.bind(t, 'n', t == 'u')}.k",
    ],
)
def test_a_name_bound_after_a_loop_has_its_own_value(text: str) -> None:
    assert program_of(text)({"ids": ["u", "u"]}) is False


def test_a_date_after_a_loop_is_the_date_given() -> None:
    program = program_of("ids.exists(i, i == day) && date('2020-01-01') == date(day)")
    assert program({"ids": ["2025-01-01", "2025-01-01"], "day": "2025-01-01"}) is False
    program = program_of("ids.exists(i, i != '') && days('2025-01-01', day) == 31")
    assert program({"ids": ["2025-01-01", "2025-01-01"], "day": "2025-02-01"}) is True
