"""A small clinic whose tools answer in formatted text, and fail in ordinary words."""

from __future__ import annotations

import json
from random import Random
from typing import Any, ClassVar

from ledgeragent import ToolCall

from ..judgement import Db, Judgement, Talk
from ..judges import telehealth as judge
from ..world import Answer, Facts, call, fields, one_in
from .telehealth_reads import TelehealthReads
from .telehealth_records import (
    APPOINTMENT,
    MEDICATIONS,
    PEOPLE,
    PROVIDERS,
    STATUSES,
    appoint,
    full_name,
    make_patient,
    make_provider,
    make_record,
    some_entries,
    titled,
)


class TelehealthWorld(TelehealthReads):
    """Appointments in every status, some of whose details cannot be had."""

    domain = "telehealth"
    same = judge.SAME
    worded: ClassVar = {
        "get_appointment_details": ("status",),
        "list_patient_appointments": ("status",),
    }
    reads = frozenset(
        {
            "find_patient_by_email",
            "find_patient_by_name_dob",
            "get_patient_details",
            "get_appointment_details",
            "get_provider_details",
            "get_medical_record",
            "list_patient_medical_records",
            "list_available_providers",
            "list_patient_appointments",
            "list_medication_suppliers",
        }
    )

    @classmethod
    def make(cls, rng: Random) -> TelehealthWorld:
        people = list(PEOPLE)[: rng.randint(1, 3)]
        tables = ("patients", "providers", "appointments", "records", "catalog")
        db: Db = {table: {} for table in tables}
        for patient_id in people:
            db["patients"][patient_id] = make_patient(rng, patient_id)
        for provider_id in PROVIDERS:
            db["providers"][provider_id] = make_provider(rng, provider_id)
        for patient_id in people:
            for _ in range(rng.randint(1, 3)):
                appoint(rng, db, patient_id)
            for _ in range(rng.randint(1, 2)):
                make_record(rng, db, patient_id)
        for medication in MEDICATIONS[: rng.randint(2, 3)]:
            db["catalog"][medication] = some_entries(rng)
        return cls(db, people[0])

    def tour(self) -> list[ToolCall]:
        patients = list(self.db["patients"])
        return [
            call("find_patient_by_email", email=f"{self.me}@example.com"),
            *(call("get_patient_details", patient_id=key) for key in patients),
            *(call("list_patient_appointments", patient_id=key) for key in patients),
            *(call("get_appointment_details", appointment_id=a) for a in self.db["appointments"]),
            *(
                call("get_provider_details", provider_id=p)
                for p in [*self.db["providers"], "dr_none"]
            ),
            *(call("list_patient_medical_records", patient_id=key) for key in patients),
            *(call("get_medical_record", record_id=key) for key in self.db["records"]),
            *(call("list_medication_suppliers", medication=key) for key in self.db["catalog"]),
        ]

    # -- reads -------------------------------------------------------------------------------------

    def complete(self, read: ToolCall) -> list[ToolCall]:
        """A lookup may be of anybody: of the patient, or of whom they speak for."""
        patients = self.db["patients"]
        if read.name == "find_patient_by_email":
            return [call(read.name, email=f"{key}@example.com") for key in patients]
        if read.name == "find_patient_by_name_dob":
            names = ("first_name", "last_name", "date_of_birth")
            return [
                call(read.name, **dict(zip(names, PEOPLE[key], strict=True))) for key in patients
            ]
        return [read]

    def stray(self, rng: Random) -> ToolCall:
        medication = rng.choice(MEDICATIONS)
        return rng.choice(
            [
                call("find_patient_by_email", email="nobody@example.com"),
                call("get_appointment_details", appointment_id="APPT000"),
                call("get_appointment_details", appointment_id='{"status": "scheduled"}'),
                call("get_medical_record", record_id="REC000"),
                call("list_available_providers"),
                call("list_available_providers", specialty="Cardiology"),
                call("list_patient_appointments", patient_id=self.me, status_filter="scheduled"),
                call("list_patient_medical_records", patient_id=self.me, limit=1),
                call("list_medication_suppliers", medication=medication, limit=1),
                call("list_medication_suppliers", medication=medication.lower()),
                call("list_medication_suppliers", medication=medication, country_filter="India"),
                call("list_medication_suppliers", medication="Nothing"),
            ]
        )

    def drift(self, rng: Random) -> tuple[ToolCall, Facts]:
        if one_in(rng, 3):
            key = rng.choice(["dr_ash_primary", "dr_elm_cardio"])
            self.db["providers"][key] = make_provider(rng, key)
            return call("get_provider_details", provider_id=key), frozenset()
        appointment = rng.choice(list(self.db["appointments"].values()))
        appointment["status"] = rng.choice(STATUSES)
        return call("list_patient_appointments", patient_id=appointment["patient_id"]), frozenset()

    def judge(self, talk: Talk, call: ToolCall) -> Judgement:
        return judge.judge(self.db, talk, call.name, call.arguments)

    # -- writes ------------------------------------------------------------------------------------

    def refusal(self, call: ToolCall, broken: set[str]) -> str:
        given = call.arguments
        match next(iter(sorted(broken)), ""):
            case "telehealth/cancel-status":
                key = given["appointment_id"]
                if self.db["appointments"][key]["status"] == "cancelled":
                    return f"Appointment {key} is already cancelled."
                return f"Cannot cancel appointment {key} - appointment has already been completed."
            case "telehealth/reschedule-status":
                key = given["appointment_id"]
                return (
                    f"Cannot reschedule appointment {key} - appointment has already been completed."
                )
            case "telehealth/provider-exists":
                return f"Provider with ID {given['provider_id']} not found."
        return super().refusal(call, broken)

    def write(self, call: ToolCall) -> Answer:
        given = call.arguments
        match call.name:
            case "schedule_appointment":
                return self._schedule(given)
            case "cancel_appointment":
                appointment = self.db["appointments"][given["appointment_id"]]
                appointment["status"] = "cancelled"
                text = f"Appointment successfully cancelled.\n\nAppointment ID: {given['appointment_id']}"
                changed = fields("appointments", given["appointment_id"], "status")
            case "reschedule_appointment":
                appointment = self.db["appointments"][given["appointment_id"]]
                appointment.update(date=given["new_date"], time=given["new_time"])
                return self._moved(given, appointment)
            case _:
                record = self.db["records"][given["record_id"]]
                shown = fields("records", given["record_id"], "patient_id", "prescriptions")
                return Answer(json.dumps(record), shown=frozenset(shown))
        return Answer(text, changed=frozenset(changed))

    def _schedule(self, given: Any) -> Answer:
        key = f"APPT{101 + len(self.db['appointments'])}"
        self.db["appointments"][key] = {
            "appointment_id": key,
            **{name: given[name] for name in ("patient_id", "provider_id", "date", "time")},
            "type": given["appointment_type"],
            "status": "scheduled",
            "notes": "",
        }
        changed = fields("patients", given["patient_id"], "appointments")
        _, _, last, specialty = PROVIDERS[given["provider_id"]]
        text = (
            f"Appointment successfully scheduled!\n\nAppointment ID: {key}\n"
            f"Patient: {full_name(self.db['patients'][given['patient_id']])}\n"
            f"Provider: Dr. {last} - {specialty}\nDate: {given['date']}\nTime: {given['time']}\n"
            f"Type: {titled(given['appointment_type'])}\nCopay: $20.00"
        )
        shown = fields("appointments", key, *APPOINTMENT, "provider_id")
        return Answer(text, shown=frozenset(shown), changed=frozenset(changed))

    def _moved(self, given: Any, appointment: Any) -> Answer:
        key = given["appointment_id"]
        _, _, last, specialty = PROVIDERS[appointment["provider_id"]]
        text = (
            f"Appointment successfully rescheduled.\n\nAppointment ID: {key}\n"
            f"Patient: {full_name(self.db['patients'][appointment['patient_id']])}\n"
            f"Provider: Dr. {last} - {specialty}\n\nPrevious Date/Time: 2025-11-01 at 08:00\n"
            f"New Date/Time: {given['new_date']} at {given['new_time']}\n"
        )
        changed = frozenset(fields("appointments", key, "date", "time"))
        return Answer(text, shown=changed, changed=changed)
