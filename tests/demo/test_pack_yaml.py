"""The shop's two packs, Python and YAML, give the same verdicts."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgeragent.compiler.samples import Sample, run, samples_from_json
from ledgeragent.domain import Domain
from ledgeragent.effects import Write
from ledgeragent.gate import Gate
from ledgeragent.packs import load_domain
from ledgeragent.testing import ledger_of
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Kind, Verdict

pytest.importorskip("cel_expr_python")

SHOP = Path(__file__).parents[2] / "src" / "ledgeragent" / "demo" / "shop"
PYTHON = load_domain("shop")
SAMPLES = samples_from_json(SHOP / "pack" / "samples.json")

SKUS = ("rake", "thyme")
CUSTOMERS = ("C-1", "C-2")
DATES = (
    "2026-05-05",
    "2026-05-06",
    "2026-05-19",
    "2026-05-20",
    "2026-05-27",
    "2026-05-28",
    "2026-03-21",
)
COUNTRIES = ("NL", "DE", "FR")


@cache
def yaml_domain() -> Domain:
    return load_domain(str(SHOP / "pack.yaml"))


def findings(verdict: Verdict) -> list[tuple[str, str | None, str]]:
    """What was found, but for the order and for which of several missing records was named first."""
    found = (*verdict.findings, *verdict.shadow)
    return sorted(
        (f.kind.value, f.clause, f.reason if f.kind is Kind.VIOLATION else f.predicate)
        for f in found
    )


def assert_equivalent(sample: Sample) -> None:
    by_python = Gate(domain=PYTHON).judge(sample.call, sample.state(PYTHON))
    by_yaml = Gate(domain=yaml_domain()).judge(sample.call, sample.state(yaml_domain()))
    assert by_yaml.decision is by_python.decision
    assert findings(by_yaml) == findings(by_python)


def test_both_forms_have_the_same_parts() -> None:
    data = yaml_domain()
    assert [rule.id for rule in data.predicates] == [rule.id for rule in PYTHON.predicates]
    for ours, theirs in zip(data.predicates, PYTHON.predicates, strict=True):
        assert replace(ours, check=theirs.check) == theirs
    assert data.clauses == PYTHON.clauses
    assert data.parameters == PYTHON.parameters
    assert {tool.tool for tool in data.tools} == {tool.tool for tool in PYTHON.tools}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: f"{s.rule}-{s.side}")
def test_samples_give_the_same_verdict(sample: Sample) -> None:
    assert run(sample, yaml_domain()).problem == ""
    assert_equivalent(sample)


@settings(max_examples=400, deadline=None)
@given(draw=st.randoms(use_true_random=False))
def test_random_worlds_give_the_same_verdict(draw: random.Random) -> None:
    assert_equivalent(sample_at(draw))


@pytest.mark.parametrize("block", range(4))
def test_many_more_random_worlds(block: int) -> None:
    kinds = set()
    for seed in range(block * 1_000, (block + 1) * 1_000):
        sample = sample_at(random.Random(seed))
        assert_equivalent(sample)
        verdict = Gate(domain=PYTHON).judge(sample.call, sample.state(PYTHON))
        kinds |= {f.kind for f in verdict.findings} or {None}
    assert kinds >= {None, Kind.VIOLATION, Kind.EVIDENCE}


def test_touched_fields_are_the_same() -> None:
    for seed in range(200):
        sample = sample_at(random.Random(seed))
        tool, data = PYTHON.tool(sample.call.name), yaml_domain().tool(sample.call.name)
        assert isinstance(tool, Write)
        assert isinstance(data, Write)
        ledger = ledger_of(sample.ledger, PYTHON)
        touched = [t for touches in tool.touches for t in touches(sample.call.arguments, ledger)]
        assert touched == [
            t for touch in data.touches for t in touch(sample.call.arguments, ledger)
        ]


# ── Worlds ──────────────────────────────────────────────────────────────────────────────────────


def sample_at(draw: random.Random) -> Sample:
    """A world in which some records were read, some written since, and a call on it."""
    records = {path: make(draw) for path, make in RECORDS.items() if draw.random() < 0.85}
    writes = tuple(call_at(draw) for _ in range(draw.choice((0, 0, 0, 1, 2))))
    place = SAMPLES[0].place
    return Sample(
        rule="", side="allowed", ledger=records, writes=writes, call=call_at(draw), place=place
    )


def call_at(draw: random.Random) -> ToolCall:
    """One of the shop's writes, about the records of the world."""
    tool = draw.choice([tool for tool in PYTHON.tools if isinstance(tool, Write)])
    values = {
        "order_id": "G-1",
        "parcel_id": "P-1",
        "box_id": "B-1",
        "code": "WREN",
        "sku": draw.choice((*SKUS, "spade")),
        "quantity": draw.choice((-1, 0, 1, 2, 3, 6)),
        "months": draw.choice((0, 1, 3, 4)),
        "amount": draw.choice((0, 5, 5.0, 12.5, 20.0, 40.0, "7.5")),
        "country": draw.choice(COUNTRIES),
        "street": "Dorpsweg 1",
        "postcode": "1000 AA",
        "city": "Edam",
    }
    wanted = tool.arguments.__annotations__
    return ToolCall(name=tool.tool, arguments={name: values[name] for name in wanted})


def order(draw: random.Random) -> dict[str, Any]:
    kinds = {sku: draw.choice(("plant", "tool")) for sku in SKUS if draw.random() < 0.7}
    uses = {
        code: {"kind": draw.choice(("gift", "promotion")), "amount": 5.0}
        for code in ("FINCH",)
        if draw.random() < 0.5
    }
    return {
        "order_id": "G-1",
        "customer_id": draw.choice(CUSTOMERS),
        "status": draw.choice(("open", "open", "packed", "delivered", "cancelled")),
        "placed_on": "2026-05-01",
        "lines": {
            sku: {
                "name": sku,
                "kind": kind,
                "quantity": draw.choice((1, 2, 3)),
                "unit_price": draw.choice((2.5, 5, 5.0, 20.0)),
            }
            for sku, kind in kinds.items()
        },
        "delivery": {
            "fee": 4.0,
            "address": {
                "street": "s",
                "postcode": "p",
                "city": "c",
                "country": draw.choice(COUNTRIES),
            },
        },
        "vouchers": uses,
        "total": draw.choice((10, 29.99, 30.0, 80.0)),
        "due": draw.choice((0.0, 5.0, 12.5, 36)),
        "refunded": 0.0,
        "parcel_ids": ["P-1"],
    }


def parcel(draw: random.Random) -> dict[str, Any]:
    counts = (0, 0, 1)
    return {
        "parcel_id": "P-1",
        "order_id": draw.choice(("G-1", "G-1", "G-2")),
        "carrier": "post",
        "status": draw.choice(("delivered", "lost")),
        "delivered_on": draw.choice((None, *DATES)),
        "items": {
            sku: {
                "quantity": draw.choice((1, 2)),
                "refunded": draw.choice(counts),
                "replaced": draw.choice(counts),
            }
            for sku in SKUS
            if draw.random() < 0.7
        },
    }


def product(draw: random.Random, sku: str) -> dict[str, Any]:
    kind = draw.choice(("plant", "seed", "pot"))
    found = {"sku": sku, "name": sku, "kind": kind, "price": 5.0, "stock": draw.choice((0, 1, 5))}
    if draw.random() < 0.2:
        del found["stock"]
    return found


RECORDS: dict[str, Any] = {
    "auth.customer_id": lambda draw: draw.choice(CUSTOMERS),
    "orders.G-1": order,
    "parcels.P-1": parcel,
    "products.thyme": lambda draw: product(draw, "thyme"),
    "products.rake": lambda draw: product(draw, "rake"),
    "products.spade": lambda draw: product(draw, "spade"),
    "vouchers.WREN": lambda draw: {
        "code": "WREN",
        "customer_id": draw.choice((*CUSTOMERS, None)),
        "kind": draw.choice(("gift", "promotion")),
        "balance": draw.choice((5, 12.5, 20.0)),
        "min_total": draw.choice((0.0, 30.0)),
        "expires_on": draw.choice(DATES),
    },
    "boxes.B-1": lambda draw: {
        "box_id": "B-1",
        "customer_id": draw.choice(CUSTOMERS),
        "plan": "herbs",
        "price": 14.0,
        "status": draw.choice(("active", "paused", "ended")),
        "next_box_on": draw.choice((None, *DATES)),
    },
}
