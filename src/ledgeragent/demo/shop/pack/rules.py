"""The shop's rules: one predicate per clause of `policy.md` that records can decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ledgeragent.demo.shop.pack.boxes import BOX_RULES, BOXES
from ledgeragent.demo.shop.pack.claims import CLAIM_RULES, CLAIMS
from ledgeragent.demo.shop.pack.paths import AUTH, BOX, ORDER, VOUCHER
from ledgeragent.demo.shop.pack.products import PRODUCT_RULES
from ledgeragent.demo.shop.pack.records import (
    ApplyVoucher,
    CancelOrder,
    ChangeAddress,
    ChangeQuantity,
)
from ledgeragent.demo.shop.pack.vouchers import VOUCHER_RULES
from ledgeragent.paths import Path
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.verdict import Decision

BLOCK = Decision.BLOCK
CHANGES = ("change_address", "change_quantity", "apply_voucher")


@predicate(
    "shop/own-account",
    guards=("cancel_order", *CHANGES, *CLAIMS, *BOXES),
    decision=BLOCK,
    identity=True,
)
def own_account(call: Mapping[str, Any], ledger: View) -> Broken | None:
    """Orders, vouchers and boxes change only for the customer they belong to."""
    customer = ledger[AUTH()]
    for what, path in _subjects(call):
        owner = ledger[path]["customer_id"]
        if owner not in (customer, None):
            return violation("{what} is not on the account of this customer", what=what)
    return None


def _subjects(call: Mapping[str, Any]) -> Iterator[tuple[str, Path[Any]]]:
    """The subject of the call, as named to a customer, and where its owner is known."""
    if "order_id" in call:
        yield f"order {call['order_id']}", ORDER(str(call["order_id"]))
    if "code" in call:
        yield f"voucher {call['code']}", VOUCHER(str(call["code"]))
    if "box_id" in call:
        yield f"box {call['box_id']}", BOX(str(call["box_id"]))


@predicate("shop/cancel-open", guards="cancel_order", decision=BLOCK)
def cancel_open(call: CancelOrder, ledger: View) -> Broken | None:
    """Only an open order can be cancelled.

    Rejects: an order that the nursery has packed.  Allows: one that it has not.
    """
    status = ledger[ORDER(call["order_id"])]["status"]
    if status == "open":
        return None
    return violation(
        "order {order} is {status}, and only an order that is still open can be cancelled",
        order=call["order_id"],
        status=status,
    )


@predicate("shop/change-open", guards=CHANGES, decision=BLOCK)
def change_open(call: ChangeAddress | ChangeQuantity | ApplyVoucher, ledger: View) -> Broken | None:
    """Address, contents and payment of an order change only while it is open."""
    status = ledger[ORDER(call["order_id"])]["status"]
    if status == "open":
        return None
    return violation(
        "order {order} is {status}; address, contents and vouchers change only while it is open",
        order=call["order_id"],
        status=status,
    )


PREDICATES = (
    own_account,
    cancel_open,
    change_open,
    *PRODUCT_RULES,
    *VOUCHER_RULES,
    *CLAIM_RULES,
    *BOX_RULES,
)
