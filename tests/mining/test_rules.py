"""Drafted rules: sums of observed numbers, once for a record, every item of a list; and what is none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("cel_expr_python")

from ledgeragent.check import findings_of
from ledgeragent.compiler.loader import read_outline
from ledgeragent.compiler.samples import run
from ledgeragent.mining.draft import draft
from ledgeragent.mining.folder import write_folder
from ledgeragent.mining.packtext import PackText
from ledgeragent.mining.recording import RecordedRuns
from ledgeragent.mining.rules.drafting import drafted
from tests.mining.runs import Answered, runs_of

REFUSED = "Error: this was done before"


def order(n: int) -> Answered:
    lines = [
        {"sku": f"S{n}", "price": n + 0.5, "quantity": 1 + n % 3},
        {"sku": f"T{n}", "price": 2.0 * n + 3, "quantity": 2},
    ]
    paid = sum(line["price"] * line["quantity"] for line in lines)
    record = {"order_id": f"W{n}", "paid": paid, "lines": lines, "owner": f"C{n}"}
    return "get_order", {"order_id": f"W{n}"}, record


def parcel(n: int, *, sealed: bool = False, state: str = "ready") -> Answered:
    record = {
        "parcel_id": f"P{n}",
        "sealed": sealed,
        "state": state,
        "size": n,
        "owner": f"C{n // 10}",
    }
    return "get_parcel", {"parcel_id": f"P{n}"}, record


def refund(n: int, names: Sequence[str], amount: float, answer: str = "refunded") -> Answered:
    return "refund_order", {"order_id": f"W{n}", "skus": [*names], "amount": amount}, answer


def ship(numbers: Sequence[int], answer: str = "shipped") -> Answered:
    return "ship_parcels", {"parcel_ids": [f"P{n}" for n in numbers]}, answer


def rules_of(folder: Path, *conversations: Sequence[Answered], least: int = 8) -> dict[str, str]:
    """The drafted rules, their checks by id; the pack that holds them is sound, its samples pass."""
    with RecordedRuns([str(runs_of(folder, *conversations))]) as recording:
        mined = draft(recording)
        rules = drafted("shop", mined, recording, least=least)
    place = folder / "shop"
    write_folder(place, {"pack.yaml": PackText(mined, "shop").text(rules.guarded), **rules.texts})
    outline = read_outline(place)
    assert findings_of(outline) == [] and outline.domain is not None
    assert [o.problem for s in outline.samples if (o := run(s, outline.domain)).problem] == []
    assert all(rule.enforcement.value == "audit" for rule in outline.domain.predicates)
    return {p.question.slug: p.question.check for p in rules.proposals}


def test_the_sum_of_the_lines_that_a_call_names(tmp_path: Path) -> None:
    runs = [
        [order(n), refund(n, names, sum(amounts))]
        for n in range(1, 13)
        for (names, amounts) in [
            ((f"S{n}",), ((n + 0.5) * (1 + n % 3),)),
            ((f"S{n}", f"T{n}"), ((n + 0.5) * (1 + n % 3), 2 * (2.0 * n + 3))),
        ]
    ]
    rules = rules_of(tmp_path, *runs)
    check = rules["amount-sum-of-skus-in-order-lines-by-sku-price-times-quantity"]
    assert "filter(e, e.sku in args.skus)" in check
    assert "amount-sum-of-order-lines-price" not in rules  # not all lines, and not without how many


def test_once_for_a_record(tmp_path: Path) -> None:
    def conversation(n: int) -> list[Answered]:
        pair = [order(n), order(n + 20), refund(n, [f"S{n}"], 1.0), refund(n + 20, [f"S{n}"], 1.0)]
        return [*pair, refund(n, [f"S{n}"], 1.0, REFUSED)]

    rules = rules_of(tmp_path, *map(conversation, range(1, 13)))
    check = "!writes.refund_order.exists(w, w.order_id == args.order_id)"
    assert rules["once-for-order"] == check


def test_what_agents_do_twice_is_no_rule(tmp_path: Path) -> None:
    def conversation(n: int) -> list[Answered]:
        return [order(n), refund(n, [f"S{n}"], 1.0), refund(n, [f"T{n}"], 1.0)]

    assert "once-for-order" not in rules_of(tmp_path, *map(conversation, range(1, 13)))


def test_every_item_of_a_list_is_in_a_state(tmp_path: Path) -> None:
    def conversation(n: int) -> list[Answered]:
        n *= 10
        reads = [parcel(n), parcel(n + 1), parcel(n + 2, sealed=True), parcel(n + 3, sealed=True)]
        return [*reads, ship([n, n + 1]), ship([n, n + 2], "Error: a parcel is sealed"), ship([n])]

    rules = rules_of(tmp_path, *map(conversation, range(1, 13)))
    check = "args.parcel_ids.all(item, listed_parcels[item].sealed == false)"
    assert rules["every-parcel_ids-sealed-false"] == check
    assert "every-parcel_ids-sealed-true" not in rules


def test_lists_whose_items_were_read(tmp_path: Path) -> None:
    def conversation(n: int) -> list[Answered]:
        return [parcel(n), parcel(n + 50), ship([n, n + 50]), ship([n, 7000], "Error: none such")]

    assert rules_of(tmp_path, *map(conversation, range(1, 31)))["parcel_ids-observed"] == ""


def test_fewer_situations_than_asked_for_make_no_rule(tmp_path: Path) -> None:
    runs = [[order(n), refund(n, [f"S{n}"], (n + 0.5) * (1 + n % 3))] for n in range(1, 13)]
    assert rules_of(tmp_path, *runs, least=13) == {}
