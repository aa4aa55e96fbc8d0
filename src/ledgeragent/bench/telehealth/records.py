"""Tools about medical records."""

from __future__ import annotations

import json

from ledgeragent.bench.telehealth.data import Data
from ledgeragent.bench.telehealth.wording import first_of, full_name
from ledgeragent.types import Json


def get_medical_record(
    data: Data, record_id: str | None = None, appointment_id: str | None = None
) -> str:
    """A record by its own id, else the first one of an appointment."""
    if record_id:
        if record_id not in data.medical_records:
            return f"Medical record with ID {record_id} not found."
        return _printed(data, data.medical_records[record_id])
    if appointment_id:
        for record in data.medical_records.values():
            if record.get("appointment_id") == appointment_id:
                return _printed(data, record)
        return f"No medical record found for appointment ID {appointment_id}."
    return "Please provide a record_id or appointment_id to look up the medical record."


def _printed(data: Data, record: Json) -> str:
    lines = [
        f"Medical Record (ID: {record['record_id']})",
        f"Patient: {full_name(data.patients[record['patient_id']])} (ID: {record['patient_id']})",
        f"Provider: {_provider(data, record['provider_id'])}",
        *_visit(data, record.get("appointment_id")),
        f"Date: {record['date']}",
        f"Type: {record['type']}",
    ]
    lines += [f"{part.title()}: {record[part]}" for part in _PARTS if record.get(part)]
    if record.get("recommendations"):
        lines += ["Recommendations:", *(f"- {advice}" for advice in record["recommendations"])]
    return "\n".join(lines)


_PARTS = ("subjective", "objective", "assessment", "plan")


def _provider(data: Data, provider_id: str) -> str:
    provider = data.providers[provider_id]
    return f"{provider['name'].get('title', '')} {full_name(provider)} (ID: {provider_id})".strip()


def _visit(data: Data, appointment_id: str | None) -> list[str]:
    visit = data.appointments.get(appointment_id) if appointment_id else None
    if visit is None:
        return []
    return [f"Related Appointment: {appointment_id} on {visit['date']} at {visit['time']}"]


def list_patient_medical_records(data: Data, patient_id: str, limit: int | None = None) -> str:
    """A patient's records, newest first, one line each."""
    records = [r for r in data.medical_records.values() if r["patient_id"] == patient_id]
    if not records:
        return f"No medical records found for patient {patient_id}."
    records.sort(key=lambda record: record["date"], reverse=True)
    return "\n".join(["Medical records (newest first):", *map(_line, first_of(records, limit))])


def _line(record: Json) -> str:
    prescribed = [p["medication"] for p in record.get("prescriptions") or []]
    return (
        f"record_id={record['record_id']} | date={record['date']} | "
        f"appointment_id={record.get('appointment_id')} | "
        f"medications={', '.join(prescribed) or 'None recorded'}"
    )


def update_medical_record_note(data: Data, record_id: str, note: str, metadata: Json = None) -> str:
    """Adds a note, with its metadata if there are any; the record as JSON."""
    if record_id not in data.medical_records:
        return f"Error: medical record {record_id} not found"
    record = data.medical_records[record_id]
    added = {"note": note, "metadata": metadata} if metadata else {"note": note}
    record.setdefault("notes", []).append(added)
    return json.dumps(record)
