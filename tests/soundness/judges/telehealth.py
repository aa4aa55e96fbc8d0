"""The telehealth clauses, over the whole database."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from ..judgement import Db, Judgement, Talk, successes

SAME = ()
OPEN = ("scheduled", "pending_approval")
_STATUS = "(?:Scheduled|Pending Approval|Completed|Cancelled)"
_PARENTS = ("Parent", "Mother", "Father")
_CHILDREN = ("Son", "Daughter", "Child")


def judge(db: Db, talk: Talk, tool: str, arguments: Mapping[str, Any]) -> Judgement:
    """What is wrong with a proposed write."""
    found = Judgement()
    located = [
        e.answer for e in successes(talk, "find_patient_by_email", "find_patient_by_name_dob")
    ]
    if not located:
        found.ungrounded.add("telehealth/authenticated")
    subject = _subject(db, arguments)
    if subject is None:
        found.ghost = True
        return found
    if located and subject["patient_id"] != located[0]:
        me, other = db["patients"][located[0]], db["patients"][subject["patient_id"]]
        _other_patient(other, me, found)
        profiles = {e.arguments["patient_id"] for e in successes(talk, "get_patient_details")}
        if located[0] not in profiles and other["patient_id"] in profiles:
            found.presumed |= found.may & {"telehealth/one-patient"}
        if "patient_id" not in arguments and other["patient_id"] not in profiles:
            # Nobody is sent to a stranger's profile, so whoever was read of as one counts as one.
            found.presumed.add("telehealth/one-patient")
    match tool:
        case "cancel_appointment":
            if subject["status"] not in OPEN:
                found.broken.add("telehealth/cancel-status")
        case "reschedule_appointment":
            if subject["status"] not in OPEN:
                found.broken.add("telehealth/reschedule-status")
            when = arguments["new_date"], arguments["new_time"]
            _slot(db, talk, subject["provider_id"], when, subject, found)
        case "schedule_appointment":
            found.may.add("telehealth/appointment-type")
            if arguments["provider_id"] not in db["providers"]:
                found.broken.add("telehealth/provider-exists")
                found.may.add("telehealth/provider-availability")
            when = arguments["date"], arguments["time"]
            _slot(db, talk, arguments["provider_id"], when, {}, found)
        case "update_prescription_supplier":
            _supplier(db, subject, arguments, found)
    if "appointment_id" in arguments and _hidden(talk, arguments["appointment_id"]):
        # Whose it is can't be known then, so the call is stopped and nothing of it is told.
        found.unasked |= found.broken
    return found


def _hidden(talk: Talk, appointment_id: str) -> bool:
    """True if the details of an appointment were asked for in vain, and no list shows it."""
    lists = [e.answer for e in successes(talk, "list_patient_appointments")]
    return not any(f"- {appointment_id}: " in text for text in lists) and any(
        said.failed and said.arguments.get("appointment_id") == appointment_id
        for said in talk
        if said.tool == "get_appointment_details"
    )


def _subject(db: Db, arguments: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The record that a call is about: an appointment, a medical record, or a patient."""
    for name, table in (
        ("appointment_id", "appointments"),
        ("record_id", "records"),
        ("patient_id", "patients"),
    ):
        if name in arguments:
            record: Mapping[str, Any] | None = db[table].get(arguments[name])
            return record
    return None


def _name(patient: Mapping[str, Any]) -> str:
    return f"{patient['name']['first_name']} {patient['name']['last_name']}"


def _other_patient(other: Mapping[str, Any], me: Mapping[str, Any], found: Judgement) -> None:
    """Children whose record names the parent are allowed; how else kinship shows is left open."""
    theirs, mine = other["emergency_contact"], me["emergency_contact"]
    if theirs["name"] == _name(me) and theirs["relationship"] in _PARENTS:
        return
    elder = theirs["name"] == _name(me) and theirs["relationship"] in _CHILDREN
    named = mine["name"] == _name(other) and mine["relationship"] in _PARENTS + _CHILDREN
    (found.may if elder or named else found.broken).add("telehealth/one-patient")


def _well_formed(when: tuple[str, str]) -> bool:
    day, time = when
    try:
        real = bool(date.fromisoformat(day))
    except ValueError:
        return False
    return (
        real
        and re.fullmatch(r"\d{4}-\d\d-\d\d", day) is not None
        and re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", time) is not None
    )


def _slot(
    db: Db,
    talk: Talk,
    provider_id: str,
    when: tuple[str, str],
    appointment: Mapping[str, Any],
    found: Judgement,
) -> None:
    if not _well_formed(when):
        found.broken.add("telehealth/date-time-format")
        found.may.add("telehealth/provider-availability")
        return
    provider = db["providers"].get(provider_id)
    if provider is None:
        return
    weekday = date.fromisoformat(when[0]).strftime("%A").lower()
    if when[1] not in provider["schedule"].get(weekday, ()):
        found.broken.add("telehealth/provider-availability")
        if "license_number" not in provider or not _readable(appointment):
            found.unasked.add("telehealth/provider-availability")
    taken = [
        key
        for key, other in db["appointments"].items()
        if other["provider_id"] == provider_id
        and (other["date"], other["time"]) == when
        and other["status"] in OPEN
        and key != appointment.get("appointment_id")
    ]
    if taken:
        found.broken.add("telehealth/slot-conflict")
        if not (set(taken) & _observed(talk) and _readable(appointment)):
            found.unasked.add("telehealth/slot-conflict")


def _readable(appointment: Mapping[str, Any]) -> bool:
    """False for an appointment whose details can't be had."""
    return not appointment or "chief_complaint" in appointment


def _observed(talk: Talk) -> set[str]:
    """The appointments of which provider, date, time and status are known from reads and writes."""
    provider: set[str] = set()
    fresh: set[str] = set()
    for said in talk:
        if said.failed:
            continue
        if said.tool == "get_appointment_details":
            provider.add(said.arguments["appointment_id"])
            shown = {said.arguments["appointment_id"]}
            told = re.findall(r"^- Status: (.+)$", said.answer, re.MULTILINE)  # notes may say more
            known = re.fullmatch(_STATUS, told[0]) is not None
            fresh = fresh | shown if known else fresh - shown
        elif said.tool == "list_patient_appointments":
            shown = set(re.findall(r"^- (\w+): ", said.answer, re.MULTILINE))
            listed = re.findall(rf"^- (\w+): .*\[{_STATUS}, Type", said.answer, re.MULTILINE)
            fresh = (fresh - shown) | set(listed)
        elif said.tool == "schedule_appointment":
            booked = set(re.findall(r"^Appointment ID: (\w+)$", said.answer, re.MULTILINE))
            provider |= booked
            fresh |= booked
        elif said.tool == "cancel_appointment":
            fresh.discard(said.arguments["appointment_id"])
    return provider & fresh


def _alike(one: str, other: str) -> bool:
    one, other = one.strip().lower(), other.strip().lower()
    return one.startswith(other) or other.startswith(one)


def _supplier(db: Db, record: Mapping[str, Any], call: Mapping[str, Any], found: Judgement) -> None:
    medication = call["medication"]
    prescribed = [p["medication"] for p in record["prescriptions"]]
    if not any(_alike(medication, name) for name in prescribed):
        found.broken.add("telehealth/medication-in-record")
        found.may.add("telehealth/supplier-in-catalog")
    by_name = {name.lower(): entries for name, entries in db["catalog"].items()}
    entries = by_name.get(medication.lower())
    if entries is None:
        found.may.add("telehealth/supplier-in-catalog")
        return
    if not any(_offers(entry, call) for entry in entries):
        found.broken.add("telehealth/supplier-in-catalog")


def _offers(entry: Mapping[str, Any], call: Mapping[str, Any]) -> bool:
    company, country = entry["company"], entry["country"]
    return (
        call["supplier_company"] in (company, f"{company} ({country})")
        and call["brand_name"] == entry["brand_name"]
        and round(call["price_usd"] * 100) == round(entry["price_usd"] * 100)
    )
