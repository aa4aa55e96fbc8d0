"""What an expression may take is bounded before it is evaluated, and honest calls are below the bound."""

from __future__ import annotations

import resource
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgeragent.compiler.cel import growth as growth_module
from ledgeragent.compiler.cel.engine import CelError, Source, environment
from ledgeragent.compiler.cel.growth import MOST_BYTES, Growth
from ledgeragent.compiler.cel.programs import Program, compile_expression
from ledgeragent.compiler.cel.scope import Scope
from ledgeragent.compiler.cel.variables import Variable
from ledgeragent.compiler.problems import Problems
from ledgeragent.compiler.shapes import ANY, TEXT, ListOf, Shape
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.verdict import Decision, Kind
from tests.compiler.yaml_pack import LOAN, domain_of, pay, text_of

pytest.importorskip("cel_expr_python")

SHAPES: dict[str, Shape] = {"a": TEXT, "b": TEXT, "l": ListOf(TEXT), "m": ListOf(ANY)}
LONG = "x" * 30_000
MANY = ["item"] * 9_900
HUGE: list[tuple[str, dict[str, Any]]] = [
    ("a.replace('', a) == b", {"a": LONG, "b": LONG}),
    ("a.replace('x', b) == a", {"a": LONG, "b": LONG}),
    ("a.replace(b, a, 20000) == a", {"a": LONG, "b": "x"}),
    ("l.join(a) == b", {"l": MANY, "a": LONG, "b": ""}),
    ("a.split('').join(a) == b", {"a": LONG, "b": ""}),
    ("a.split('').map(x, x).size() > 0", {"a": LONG}),
    ("l.map(x, x).size() > 0", {"l": MANY}),
    ("l.filter(x, x != '').size() > 0", {"l": MANY}),
    ("l.map(x, a + a).size() > 0", {"l": MANY, "a": LONG}),
    ("l.exists(x, (a + x).size() == 1)", {"l": MANY, "a": LONG}),
    ("l.exists(x, (l + l).size() == 1)", {"l": MANY}),
    ("l.exists(x, [a + x, a + x].size() == 1)", {"l": MANY, "a": LONG}),
    ("l.all(x, l.filter(y, y == x).size() > 0)", {"l": MANY}),
    ("cel.bind(c, a + a, cel.bind(d, c + c + c + c, d.replace('', d) == b))", {"a": LONG, "b": ""}),
    ("a.format(m) == b", {"a": "%.999f" * 30_000, "m": [1.5] * 30_000, "b": ""}),
    ("m.map(x, m.map(y, m)).size() > 0", {"m": [{"k": LONG}] * 2_000}),
]


def program_of(text: str) -> Program:
    """The program of an expression over `SHAPES`."""
    scope = Scope(SHAPES, Problems())
    for name, shape in SHAPES.items():
        scope.variables[name] = Variable(root=name, fields=(), shape=shape)
    source = Source.of(Node(text, "test", 1, 1))
    program = compile_expression(source, scope, environment(scope.variables.values()))
    assert program is not None, [*scope.findings]
    return program


@pytest.mark.parametrize(("text", "values"), HUGE, ids=[text for text, _ in HUGE])
def test_what_would_take_too_much_is_not_evaluated(text: str, values: dict[str, Any]) -> None:
    program = program_of(text)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with pytest.raises(CelError, match="100 MB of memory"):
        program(values)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100_000  # kilobytes
    assert time.process_time() - start < 1


HONEST: list[tuple[str, dict[str, Any]]] = [
    ("a.replace('-', '') == b", {"a": "1-2" * 10_000, "b": ""}),
    ("a.replace('\\n', ' ').size() > 0", {"a": LONG}),
    ("l.join(', ').size() > 0", {"l": MANY}),
    ("a.split(',').map(x, x.trim()).size() > 0", {"a": "ab, " * 400}),
    ("l.map(x, x + '!').size() > 0", {"l": MANY[:1_500]}),
    ("l.exists(x, x == a)", {"l": MANY, "a": LONG}),
    ("a + b == a", {"a": LONG, "b": LONG}),
    ("sum(m.map(x, double(x.price))) > 0.0", {"m": [{"price": 2.5, "name": "n" * 80}] * 160}),
    ("l.all(x, l.map(y, x + y).size() > 0)", {"l": MANY[:90]}),
    ("'%s and %.2f'.format([a, 2.5]) == b", {"a": "x" * 1000, "b": ""}),
]


@pytest.mark.parametrize(("text", "values"), HONEST, ids=[text for text, _ in HONEST])
def test_honest_values_are_evaluated(text: str, values: dict[str, Any]) -> None:
    assert isinstance(program_of(text)(values), bool)


def test_the_bound_is_not_below_what_is_made() -> None:
    cases: list[tuple[str, Mapping[str, Any], int]] = [
        ("a.replace('', b)", {"a": "x" * 50, "b": "y" * 70}, 50 + 51 * 70),
        ("l.join(a)", {"l": ["ab"] * 9, "a": "y" * 70}, 18 + 8 * 70),
        ("l.map(x, a + x)", {"l": ["ab"] * 9, "a": "y" * 70}, 9 * 72),
        ("a.split('')", {"a": "x" * 100}, 100 * 32),
        ("(a + a).replace('', a + a)", {"a": "é" * 20}, 80 + 41 * 80),
    ]
    for text, values, made in cases:
        assert Growth(program_of(text).tree).bytes(values) >= made, text


def test_an_expression_that_makes_nothing_is_not_measured() -> None:
    for text in ("a == b", "l.exists(x, x == a)", "a in l", "a.size() + 1 > 2", "a.contains(b)"):
        growth = Growth(program_of(text).tree)
        assert not growth.grows
        assert not growth.exceeds({"a": LONG * 10_000})


def test_the_gate_blocks_and_says_why(tmp_path: Path) -> None:
    domain = domain_of(
        tmp_path, text_of("!has(args.card) || args.card.replace('', args.card) != loan.loan_id")
    )
    assert pay(domain, {"loans.L1": LOAN}, card="honest").allowed
    verdict = pay(domain, {"loans.L1": LOAN}, card=LONG)
    (finding,) = verdict.findings
    assert (verdict.decision, finding.kind) == (Decision.BLOCK, Kind.ERROR)
    assert f"{MOST_BYTES // 1_000_000} MB of memory" in str(finding.error)


def test_values_like_earlier_ones_are_not_reckoned_with_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A record of some kilobytes is far from the bound, and would cost more to measure than the rule."""
    growth = Growth(program_of("l.filter(x, x != a).size() > 0").tree)
    first, second = ({"l": [word] * 600, "a": word} for word in ("one", "two"))
    assert not growth.exceeds(first)
    monkeypatch.setattr(Growth, "_bound", None)
    assert not growth.exceeds(second)


@pytest.mark.parametrize(("text", "values"), HUGE, ids=[text for text, _ in HUGE])
def test_what_was_remembered_of_small_values_says_nothing_of_large_ones(
    text: str, values: dict[str, Any]
) -> None:
    growth = Growth(program_of(text).tree)
    assert not growth.exceeds({name: value[:1] for name, value in values.items()})
    assert growth.exceeds(values)


WORDS = st.text(alphabet="xy", max_size=40)
VALUES = st.fixed_dictionaries(
    {"a": WORDS, "b": WORDS, "l": st.lists(WORDS, max_size=30)},
    optional={"m": st.lists(st.lists(WORDS, max_size=8) | WORDS | st.floats(), max_size=30)},
)


@settings(max_examples=300)
@given(st.sampled_from([text for text, _ in HUGE]), st.lists(VALUES, min_size=2, max_size=4))
def test_what_is_remembered_lets_nothing_larger_pass(
    text: str, calls: list[dict[str, Any]]
) -> None:
    growth = Growth(program_of(text).tree)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growth_module, "MOST_BYTES", 5_000)
        for values in calls:
            assert growth.exceeds(values) is (growth.bytes(values) > 5_000)
