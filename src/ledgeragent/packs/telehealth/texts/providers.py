"""Providers: what get_provider_details and list_available_providers answer."""

from __future__ import annotations

import re
from typing import Any

from ledgeragent.effects import Untyped
from ledgeragent.packs.telehealth.texts.common import (
    DOLLARS,
    ID,
    LINE,
    NONE,
    amount,
    items,
    not_found,
    rows,
)
from ledgeragent.types import Json

_PROVIDER = re.compile(
    rf"Provider Details \(ID: (?P<provider_id>{ID})\)\n\n"
    rf"Name: (?P<name>{LINE})\nSpecialty: (?P<specialty>{LINE})\n"
    rf"License Number: (?P<license_number>{LINE})\nCredentials: (?P<credentials>{LINE})\n"
    rf"Years of Experience: (?P<years>[0-9]+)\n\n"
    rf"Contact Information:\n- Phone: ?(?P<phone>{LINE})\n- Email: ?(?P<email>{LINE})\n\n"
    rf"Languages: (?P<languages>{LINE})\nConsultation Fee: (?P<fee>{DOLLARS})\n\n"
    rf"Weekly Schedule:(?P<schedule>(?:\n{LINE})*)"
)
_NONE_LISTED = re.compile(r"No providers found(?: with specialty: [^\n]*|\.)")
_TIMES = "(?:[0-9]{2}:[0-9]{2}(?:, [0-9]{2}:[0-9]{2})*)?"
_DAY = re.compile(rf"- (?P<day>[A-Z][a-z]+day): ?(?P<times>{_TIMES})")
_LISTED = re.compile(
    rf"• (?P<name>{LINE}) \(ID: (?P<provider_id>{ID})\)\n  Specialty: (?P<specialty>{LINE})\n"
    rf"  Experience: (?P<years>[0-9]+) years\n  Languages: (?P<languages>{LINE})\n"
    rf"  Consultation Fee: (?P<fee>{DOLLARS})\n  Phone: ?(?P<phone>{LINE})"
)


def provider(text: str) -> Json:
    """The provider that get_provider_details prints, with the times of each weekday.

    Untyped where a time is written otherwise, or a weekday stands twice.
    """
    if not_found(text):
        return NONE
    match = _PROVIDER.fullmatch(text.strip())
    days = rows(match["schedule"].split("\n")[1:], _DAY) if match is not None else None
    if match is None or days is None or len({day["day"] for day in days}) < len(days):
        return Untyped(text)
    return {
        **_common(match.groupdict()),
        **{name: match[name] for name in ("license_number", "credentials", "email")},
        "schedule": {day["day"]: items(day["times"]) for day in days},
    }


def provider_list(text: str) -> Json:
    """The list that list_available_providers prints, as `providers`; perhaps there are none."""
    if _NONE_LISTED.fullmatch(text.strip()):
        return {"providers": []}
    header, *blocks = text.strip().split("\n\n")
    table = rows(blocks, _LISTED)
    if not header.startswith("Available Providers") or table is None:
        return Untyped(text)
    return {"providers": [_common(row) for row in table]}


def _common(row: dict[str, Any]) -> dict[str, Json]:
    """The values that details and list print alike."""
    return {
        "exists": True,
        **{name: row[name] for name in ("provider_id", "name", "specialty", "phone")},
        "years_experience": int(row["years"]),
        "languages": items(row["languages"]),
        "consultation_fee": amount(row["fee"]),
    }
