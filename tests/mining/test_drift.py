"""`mine --check`: each kind of difference is found where it is planted, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledgeragent.mining.drift import CODES, compare
from ledgeragent.mining.recording import RecordedRuns
from ledgeragent.offline.binding import Binding
from tests.mining.runs import Answered, runs_of

pytest.importorskip("cel_expr_python")

PACK = """\
schema: ledgeragent/v1
domain: shop
records:
  Order: {order_id: str, status: [open, paid], total: float, lines: "list[Line]", note: str?}
  Line: {sku: str, number: int}
reads:
  get_order: {to: "orders.{order_id}", record: Order}
writes:
  pay_order: {arguments: {order_id: str}, touches: [{"orders.{order_id}": status}], unguarded: x}
neutrals: [think]
"""


def order(number: int, **changes: Any) -> Answered:
    record = {"status": "open", "total": 1.5, "lines": [{"sku": "a", "number": 1}], "note": "x"}
    own = {"order_id": f"W{number}", **record, **changes}
    return "get_order", {"order_id": f"W{number}"}, {k: v for k, v in own.items() if v != "-"}


def pay(number: int) -> Answered:
    return "pay_order", {"order_id": f"W{number}"}, "paid"


def codes(tmp_path: Path, *runs: list[Answered], pack: str = PACK) -> set[tuple[str, str]]:
    file = tmp_path / "pack.yaml"
    file.write_text(pack)
    with RecordedRuns([str(runs_of(tmp_path, *runs))]) as recording:
        differences = compare(Binding(name=str(file), allow_faulty=True), recording)
    assert {d.code for d in differences} <= CODES.keys()
    return {(d.code, d.text.partition(" ")[0]) for d in differences}


def runs(**changes: Any) -> list[list[Answered]]:
    return [
        [order(n, **changes), pay(n), order(n, **{**changes, "status": "paid"})] for n in range(30)
    ]


def test_a_pack_that_says_what_runs_show_has_no_difference(tmp_path: Path) -> None:
    assert codes(tmp_path, *runs()) == set()


@pytest.mark.parametrize(
    ("changes", "code", "place"),
    [
        ({"total": "1.50"}, "type", "orders.{order_id}.total"),
        ({"lines": [{"sku": 7, "number": 1}]}, "type", "orders.{order_id}.lines[].sku"),
        ({"lines": [{"sku": "a"}]}, "never-seen", "orders.{order_id}.lines[].number"),
        ({"note": "-"}, "never-seen", "orders.{order_id}.note"),
        ({"colour": "red"}, "undeclared-field", "orders.{order_id}.colour"),
    ],
)
def test_drift_of_records(tmp_path: Path, changes: Any, code: str, place: str) -> None:
    assert (code, place) in codes(tmp_path, *runs(**changes))


def test_values_outside_a_list_and_fields_that_are_absent_at_times(tmp_path: Path) -> None:
    odd = [order(99, status="lost"), order(98, total="-")]
    assert codes(tmp_path, *runs(), odd) == {
        ("outside-list", "orders.{order_id}.status"),
        ("sometimes-absent", "orders.{order_id}.total"),
    }


def test_changes_that_no_touch_declares_and_touches_that_no_look_confirms(tmp_path: Path) -> None:
    surprising = [[order(n), pay(n), order(n, total=0.5)] for n in range(9)]
    assert codes(tmp_path, *surprising) == {
        ("undeclared-change", "orders.{order_id}:"),
        ("never-changed", "touches"),
    }


def test_tools_that_always_fail_and_tools_that_nobody_listed(tmp_path: Path) -> None:
    failing: list[Answered] = [("get_order", {"order_id": "W1"}, "Error: no")] * 3
    other: Answered = ("get_weather", {}, "rain")
    assert codes(tmp_path, [*failing, other]) == {
        ("always-fails", "all"),
        ("unlisted-tool", "called"),
    }
    unreadable: list[Answered] = [("get_order", {"order_id": "W1"}, "see attachment")]
    assert codes(tmp_path, unreadable) == {("unreadable", "1")}
