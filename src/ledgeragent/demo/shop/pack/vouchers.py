"""The shop's rules on gift vouchers and promotions."""

from __future__ import annotations

from typing import Any

from ledgeragent.demo.shop.pack.amounts import cents
from ledgeragent.demo.shop.pack.paths import ORDER, VOUCHER
from ledgeragent.demo.shop.pack.records import ApplyVoucher
from ledgeragent.predicates import Broken, View, predicate, violation


@predicate("shop/voucher-valid", guards="apply_voucher")
def voucher_valid(call: ApplyVoucher, ledger: View) -> Broken | None:
    """A voucher has not expired, and a promotion's conditions are met."""
    voucher = ledger[VOUCHER(call["code"])]
    expires = voucher["expires_on"]
    if expires < ledger.parameters["today"]:
        return violation(
            "voucher {code} expired on {expires}; one that is still valid can pay",
            code=call["code"],
            expires=expires,
        )
    return _promotion(call, voucher, ledger) if voucher["kind"] == "promotion" else None


def _promotion(call: ApplyVoucher, voucher: Any, ledger: View) -> Broken | None:
    order = ledger[ORDER(call["order_id"])]
    used = order["vouchers"]
    promotions = [code for code in used if used[code]["kind"] == "promotion"]
    if promotions:
        return violation(
            "order {order} has the promotion {taken} already, and takes only one",
            order=call["order_id"],
            taken=promotions,
        )
    if order["total"] < voucher["min_total"]:
        return violation(
            "promotion {code} needs an order of {least:.2f} or more, this one comes to {total:.2f}",
            code=call["code"],
            least=voucher["min_total"],
            total=order["total"],
        )
    return None


@predicate("shop/voucher-amount", guards="apply_voucher")
def voucher_amount(call: ApplyVoucher, ledger: View) -> Broken | None:
    """A voucher pays more than nothing, no more than it holds, and no more than is due."""
    if cents(call["amount"]) <= 0:
        return violation(
            "a voucher cannot pay {amount:.2f}: an amount above 0 can be paid",
            amount=call["amount"],
        )
    balance = ledger[VOUCHER(call["code"])]["balance"]
    if cents(call["amount"]) > cents(balance):
        return violation(
            "voucher {code} holds {balance:.2f} and cannot pay {amount:.2f}",
            code=call["code"],
            balance=balance,
            amount=call["amount"],
        )
    due = ledger[ORDER(call["order_id"])]["due"]
    if cents(call["amount"]) <= cents(due):
        return None
    return violation(
        "only {due:.2f} of order {order} is still due, so a voucher cannot pay {amount:.2f}",
        due=due,
        order=call["order_id"],
        amount=call["amount"],
    )


VOUCHER_RULES = (voucher_valid, voucher_amount)
