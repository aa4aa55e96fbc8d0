"""A small clinic whose tools answer in formatted text, and fail in ordinary words."""

from __future__ import annotations

import json
from random import Random
from typing import Any, ClassVar

from ledgeragent import ToolCall

from ..judgement import Db, Judgement, Talk
from ..judges import telehealth as judge
from ..world import Answer, Facts, call, fields, one_in
from .telehealth_proposals import TelehealthProposals
from .telehealth_records import (
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

_APPOINTMENT = ("date", "time", "status", "patient_id")


class TelehealthWorld(TelehealthProposals):
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

    def read(self, call: ToolCall) -> Answer:
        answer: Answer = getattr(self, f"_{call.name}")(dict(call.arguments))
        return answer

    def _find_patient_by_email(self, given: dict[str, Any]) -> Answer:
        key = str(given.get("email")).removesuffix("@example.com")
        if key in self.db["patients"]:
            return Answer(key)
        return Answer(f"No patient found with email: {given.get('email')}", failed=True)

    def _find_patient_by_name_dob(self, given: dict[str, Any]) -> Answer:
        who = (given.get("first_name"), given.get("last_name"), given.get("date_of_birth"))
        for key in self.db["patients"]:
            if PEOPLE[key] == who:
                return Answer(key)
        return Answer(
            f"No patient found with name: {who[0]} {who[1]} and DOB: {who[2]}", failed=True
        )

    def _get_patient_details(self, given: dict[str, Any]) -> Answer:
        key = given["patient_id"]
        patient = self.db["patients"].get(key)
        if patient is None:
            return Answer(f"Patient with ID {key} not found.", failed=True)
        contact = patient["emergency_contact"]
        lines = [
            f"Patient Details for {full_name(patient)} (ID: {key})",
            "",
            "Demographics:",
            f"- Date of Birth: {PEOPLE[key][2]}",
            "- Gender: Female",
            "- Phone: (555) 100-0000",
            f"- Email: {key}@example.com",
            "",
            "Address:",
            f"- {patient['address']}",
            "- ",
            "- Derby, CT 10001",
            "- USA",
            "",
            "Insurance:",
            "- Provider: Hill Mutual",
            "- Policy Number: HM1",
            "- Primary Care Copay: $20.00",
            "- Specialist Copay: $45.00",
            "",
            "Medical History:",
            "- Conditions: None",
            "- Allergies: None",
            "- Current Medications: None",
            "",
            "Emergency Contact:",
            f"- {contact['name']} ({contact['relationship']})",
            "- Phone: (555) 100-0001",
        ]
        return Answer("\n".join(lines), shown=frozenset(fields("patients", key, "contact")))

    def _get_appointment_details(self, given: dict[str, Any]) -> Answer:
        key = given["appointment_id"]
        appointment = self.db["appointments"].get(key)
        if appointment is None:
            return Answer(f"Appointment with ID {key} not found.", failed=True)
        if "chief_complaint" not in appointment:
            return Answer("Error: 'chief_complaint'", failed=True)
        patient = self.db["patients"][appointment["patient_id"]]
        provider_id = appointment["provider_id"]
        _, _, last, specialty = PROVIDERS[provider_id]
        lines = [
            f"Appointment Details (ID: {key})",
            "",
            f"Patient: {full_name(patient)} (ID: {patient['patient_id']})",
            f"Provider: Dr. {last} - {specialty} (ID: {provider_id})",
            "",
            "Appointment Information:",
            f"- Date: {appointment['date']}",
            f"- Time: {appointment['time']}",
            "- Duration: 30 minutes",
            f"- Type: {titled(appointment['type'])}",
            f"- Status: {titled(appointment['status'])}",
            "",
            "Clinical Information:",
            f"- Chief Complaint: {appointment['chief_complaint']}",
            f"- Notes: {appointment['notes']}",
            "",
            "Billing Information:",
            "- Insurance Authorization: AUTH1",
            "- Copay Amount: $20.00",
            "",
            "Meeting Information:",
            f"- Meeting Link: https://clinic.example.com/{key}",
        ]
        if appointment["status"] == "cancelled":
            lines += [
                "",
                "Cancellation Details:",
                "- Reason: Patient Cancelled",
                "- Date: 2026-01-01",
            ]
        shown = fields("appointments", key, *_APPOINTMENT, "provider_id")
        return Answer("\n".join(lines), shown=frozenset(shown))

    def _list_patient_appointments(self, given: dict[str, Any]) -> Answer:
        key, status = given["patient_id"], given.get("status_filter")
        if key not in self.db["patients"]:
            return Answer(f"Patient with ID {key} not found.", failed=True)
        listed = [
            a
            for a in self.db["appointments"].values()
            if a["patient_id"] == key and status in (None, a["status"])
        ]
        ending = f" with status {status}" if status else ""
        shown = set() if status else {("patients", key, "appointments")}
        if not listed:
            return Answer(
                f"No appointments found for patient {key}{ending}.", shown=frozenset(shown)
            )
        lines = [f"Appointments for {full_name(self.db['patients'][key])} (ID: {key}){ending}"]
        for appointment in sorted(listed, key=lambda a: (str(a["date"]), str(a["time"]))):
            title, _, last, specialty = PROVIDERS[appointment["provider_id"]]
            lines.append(
                f"- {appointment['appointment_id']}: {appointment['date']} at {appointment['time']} "
                f"with {title} {last} ({specialty}) [{titled(appointment['status'])}, "
                f"Type: {titled(appointment['type'])}]"
            )
            shown |= fields("appointments", appointment["appointment_id"], *_APPOINTMENT)
        return Answer("\n".join(lines), shown=frozenset(shown))

    def _get_provider_details(self, given: dict[str, Any]) -> Answer:
        key = given["provider_id"]
        provider = self.db["providers"].get(key)
        if provider is None:
            shown = frozenset(fields("providers", key, "exists"))
            return Answer(f"Provider with ID {key} not found.", failed=True, shown=shown)
        if "license_number" not in provider:
            shown = frozenset(fields("providers", key, "exists"))
            return Answer("Error: 'license_number'", failed=True, shown=shown)
        title, first, last, specialty = PROVIDERS[key]
        lines = [
            f"Provider Details (ID: {key})",
            "",
            f"Name: {title} {first} {last}",
            f"Specialty: {specialty}",
            f"License Number: {provider['license_number']}",
            "Credentials: MD",
            "Years of Experience: 10",
            "",
            "Contact Information:",
            "- Phone: (555) 200-0000",
            f"- Email: {key}@clinic.example.com",
            "",
            "Languages: English",
            "Consultation Fee: $150.00",
            "",
            "Weekly Schedule:",
            *(f"- {day.title()}: {', '.join(t)}" for day, t in provider["schedule"].items() if t),
        ]
        shown = frozenset(fields("providers", key, "exists", "schedule"))
        return Answer("\n".join(lines), shown=shown)

    def _list_available_providers(self, given: dict[str, Any]) -> Answer:
        specialty = given.get("specialty")
        listed = [k for k in self.db["providers"] if specialty in (None, PROVIDERS[k][3])]
        if not listed:
            return Answer(f"No providers found with specialty: {specialty}", failed=True)
        blocks = [f"Available Providers{f' - {specialty}' if specialty else ''}:"]
        for key in listed:
            title, first, last, field = PROVIDERS[key]
            blocks.append(
                f"• {title} {first} {last} (ID: {key})\n  Specialty: {field}\n  Experience: 10 years\n"
                "  Languages: English\n  Consultation Fee: $150.00\n  Phone: (555) 200-0000"
            )
        absent = [] if specialty else ["dr_none"]
        shown = {("providers", key, "exists") for key in [*listed, *absent]}
        return Answer("\n\n".join(blocks), shown=frozenset(shown))

    def _get_medical_record(self, given: dict[str, Any]) -> Answer:
        key = str(given.get("record_id"))
        record = self.db["records"].get(key)
        if record is None:
            return Answer(f"No medical record found for record ID {key}.", failed=True)
        patient = self.db["patients"][record["patient_id"]]
        lines = [
            f"Medical Record (ID: {key})",
            f"Patient: {full_name(patient)} (ID: {patient['patient_id']})",
            "Provider: MD Ira Ash (ID: dr_ash_primary)",
            f"Related Appointment: {record['appointment_id']} on {record['date']} at 09:00",
            f"Date: {record['date']}",
            "Type: follow_up_note",
            f"Subjective: {record['subjective']}",
            "Objective: Nothing new.",
            "Assessment: Stable.",
            "Plan: Continue.",
        ]
        return Answer("\n".join(lines), shown=frozenset(fields("records", key, "patient_id")))

    def _list_patient_medical_records(self, given: dict[str, Any]) -> Answer:
        key = given["patient_id"]
        records = [r for r in self.db["records"].values() if r["patient_id"] == key]
        records.sort(key=lambda record: str(record["date"]), reverse=True)
        limit = given.get("limit")
        listed = records[:limit] if limit else records
        if not listed:
            return Answer(f"No medical records found for patient {key}.", failed=True)
        lines = ["Medical records (newest first):"]
        shown: set[tuple[str, str, str]] = set()
        for record in listed:
            medications = ", ".join(p["medication"] for p in record["prescriptions"])
            lines.append(
                f"record_id={record['record_id']} | date={record['date']} | appointment_id="
                f"{record['appointment_id']} | medications={medications or 'None recorded'}"
            )
            shown |= fields("records", record["record_id"], "patient_id", "prescriptions")
        return Answer("\n".join(lines), shown=frozenset(shown))

    def _list_medication_suppliers(self, given: dict[str, Any]) -> Answer:
        asked = str(given["medication"])
        name = next((m for m in self.db["catalog"] if m.lower() == asked.lower()), None)
        if name is None:
            text = f"No supplier information found for {asked}. (Tip: ensure the medication name matches"
            return Answer(f"{text} the catalog)", failed=True)
        country, limit = given.get("country_filter"), given.get("limit")
        listed = [e for e in self.db["catalog"][name] if country in (None, e["country"])]
        listed.sort(key=lambda entry: float(entry["price_usd"]))
        whole = country is None and not limit
        listed = listed[:limit] if limit else listed
        if not listed:
            return Answer(f"No suppliers in {country} for {asked}.", failed=True)
        lines = [f"Suppliers for {asked}:"]
        lines += [
            f"{e['company']} ({e['country']}) | brand={e['brand_name']} | price_usd={e['price_usd']:.2f}"
            for e in listed
        ]
        shown = {("catalog", name, e["brand_name"]) for e in listed}
        if whole:
            shown.add(("catalog", name, "entries"))
        return Answer("\n".join(lines), shown=frozenset(shown))

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
        shown = fields("appointments", key, *_APPOINTMENT, "provider_id")
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
