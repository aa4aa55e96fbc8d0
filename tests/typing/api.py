"""The public names as a type checker sees them: read by mypy and pyright, and never run."""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true

from collections.abc import Mapping
from typing import Any, Literal, TypedDict, assert_type

from ledgeragent import (
    Decision,
    Domain,
    Entry,
    Filtered,
    Gate,
    Ledger,
    Path,
    PathTemplate,
    Predicate,
    Read,
    Reply,
    Session,
    ToolCall,
    ToolReturn,
    Verdict,
    View,
    Write,
    load_domain,
    predicate,
    violation,
)
from ledgeragent.predicates import Broken
from ledgeragent.testing import assert_allows


class Order(TypedDict):
    """A record of a pack."""

    order_id: str
    status: Literal["open", "packed"]
    total: float


class CancelOrder(TypedDict):
    """The arguments of a write."""

    order_id: str


ORDER = PathTemplate("orders.{order_id}", Order)
CALLER = PathTemplate("auth.customer_id", str)


@predicate("shop/cancel-open", guards="cancel_order", decision=Decision.BLOCK)
def cancel_open(call: CancelOrder, ledger: View) -> Broken | None:
    """Only an open order can be cancelled."""
    order = ledger[ORDER(call["order_id"])]
    assert_type(order, Order)
    assert_type(order["status"], Literal["open", "packed"])
    assert_type(order["total"], float)
    assert_type(ledger[CALLER()], str)
    assert_type(ledger.get(ORDER("#W1")), Order | None)
    return None if order["status"] == "open" else violation("it is {s}", s=order["status"])


assert_type(ORDER("#W1"), Path[Order])
assert_type(cancel_open, Predicate)
assert_type(cancel_open.decision, Decision)

SHOP = Domain(
    name="shop",
    version="1",
    tools=(
        Read(tool="get_order", to=ORDER, parameters=("order_id",)),
        Write(tool="cancel_order", arguments=CancelOrder),
    ),
    predicates=(cancel_open,),
)


def loop(reply: Reply, returned: ToolReturn) -> None:
    """A host's own loop."""
    session = Session(load_domain("shop"))
    judged = session.filter(reply)
    assert_type(judged, Filtered)
    assert_type(judged.execute, tuple[ToolCall, ...])
    assert_type(judged.feedback, str)
    assert_type(judged.verdicts[0].decision, Decision)
    assert_type(session.ledger, Ledger)
    assert_type(session.ledger.get(ORDER("#W1")), Entry | None)
    session.observe(returned)


def judge(records: Mapping[str, Any]) -> None:
    """A test of a rule."""
    assert_type(assert_allows(SHOP, records, "cancel_order", order_id="#W1"), Verdict)
    assert_type(Gate(domain=SHOP).judge(ToolCall(name="cancel_order"), Ledger()), Verdict)


def wrong(ledger: View) -> None:
    """Mistakes that a type checker has to find."""
    ledger[ORDER("#W1")]["state"]  # type: ignore[typeddict-item]  # pyright: ignore
    ORDER(7)  # type: ignore[arg-type]  # pyright: ignore
    Session("shop")  # type: ignore[arg-type]  # pyright: ignore
