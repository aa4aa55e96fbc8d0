"""What the clinic's reads answer: texts laid out for people, and failures in ordinary words."""

from __future__ import annotations

from typing import Any

from ledgeragent import ToolCall

from ..world import Answer, fields
from .telehealth_proposals import TelehealthProposals
from .telehealth_records import (
    APPOINTMENT,
    PEOPLE,
    PROVIDERS,
    full_name,
    titled,
)


class TelehealthReads(TelehealthProposals):
    """The reads of the clinic, each over the tables of its world."""

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
        shown = fields("appointments", key, *APPOINTMENT, "provider_id")
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
            shown |= fields("appointments", appointment["appointment_id"], *APPOINTMENT)
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
