"""A clinic of our own making, small enough to see through."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ledgeragent.bench.telehealth.data import FILES, Data

TODAY = "2030-05-01"


def patient(patient_id: str, first: str, last: str, email: str) -> dict[str, Any]:
    return {
        "patient_id": patient_id,
        "name": {"first_name": first, "last_name": last},
        "demographics": {
            "date_of_birth": "1970-01-02",
            "gender": "Female",
            "phone": "1",
            "email": email,
        },
        "address": {
            "address1": "1 Reed Lane",
            "address2": "",
            "city": "Oxmoor",
            "state": "OX",
            "zip": "00001",
            "country": "Nowhere",
        },
        "insurance": {
            "primary": {
                "provider": "Plan",
                "policy_number": "P1",
                "copay_primary": 10.0,
                "copay_specialist": 33.5,
            }
        },
        "medical_history": {
            "conditions": [],
            "allergies": ["Dust", "Bees"],
            "medications": [{"name": "Zorvex", "dosage": "5mg", "frequency": "daily"}],
        },
        "emergency_contact": {"name": "Bo Reed", "relationship": "Son", "phone": "2"},
    }


def provider(provider_id: str, last: str, specialty: str, **more: Any) -> dict[str, Any]:
    return {
        "provider_id": provider_id,
        "name": {"first_name": "Ida", "last_name": last},
        "specialty": specialty,
        "credentials": ["MD"],
        "contact": {"phone": "3", "email": f"{last}@clinic"},
        "schedule": {"monday": ["09:00", "10:00"]},
        "consultation_fee": 80.0,
        "languages": ["English"],
        "years_experience": 4,
        **more,
    }


def appointment(appointment_id: str, status: str, time: str = "09:00") -> dict[str, Any]:
    return {
        "appointment_id": appointment_id,
        "patient_id": "ann_reed_1",
        "provider_id": "gp",
        "date": "2030-05-06",
        "time": time,
        "duration_minutes": 30,
        "type": "follow_up",
        "status": status,
        "chief_complaint": "Cough",
        "notes": "none",
        "insurance_authorization": "A1",
        "copay_amount": 10.0,
        "meeting_link": "https://x/" + appointment_id,
    }


def records() -> dict[str, Any]:
    """Every data file's content."""
    return {
        "patients": {
            "ann_reed_1": patient("ann_reed_1", "Ann", "Reed", "ann@mail"),
            "ben": patient("ben", "Ben", "Reed", ""),
        },
        "providers": {
            "gp": provider("gp", "Holt", "Primary Care", license_number="L1"),
            "eye": provider("eye", "Marsh", "Optics"),
        },
        "appointments": {
            "APPT001": appointment("APPT001", "scheduled"),
            "APPT002": appointment("APPT002", "completed", "10:00"),
        },
        "medical_records": {
            "REC1": {
                "record_id": "REC1",
                "appointment_id": "APPT002",
                "patient_id": "ann_reed_1",
                "provider_id": "eye",
                "date": "2030-01-01",
                "type": "note",
                "subjective": "Tired",
                "objective": "",
                "assessment": "Well",
                "plan": "Sleep",
                "recommendations": ["Rest"],
                "prescriptions": [{"medication": "Zorvex", "pharmacy": "Old"}],
            },
            "REC2": {
                "record_id": "REC2",
                "appointment_id": None,
                "patient_id": "ann_reed_1",
                "provider_id": "gp",
                "date": "2030-02-01",
                "type": "note",
                "subjective": "s",
                "objective": "o",
                "assessment": "a",
                "plan": "p",
            },
        },
        "medication_suppliers": {
            "Zorvex": [
                {"company": "B", "country": "Far", "brand_name": "Zb", "price_usd": 2.0},
                {"company": "A", "country": "Near", "brand_name": "Za", "price_usd": 1.5},
            ]
        },
        "drug_interactions": {
            "Zorvex": {
                "Plimol": {
                    "severity": "high",
                    "risk_score": 8,
                    "time_overlap_hours": 12,
                    "action": "Wait.",
                    "skip": ["Plimol"],
                    "emergency": True,
                }
            }
        },
        "telemetry_inventory": [
            {"device_id": "T2", "status": "lent", "last_audit": "d", "notes": "n"},
            {"device_id": "T1", "status": "free", "last_audit": "d", "notes": "n"},
        ],
        "telemetry_uploads": [
            {"device_id": "T1", "date": "2030-04-02", "hours": 2.0},
            {"device_id": "T1", "date": "2030-04-01", "hours": 1.0},
        ],
        "regimen_plans": {},
    }


def clinic() -> Data:
    """The untouched clinic."""
    return Data(**records(), today=TODAY)


def write(folder: Path) -> Path:
    """The clinic as data files below `folder`, with one task: cancel APPT001."""
    inside = folder / "benchmarks" / "tau_trait" / "telehealth"
    inside.mkdir(parents=True)
    for name in FILES:
        (inside / f"{name}.json").write_text(json.dumps(records()[name]))
    gold = [{"name": "cancel_appointment", "kwargs": {"appointment_id": "APPT001"}}]
    (inside / "tasks.json").write_text(json.dumps([{"actions": gold, "outputs": []}]))
    return folder
