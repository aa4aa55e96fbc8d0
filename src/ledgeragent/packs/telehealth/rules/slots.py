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
from ledgeragent.packs.wording import argument
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.verdict import Enforcement

TYPES = ("routine_checkup", "follow_up", "consultation", "specialist_consultation", "sick_visit")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]")


def slot_arguments(call: Mapping[str, str]) -> tuple[str, str]:
    """The arguments that tell date and time of a booking, or of a move."""
    return ("new_date", "new_time") if "new_date" in call else ("date", "time")


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
    date_argument, time_argument = slot_arguments(call)
    day, time = call[date_argument], call[time_argument]
    if _weekday(day) is None:
        return violation(
            "{argument} must be a date of the calendar written YYYY-MM-DD, such as 2025-11-05, not "
            "{day}",
            argument=argument(date_argument),
            day=_quoted(day),
        )
    if not _TIME.fullmatch(time):
        return violation(
            "{argument} must be a time of day written HH:MM in 24 hours, such as 14:30, not {time}",
            argument=argument(time_argument),
            time=_quoted(time),
        )
    return None


def _quoted(text: str) -> str:
    return f'"{text}"'


@predicate("telehealth/provider-exists", guards=SCHEDULE)
def provider_exists(call: Schedule, ledger: View) -> Broken | None:
    """The provider of a booking exists: neither its own read nor the whole list says otherwise."""
    if not _is_no_provider(call["provider_id"], ledger):
        return None
    everyone = ledger.get(ALL_PROVIDERS())
    if everyone is not None:
        return violation(
            "there is no provider {provider}; {argument} must be one of {providers}",
            argument=argument("provider_id"),
            provider=call["provider_id"],
            providers=everyone["provider_ids"],
        )
    return violation(
        "there is no provider {provider}; {argument} must be that of a provider who can be listed",
        argument=argument("provider_id"),
        provider=call["provider_id"],
    )


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
    date_argument, time_argument = slot_arguments(call)
    day, time = call[date_argument], call[time_argument]
    weekday = _weekday(day)
    provider = _provider(call, ledger) if weekday is not None and _TIME.fullmatch(time) else None
    if provider is None or weekday is None or _is_no_provider(provider, ledger):
        return None
    details = call_of("get_provider_details", provider_id=provider)
    week = field(ledger, PROVIDER(provider), "schedule", details)
    times = week.get(weekday, [])
    if time in times:
        return None
    working = [name for name in DAYS if week.get(name)]
    if not working:
        return violation(
            "{provider} lists no times at all; choose another provider", provider=provider
        )
    if not times:
        return violation(
            "{provider} does not work on {weekday} ({day}); {argument} must fall on {working}",
            provider=provider,
            weekday=weekday,
            day=day,
            argument=argument(date_argument),
            working=working,
        )
    return violation(
        "{provider} has no slot at {time} on {weekday} ({day}); {argument} must be {times} on that "
        "day",
        provider=provider,
        time=time,
        weekday=weekday,
        day=day,
        argument=argument(time_argument),
        times=times,
    )


def _provider(call: Mapping[str, str], ledger: View) -> str | None:
    """Whose slot is asked for; None where the appointment to move is gone or closed anyway."""
    if "provider_id" in call:
        return call["provider_id"]
    path = APPOINTMENT(call["appointment_id"])
    record = ledger.get(path)
    if record is not None and (absent(ledger, path) or seen(record, "status") not in (None, *OPEN)):
        return None
    details = call_of("get_appointment_details", appointment_id=call["appointment_id"])
    provider: str = field(ledger, path, "provider_id", details)
    return provider


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
        "{type} is no listed type of appointment; {argument} must be {types}",
        argument=argument("appointment_type"),
        type=call["appointment_type"],
        types=list(TYPES),
    )
