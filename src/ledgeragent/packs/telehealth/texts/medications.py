"""Medications: their suppliers, and what is documented of taking them together."""

from __future__ import annotations

import re
from typing import Any

from ledgeragent.effects import Untyped
from ledgeragent.packs.telehealth.texts.common import items, rows
from ledgeragent.types import Json

_NOT_IN_CATALOG = re.compile(r"No supplier information found for [^\n]*\(Tip: [^\n]*\)")
_NONE_LISTED = re.compile(r"No suppliers in [^\n]* for [^\n]*\.")
_NONE_DOCUMENTED = re.compile(
    r"No documented high-risk interactions found for the supplied medications\.[^\n]*"
)
_OFFER = re.compile(
    r"(?P<company>[^|]*) \((?P<country>[^()|]*)\) \| brand=(?P<brand_name>[^|]*) \| "
    r"price_usd=(?P<price_usd>[0-9]+(?:\.[0-9]+)?)"
)
_INTERACTION = re.compile(
    r"(?P<medications>[^:]*): severity=(?P<severity>\w+), risk_score=(?P<risk_score>[0-9]+), "
    r"overlap_hours=(?P<overlap_hours>[0-9]+)\. ?(?P<advice>.*)"
)
_SUMMARY = re.compile(
    r"Medications to hold today: (?P<hold>.*)\nEmergency escalation required: (?P<escalate>.*)\n"
    r"Peak overlap risk window \(hours\): (?P<peak>[0-9]+)\n"
    r"Highest severity interaction: (?P<highest>.*)"
)


def suppliers(text: str) -> Json:
    """The list that list_medication_suppliers prints, as `offers`; perhaps there are none."""
    if _NOT_IN_CATALOG.fullmatch(text.strip()) or _NONE_LISTED.fullmatch(text.strip()):
        return {"offers": []}
    header, *lines = text.strip().split("\n")
    table = rows(lines, _OFFER)
    if not header.startswith("Suppliers for ") or table is None:
        return Untyped(text)
    return {"offers": [{**row, "price_usd": float(row["price_usd"])} for row in table]}


def absent_from_catalog(text: str) -> Json:
    """No `offers` at all, where the catalog has no such medication; ValueError for other answers.

    It holds for the whole catalog even if the question was narrowed to a country.
    """
    if not _NOT_IN_CATALOG.fullmatch(text.strip()):
        raise ValueError("a narrowed list doesn't tell the whole catalog")
    return {"offers": []}


def interactions(text: str) -> Json:
    """The interactions that check_drug_interactions prints, each pair once."""
    if _NONE_DOCUMENTED.fullmatch(text.strip()):
        return {"interactions": []}
    listed, _, rest = text.strip().partition("\n\n")
    header, *lines = listed.split("\n")
    table, summary = rows(lines, _INTERACTION), _SUMMARY.fullmatch(rest)
    if header != "Drug interaction analysis:" or table is None or summary is None:
        return Untyped(text)
    return {
        "interactions": list({row["medications"]: _interaction(row) for row in table}.values()),
        "hold_today": items(summary["hold"]),
        "escalate": summary["escalate"] == "Yes",
        "peak_overlap_hours": int(summary["peak"]),
        "highest": summary["highest"],
    }


def _interaction(row: dict[str, Any]) -> dict[str, Json]:
    return {
        **row,
        "medications": row["medications"].split(" + "),
        "risk_score": int(row["risk_score"]),
        "overlap_hours": int(row["overlap_hours"]),
    }
