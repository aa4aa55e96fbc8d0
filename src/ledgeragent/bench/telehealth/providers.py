"""Tools about providers and when they work."""

from __future__ import annotations

from ledgeragent.bench.telehealth.data import Data
from ledgeragent.bench.telehealth.wording import dollars, full_name, title
from ledgeragent.types import Json


def get_provider_details(data: Data, provider_id: str) -> str:
    """A provider's profile and week; KeyError where the record lacks a licence number."""
    if provider_id not in data.providers:
        return f"Provider with ID {provider_id} not found."
    provider = data.providers[provider_id]
    week = (f"\n- {day.title()}: {', '.join(at)}" for day, at in provider["schedule"].items())
    return (
        f"Provider Details (ID: {provider_id})\n\nName: {title(provider)} {full_name(provider)}\n"
        f"Specialty: {provider['specialty']}\nLicense Number: {provider['license_number']}\n"
        f"Credentials: {', '.join(provider['credentials'])}\n"
        f"Years of Experience: {provider['years_experience']}\n\n"
        f"Contact Information:\n- Phone: {provider['contact']['phone']}\n"
        f"- Email: {provider['contact']['email']}\n\n"
        f"Languages: {', '.join(provider['languages'])}\n"
        f"Consultation Fee: {dollars(provider['consultation_fee'])}\n\n"
        f"Weekly Schedule:{''.join(week)}"
    )


def list_available_providers(data: Data, specialty: str | None = None) -> str:
    """Every provider, or those of one specialty, written in any case."""
    lines = [
        _listed(provider_id, provider)
        for provider_id, provider in data.providers.items()
        if specialty is None or provider["specialty"].lower() == specialty.lower()
    ]
    if not lines:
        return f"No providers found{f' with specialty: {specialty}' if specialty else '.'}"
    head = f"Available Providers{f' - {specialty}' if specialty else ''}:"
    return "\n\n".join([head, *lines])


def _listed(provider_id: str, provider: Json) -> str:
    return (
        f"• {title(provider)} {full_name(provider)} (ID: {provider_id})\n"
        f"  Specialty: {provider['specialty']}\n"
        f"  Experience: {provider['years_experience']} years\n"
        f"  Languages: {', '.join(provider['languages'])}\n"
        f"  Consultation Fee: {dollars(provider['consultation_fee'])}\n"
        f"  Phone: {provider['contact']['phone']}"
    )
