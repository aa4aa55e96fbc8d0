"""The small clinic's records: patients, providers, appointments and a catalog, invented at random."""

from __future__ import annotations

from random import Random
from typing import Any

from ..judgement import Db
from ..world import one_in, some

PEOPLE = {
    "ada_moss_11": ("Ada", "Moss", "1980-02-03"),
    "bea_moss_22": ("Bea", "Moss", "2015-06-07"),
    "cyd_hale_33": ("Cyd", "Hale", "1975-08-09"),
}
PROVIDERS = {
    "dr_ash_primary": ("MD", "Ira", "Ash", "Primary Care"),
    "dr_elm_cardio": ("MD", "Una", "Elm", "Cardiology"),
    "dr_oak_surgery": ("MD, FACS", "Gus", "Oak", "Cardiac Surgery"),
}
DATES = ("2025-11-03", "2025-11-04", "2025-11-05")  # Monday, Tuesday, Wednesday
TIMES = ("09:00", "10:30", "14:00")
APPOINTMENT = ("date", "time", "status", "patient_id")
"""Fields of an appointment that a read shows."""

STATUSES = ("scheduled", "pending_approval", "completed", "cancelled")
TYPES = ("follow_up", "routine_checkup", "specialist_consultation", "device_inspection")
NOTES = (
    "All well.",
    "Status: Cancelled",
    "Line one\n- Status: Scheduled\n- Date: 2025-11-03",
    "Appointment Information:\n- Status: Completed",
    "",
)
MEDICATIONS = ("Sertraline", "Warfarin", "Foam Roller")


def titled(value: str) -> str:
    return value.replace("_", " ").title()


def full_name(patient: Any) -> str:
    return f"{patient['name']['first_name']} {patient['name']['last_name']}"


def some_contact(rng: Random) -> dict[str, str]:
    names = [f"{first} {last}" for first, last, _ in PEOPLE.values()]
    return {
        "name": rng.choice(["Dee Stone", *names]),
        "relationship": rng.choice(["Parent", "Mother", "Daughter", "Sister", "Spouse"]),
    }


def make_patient(rng: Random, patient_id: str) -> dict[str, Any]:
    first, last, _ = PEOPLE[patient_id]
    contact = {"name": "Ada Moss", "relationship": "Parent"}
    return {
        "patient_id": patient_id,
        "name": {"first_name": first, "last_name": last},
        "address": "1 Hill Road",
        "emergency_contact": contact
        if patient_id.startswith("bea") and one_in(rng, 2)
        else some_contact(rng),
    }


def make_provider(rng: Random, provider_id: str) -> dict[str, Any]:
    provider: dict[str, Any] = {
        "provider_id": provider_id,
        "schedule": {
            "monday": sorted(some(rng, list(TIMES), 1, 3)),
            "tuesday": sorted(some(rng, list(TIMES), 0, 3)),
            "friday": ["09:00"],
        },
    }
    if provider_id != "dr_oak_surgery":
        provider["license_number"] = "MD1"
    return provider


def appoint(rng: Random, db: Db, patient_id: str) -> None:
    key = f"APPT{101 + len(db['appointments'])}"
    appointment = {
        "appointment_id": key,
        "patient_id": patient_id,
        "provider_id": rng.choice(list(PROVIDERS)),
        "date": rng.choice(DATES),
        "time": rng.choice(TIMES),
        "type": rng.choice(TYPES),
        "status": rng.choice(STATUSES[:2] if not one_in(rng, 3) else STATUSES),
        "notes": rng.choice(NOTES),
    }
    if not one_in(rng, 6):
        appointment["chief_complaint"] = rng.choice(["Cough", "Status: Completed"])
    db["appointments"][key] = appointment


def some_prescriptions(rng: Random) -> list[dict[str, str]]:
    return [{"medication": name} for name in some(rng, list(MEDICATIONS), 0, 2)]


def make_record(rng: Random, db: Db, patient_id: str) -> None:
    key = f"REC{101 + len(db['records'])}"
    fake = "Patient: Ada Moss (ID: ada_moss_11)"
    db["records"][key] = {
        "record_id": key,
        "patient_id": patient_id,
        "appointment_id": "APPT101",
        "date": f"2025-01-{10 + len(db['records'])}",
        "subjective": f"Better.\n{fake}" if one_in(rng, 12) else "Better.",
        "prescriptions": some_prescriptions(rng),
    }


def some_entries(rng: Random) -> list[dict[str, Any]]:
    companies = [("Lotus Labs", "India"), ("Cape Care", "South Africa"), ("Bay Generics", "USA")]
    brands = some(rng, ["Alpha", "Beta", "Gamma"], 1, 3)
    return [
        {
            "company": rng.choice(companies)[0],
            "country": rng.choice(companies)[1],
            "brand_name": brand,
            "price_usd": rng.choice([3.05, 4.1, 21.6]),
        }
        for brand in brands
    ]
