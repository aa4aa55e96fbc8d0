"""Tools about who a patient is."""

from __future__ import annotations

from ledgeragent.bench.telehealth.data import Data
from ledgeragent.bench.telehealth.wording import dollars, full_name, listed
from ledgeragent.types import Json


def find_patient_by_email(data: Data, email: str) -> str:
    """The id of the first patient with exactly this address."""
    for patient_id, patient in data.patients.items():
        if patient["demographics"]["email"] == email:
            return patient_id
    return f"No patient found with email: {email}"


def find_patient_by_name_dob(
    data: Data, first_name: str, last_name: str, date_of_birth: str
) -> str:
    """The id of the first patient of this name, in any case, born on this day."""
    for patient_id, patient in data.patients.items():
        if (
            patient["name"]["first_name"].lower() == first_name.lower()
            and patient["name"]["last_name"].lower() == last_name.lower()
            and patient["demographics"]["date_of_birth"] == date_of_birth
        ):
            return patient_id
    return f"No patient found with name: {first_name} {last_name} and DOB: {date_of_birth}"


def get_patient_details(data: Data, patient_id: str) -> str:
    """The profile of a patient."""
    if patient_id not in data.patients:
        return f"Patient with ID {patient_id} not found."
    patient = data.patients[patient_id]
    sections = (_demographics, _address, _insurance, _history, _contact)
    head = f"Patient Details for {full_name(patient)} (ID: {patient_id})"
    return "\n\n".join([head, *(section(patient) for section in sections)])


def _demographics(patient: Json) -> str:
    demographics = patient["demographics"]
    return (
        f"Demographics:\n- Date of Birth: {demographics['date_of_birth']}\n"
        f"- Gender: {demographics['gender']}\n"
        f"- Phone: {demographics['phone']}\n- Email: {demographics['email']}"
    )


def _address(patient: Json) -> str:
    at = patient["address"]
    return (
        f"Address:\n- {at['address1']}\n- {at['address2']}\n"
        f"- {at['city']}, {at['state']} {at['zip']}\n- {at['country']}"
    )


def _insurance(patient: Json) -> str:
    plan = patient["insurance"]["primary"]
    return (
        f"Insurance:\n- Provider: {plan['provider']}\n- Policy Number: {plan['policy_number']}\n"
        f"- Primary Care Copay: {dollars(plan['copay_primary'])}\n"
        f"- Specialist Copay: {dollars(plan['copay_specialist'])}"
    )


def _history(patient: Json) -> str:
    history = patient["medical_history"]
    medications = (f"{m['name']} {m['dosage']} {m['frequency']}" for m in history["medications"])
    return (
        f"Medical History:\n- Conditions: {listed(history['conditions'])}\n"
        f"- Allergies: {listed(history['allergies'])}\n- Current Medications: {listed(medications)}"
    )


def _contact(patient: Json) -> str:
    other = patient["emergency_contact"]
    return (
        f"Emergency Contact:\n- {other['name']} ({other['relationship']})\n"
        f"- Phone: {other['phone']}"
    )
