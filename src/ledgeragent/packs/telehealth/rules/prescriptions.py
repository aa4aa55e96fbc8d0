"""Who supplies a prescription: one entry of the catalog of a medication that is prescribed."""

from __future__ import annotations

from collections.abc import Iterable

from ledgeragent.packs.telehealth.medications import meant, medication_key
from ledgeragent.packs.telehealth.paths import RECORD, SOME_SUPPLIERS, SUPPLIERS
from ledgeragent.packs.telehealth.records import Offer, UpdateSupplier
from ledgeragent.packs.telehealth.rules.known import (
    SUPPLIER,
    absent,
    call_of,
    field,
    record_lists,
    same,
    seen,
    served,
)
from ledgeragent.packs.wording import argument, as_given
from ledgeragent.predicates import Broken, View, demand, predicate, violation

_HALF_A_CENT = 0.005


@predicate("telehealth/medication-in-record", guards=SUPPLIER)
def medication_in_record(call: UpdateSupplier, ledger: View) -> Broken | None:
    """The medication is prescribed in the record; either name may go on where the other ends.

    Rejects: aspirin, where the record prescribes sertraline. Allows: sertraline 50 mg.
    """
    path = RECORD(call["record_id"])
    if absent(ledger, path):
        return violation(
            "there is no medical record {id}; {argument} must be one that the patient has",
            argument=argument("record_id"),
            id=call["record_id"],
        )
    patient = served(ledger)
    if patient is None:
        return None
    prescribed = field(ledger, path, "medications", *record_lists(path, patient, ledger))
    if meant(call["medication"], prescribed):
        return None
    if not prescribed:
        return violation(
            "record {id} prescribes nothing, so no supplier can be set there", id=call["record_id"]
        )
    return violation(
        "{medication} is not prescribed in record {id}; medication must be {prescribed}",
        medication=as_given(call["medication"]),
        id=call["record_id"],
        prescribed=prescribed,
    )


@predicate("telehealth/supplier-in-catalog", guards=SUPPLIER)
def supplier_in_catalog(call: UpdateSupplier, ledger: View) -> Broken | None:
    """Supplier, brand and price are those of one catalog entry of the medication.

    Rejects: one company's brand at another's price. Allows: the company with or without its
    country. A list narrowed by country or number can show an entry, not that there is none. The
    catalog that was read under the call's own name for the medication decides; where there is none,
    the one under the record's name does.
    """
    names = _prescribed_as(call, ledger)
    if not names:
        return None
    spelt = dict.fromkeys(map(medication_key, (*names, call["medication"])))
    offers = [offer for key in spelt for offer in _offers(key, ledger)]
    if any(_is_offer(call, offer) for offer in offers):
        return None
    unread = [name for name in names if ledger.get(SUPPLIERS(medication_key(name))) is None]
    if unread and not _has_own_catalog(call["medication"], ledger):
        path = SUPPLIERS(medication_key(unread[0]))
        own = [name for name in (call["medication"],) if path == SUPPLIERS(medication_key(name))]
        spellings = dict.fromkeys((*unread, *own))
        demand(path, *(call_of("list_medication_suppliers", medication=n) for n in spellings))
    if not offers:
        return violation(
            "the catalog has no supplier of {medication}, so none can be set",
            medication=call["medication"],
        )
    return violation(
        "no catalog entry of {medication} is {brand} of {company} at {price} {currency}; "
        "{arguments} must be those of one entry: {entries}",
        arguments=argument("supplier_company", "brand_name", "price_usd"),
        medication=call["medication"],
        company=as_given(call["supplier_company"]),
        brand=as_given(call["brand_name"]),
        price=call["price_usd"],
        currency=_currency(call),
        entries=[_spoken(offer) for offer in _near(call, offers)],
    )


def _prescribed_as(call: UpdateSupplier, ledger: View) -> list[str]:
    """The record's names for the medication, as the catalog has them; none if it isn't prescribed.

    The call's own word for it, where the record hasn't been read.
    """
    record = ledger.get(RECORD(call["record_id"]))
    prescribed = seen(record, "medications") if record is not None else None
    if prescribed is None and not absent(ledger, RECORD(call["record_id"])):
        return [call["medication"]]
    return meant(call["medication"], prescribed or ())


def _has_own_catalog(medication: str, ledger: View) -> bool:
    """True if the whole catalog of a medication was read under this very name, and is not empty."""
    whole = ledger.get(SUPPLIERS(medication_key(medication)))
    return whole is not None and bool(whole["offers"])


def _offers(medication: str, ledger: View) -> Iterable[Offer]:
    """The catalog entries of a medication that any list has shown."""
    key = medication_key(medication)
    whole = ledger.get(SUPPLIERS(key))
    if whole is not None:
        yield from whole["offers"]
    for path, part in ledger.glob(SOME_SUPPLIERS):
        if path[1] == key:
            yield from part["offers"]


def _near(call: UpdateSupplier, offers: list[Offer]) -> list[Offer]:
    """The entries of the company or brand that the call names, all where there is none."""
    near = [o for o in offers if _is_of(call, o) or same(call["brand_name"], o["brand_name"])]
    return near or offers


def _is_of(call: UpdateSupplier, offer: Offer) -> bool:
    """True if the company of the call is the offer's."""
    company, country = offer["company"], offer["country"]
    return any(same(call["supplier_company"], c) for c in (company, f"{company} ({country})"))


def _is_offer(call: UpdateSupplier, offer: Offer) -> bool:
    return (
        _is_of(call, offer)
        and same(call["brand_name"], offer["brand_name"])
        and abs(call["price_usd"] - offer["price_usd"]) < _HALF_A_CENT
        and _currency(call) == "USD"
    )


def _currency(call: UpdateSupplier) -> str:
    return str(call.get("currency") or "USD").strip().upper()


def _spoken(offer: Offer) -> str:
    company = f"{offer['company']} ({offer['country']})"
    return f"{offer['brand_name']} of {company} at {offer['price_usd']:.2f} USD"
