"""Tools about medications: who supplies them, what they do together, what a patient could take."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations

from ledgeragent.bench.telehealth.data import Data
from ledgeragent.bench.telehealth.wording import first_of
from ledgeragent.types import Json


def list_medication_suppliers(
    data: Data, medication: str, country_filter: str | None = None, limit: int | None = None
) -> str:
    """The offers for a medication, cheapest first, perhaps of one country only."""
    key = medication.lower()
    names = [name for name in data.medication_suppliers if name.lower() == key]
    offers = data.medication_suppliers[names[0]] if names else []
    if not offers:
        return (
            f"No supplier information found for {medication}. "
            "(Tip: ensure the medication name matches the catalog)"
        )
    if country_filter:
        offers = [o for o in offers if o["country"].lower() == country_filter.lower()]
        if not offers:
            return f"No suppliers in {country_filter} for {medication}."
    cheapest = sorted(offers, key=lambda offer: offer["price_usd"])
    return "\n".join([f"Suppliers for {medication}:", *map(_offer, first_of(cheapest, limit))])


def _offer(offer: Json) -> str:
    return (
        f"{offer['company']} ({offer['country']}) | brand={offer['brand_name']} | "
        f"price_usd={offer['price_usd']:.2f}"
    )


def update_prescription_supplier(
    data: Data,
    record_id: str,
    medication: str,
    supplier_company: str,
    brand_name: str,
    price_usd: float,
    currency: str = "USD",
) -> str:
    """Has the prescription of this name filled by this supplier; the record as JSON."""
    if record_id not in data.medical_records:
        return "Error: medical record not found"
    record = data.medical_records[record_id]
    if not record.get("prescriptions"):
        return "Error: medical record has no prescriptions"
    prescription = _prescription(record["prescriptions"], medication.strip().lower())
    if prescription is None:
        return f"Error: medication {medication} not found in record {record_id}"
    prescription["pharmacy"] = f"{supplier_company} ({brand_name})"
    prescription["supplier"] = {
        "company": supplier_company,
        "brand_name": brand_name,
        "price_usd": float(price_usd),
        "currency": currency,
    }
    return json.dumps(record)


def _prescription(prescriptions: list[Json], name: str) -> Json | None:
    """The one of exactly this name, else the first where either name begins with the other."""
    names = [prescription["medication"].lower() for prescription in prescriptions]
    if name in names:
        return prescriptions[names.index(name)]
    pairs = zip(prescriptions, names, strict=True)
    return next((p for p, n in pairs if n.startswith(name) or name.startswith(n)), None)


_SEVERITIES = ("low", "moderate", "high")


def check_drug_interactions(
    data: Data, primary_medication: str, current_medications: list[str]
) -> str:
    """The documented interactions of the first medication with the others, and of those among them."""
    primary = primary_medication.title()
    current = [medication.title() for medication in current_medications]
    pairs = [*((primary, other) for other in current), *combinations(current, 2)]
    interactions = list(_documented(data, pairs))
    if not interactions:
        return (
            "No documented high-risk interactions found for the supplied medications. "
            "Continue monitoring as per care plan."
        )
    return "\n".join(
        [
            "Drug interaction analysis:",
            *map(_interaction, interactions),
            "",
            *_summary(interactions),
        ]
    )


def _documented(data: Data, pairs: list[tuple[str, str]]) -> Iterator[tuple[str, Json]]:
    interactions = data.drug_interactions
    for one, other in pairs:
        entry = interactions.get(one, {}).get(other) or interactions.get(other, {}).get(one)
        if entry:
            yield f"{one} + {other}", entry


def _interaction(interaction: tuple[str, Json]) -> str:
    pair, entry = interaction
    return (
        f"{pair}: severity={entry['severity']}, risk_score={entry['risk_score']}, "
        f"overlap_hours={entry['time_overlap_hours']}. {entry['action']}"
    )


def _summary(interactions: list[tuple[str, Json]]) -> list[str]:
    hold = sorted({medication for _, entry in interactions for medication in entry["skip"]})
    emergency = any(entry["emergency"] for _, entry in interactions)
    worst, entry = max(interactions, key=lambda pair: _SEVERITIES.index(pair[1]["severity"]))
    return [
        f"Medications to hold today: {', '.join(hold) or 'None'}",
        f"Emergency escalation required: {'Yes' if emergency else 'No'}",
        f"Peak overlap risk window (hours): {max(e['time_overlap_hours'] for _, e in interactions)}",
        f"Highest severity interaction: {worst} ({entry['severity']})",
    ]


def get_regimen_options(data: Data, patient_id: str) -> str:
    """The medications of a patient now, and those they could take instead."""
    plan = data.regimen_plans.get(patient_id)
    if not plan:
        return f"No regimen optimization data available for patient {patient_id}."
    current = plan["current_regimen"]
    lines = [
        "Current regimen components:",
        *(f"- {_component(part)}" for part in current["components"]),
        f"Current pill burden: {_burden(current)}",
        "Current regimen notes:",
        *(f"  * {note}" for note in current["notes"]),
        "Optimized regimen options:",
    ]
    for number, option in enumerate(plan["optimized_regimens"], 1):
        lines += _option(number, option)
    return "\n".join(lines)


def _option(number: int, option: Json) -> list[str]:
    return [
        f"Option {number}: {option['name']}",
        f"  Focus: {option['focus']}",
        *(f"  - {_component(part)}" for part in option["components"]),
        f"  Pill burden: {_burden(option)}",
        "  Synergy notes:",
        *(f"    - {note}" for note in option["synergy_notes"]),
    ]


def _component(part: Json) -> str:
    return (
        f"{part['medication']} | dosage={part['dosage']} | daily_dose={part['daily_dose']} | "
        f"monthly_units={part['monthly_units']} | unit_type={part['unit_type']} | "
        f"brand={part['preferred_brand']} | supplier={part['supplier']} | "
        f"unit_cost_usd={part['unit_cost_usd']:.2f}"
    )


def _burden(regimen: Json) -> str:
    burden = regimen["pill_burden"]
    return (
        f"tablets_per_day={burden['tablets_per_day']} | "
        f"devices_per_month={burden['devices_per_month']}"
    )
