"""When an appointment can be: a date and time that its provider offers and that are free."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from ledgeragent.packs.telehealth.paths import ALL_PROVIDERS, APPOINTMENT, PROVIDER
from ledgeragent.packs.telehealth.records import Schedule
from ledgeragent.packs.telehealth.rules.known import (
    OPEN,
    RESCHEDULE,
    SCHEDULE,
    absent,
    call_of,
    field,
    seen,
)
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.verdict import Enforcement

TYPES = ("routine_checkup", "follow_up", "consultation", "specialist_consultation", "sick_visit")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]")


def _slot(call: Mapping[str, str]) -> tuple[str, str]:
    """The date and time that a booking or a move asks for."""
    prefix = "new_" if "new_date" in call else ""
    return call[f"{prefix}date"], call[f"{prefix}time"]


def _weekday(day: str) -> str | None:
    """The name of the weekday, None if `day` is no calendar date written YYYY-MM-DD."""
    try:
        return DAYS[date.fromisoformat(day).weekday()] if _DATE.fullmatch(day) else None
    except ValueError:
        return None


@predicate("telehealth/date-time-format", guards=(SCHEDULE, RESCHEDULE))
def date_time_format(call: Mapping[str, str], ledger: View) -> Broken | None:
    """A date is written YYYY-MM-DD and a time HH:MM, in 24 hours.

    Rejects: next Wednesday, 2:30 PM. Allows: 2025-11-05, 14:30.
    """
    day, time = _slot(call)
    if _weekday(day) is None:
        return violation("{day} is no calendar date written as YYYY-MM-DD", day=day)
    if not _TIME.fullmatch(time):
        return violation("{time} is no time of day written as HH:MM in 24 hours", time=time)
    return None


@predicate("telehealth/provider-exists", guards=SCHEDULE)
def provider_exists(call: Schedule, ledger: View) -> Broken | None:
    """The provider of a booking exists: neither its own read nor the whole list says otherwise."""
    if _is_no_provider(call["provider_id"], ledger):
        return violation(
            "there is no provider {provider}; choose one of those that can be listed",
            provider=call["provider_id"],
        )
    return None


def _is_no_provider(provider_id: str, ledger: View) -> bool:
    if ledger.get(PROVIDER(provider_id)) is not None:
        return absent(ledger, PROVIDER(provider_id))
    everyone = ledger.get(ALL_PROVIDERS())
    return everyone is not None and provider_id not in everyone["provider_ids"]


@predicate("telehealth/provider-availability", guards=(SCHEDULE, RESCHEDULE))
def provider_availability(call: Mapping[str, str], ledger: View) -> Broken | None:
    """Weekday and time are in the provider's weekly schedule, which was looked up.

    Rejects: 12:15 where the provider sees patients at 09:00 and 10:00, and any Saturday they are
    off. Asks for nothing where the schedule is known to be unreadable.
    """
    day, time = _slot(call)
    weekday = _weekday(day)
    provider = _provider(call, ledger) if weekday is not None and _TIME.fullmatch(time) else None
    if provider is None or weekday is None or _is_no_provider(provider, ledger):
        return None
    details = call_of("get_provider_details", provider_id=provider)
    week = field(ledger, PROVIDER(provider), "schedule", details)
    times = week.get(weekday, [])
    if time in times:
        return None
    if not times:
        working = [name for name in DAYS if week.get(name)]
        return violation(
            "{provider} does not work on {weekday} ({day}), only on {working}",
            provider=provider,
            weekday=weekday,
            day=day,
            working=working,
        )
    return violation(
        "{provider} has no slot at {time} on {weekday} ({day}); the times that day are {times}",
        provider=provider,
        time=time,
        weekday=weekday,
        day=day,
        times=times,
    )


def _provider(call: Mapping[str, str], ledger: View) -> str | None:
    """Whose slot is asked for; None where the appointment to move is gone or closed anyway."""
    if "provider_id" in call:
        return call["provider_id"]
    path = APPOINTMENT(call["appointment_id"])
    known = ledger.get(path)
    if known is not None and (absent(ledger, path) or seen(known, "status") not in (None, *OPEN)):
        return None
    details = call_of("get_appointment_details", appointment_id=call["appointment_id"])
    provider: str = field(ledger, path, "provider_id", details)
    return provider


@predicate("telehealth/slot-conflict", guards=(SCHEDULE, RESCHEDULE))
def slot_conflict(call: Mapping[str, str], ledger: View) -> Broken | None:
    """The slot isn't taken by another open appointment of the provider that was observed.

    Asks for nothing: most appointments are other patients' and not to be read.
    """
    provider = _known_provider(call, ledger)
    wanted = (provider, *_slot(call))
    for path, other in ledger.glob(APPOINTMENT) if provider is not None else ():
        taken = tuple(seen(other, name) for name in ("provider_id", "date", "time"))
        is_other = path != APPOINTMENT(call.get("appointment_id", ""))
        if is_other and taken == wanted and seen(other, "status") in OPEN:
            return violation(
                "{provider} already has an appointment at {time} on {day}; choose a free slot",
                provider=provider,
                time=wanted[2],
                day=wanted[1],
            )
    return None


def _known_provider(call: Mapping[str, str], ledger: View) -> str | None:
    if "provider_id" in call:
        return call["provider_id"]
    appointment = ledger.get(APPOINTMENT(call["appointment_id"]))
    return seen(appointment, "provider_id") if appointment is not None else None


@predicate(
    "telehealth/appointment-type",
    guards=SCHEDULE,
    enforcement=Enforcement.AUDIT,
)
def appointment_type(call: Schedule, ledger: View) -> Broken | None:
    """The appointment type is one of the five the policy lists. The tool takes others, too."""
    if call["appointment_type"] in TYPES:
        return None
    return violation(
        "{type} is no listed type of appointment; the listed ones are {types}",
        type=call["appointment_type"],
        types=list(TYPES),
    )
