"""Tools about appointments: looking them up, booking, moving and cancelling them."""

from __future__ import annotations

from datetime import datetime

from ledgeragent.bench.telehealth.data import Data
from ledgeragent.bench.telehealth.wording import dollars, full_name, has_status, label, title
from ledgeragent.types import Json

_TAKEN = ("scheduled", "pending_approval")
_ROOM = "https://telehealth.healthcenter.com/room/"


def get_appointment_details(data: Data, appointment_id: str) -> str:
    """An appointment in full; KeyError where the record lacks a part of it."""
    if appointment_id not in data.appointments:
        return _unknown(appointment_id)
    appointment = data.appointments[appointment_id]
    patient, provider = _people(data, appointment)
    return (
        f"Appointment Details (ID: {appointment_id})\n\n"
        f"Patient: {full_name(patient)} (ID: {appointment['patient_id']})\n"
        f"Provider: {_with(provider)} (ID: {appointment['provider_id']})\n\n"
        f"Appointment Information:\n- Date: {appointment['date']}\n- Time: {appointment['time']}\n"
        f"- Duration: {appointment['duration_minutes']} minutes\n- Type: {label(appointment['type'])}\n"
        f"- Status: {label(appointment['status'])}\n\n"
        f"Clinical Information:\n- Chief Complaint: {appointment['chief_complaint']}\n"
        f"- Notes: {appointment['notes']}\n\n"
        f"Billing Information:\n- Insurance Authorization: {appointment['insurance_authorization']}\n"
        f"- Copay Amount: {dollars(appointment['copay_amount'])}\n\n"
        f"Meeting Information:\n- Meeting Link: {appointment['meeting_link']}"
        f"{_prescription(appointment)}{_referral(appointment)}{_cancellation(appointment)}"
    )


def _prescription(appointment: Json) -> str:
    if "prescription_issued" not in appointment:
        return ""
    issued = appointment["prescription_issued"]
    return (
        f"\n\nPrescription Issued:\n- {issued['medication']} {issued['dosage']} "
        f"{issued['frequency']}\n- Quantity: {issued['quantity']}, Refills: {issued['refills']}"
    )


def _referral(appointment: Json) -> str:
    if "referral_from" not in appointment:
        return ""
    return f"\n\nReferral from: {appointment['referral_from']}"


def _cancellation(appointment: Json) -> str:
    if appointment["status"] != "cancelled":
        return ""
    return (
        f"\n\nCancellation Details:\n- Reason: {label(appointment['cancellation_reason'])}\n"
        f"- Date: {appointment['cancellation_date']}"
    )


def list_patient_appointments(data: Data, patient_id: str, status_filter: str | None = None) -> str:
    """A patient's appointments in order of time, perhaps of one status, written in any case."""
    if patient_id not in data.patients:
        return f"Patient with ID {patient_id} not found."
    with_status = f" with status {status_filter}" if status_filter else ""
    rows = [
        (a["date"], a["time"], appointment_id)
        for appointment_id, a in data.appointments.items()
        if a["patient_id"] == patient_id and has_status(a, status_filter)
    ]
    if not rows:
        return f"No appointments found for patient {patient_id}{with_status}."
    name = full_name(data.patients[patient_id])
    lines = (_line(data, appointment_id) for _, _, appointment_id in sorted(rows))
    return "\n".join([f"Appointments for {name} (ID: {patient_id}){with_status}", *lines])


def _line(data: Data, appointment_id: str) -> str:
    appointment = data.appointments[appointment_id]
    provider = data.providers[appointment["provider_id"]]
    return (
        f"- {appointment_id}: {appointment['date']} at {appointment['time']} with {title(provider)} "
        f"{provider['name']['last_name']} ({provider['specialty']}) "
        f"[{label(appointment['status'])}, Type: {label(appointment['type'])}]"
    )


def schedule_appointment(
    data: Data,
    patient_id: str,
    provider_id: str,
    date: str,
    time: str,
    appointment_type: str,
    bill_insurance: bool = True,
    voucher_id: str | None = None,
    payment_notes: str | None = None,
) -> str:
    """Books a free slot, or says why it can't. A voucher counts only without insurance."""
    if patient_id not in data.patients:
        return f"Patient with ID {patient_id} not found."
    if provider_id not in data.providers:
        return f"Provider with ID {provider_id} not found."
    refusal = _unbookable(data, provider_id, date, time)
    if refusal is not None:
        return refusal
    number = _next_number(data)
    appointment_id = f"APPT{number:03d}"
    patient, provider = data.patients[patient_id], data.providers[provider_id]
    booked = {
        "appointment_id": appointment_id,
        "patient_id": patient_id,
        "provider_id": provider_id,
        "date": date,
        "time": time,
        "duration_minutes": 30,
        "type": appointment_type,
        "status": "scheduled",
        "notes": payment_notes or "",
        "insurance_authorization": f"AUTH{number:06d}" if bill_insurance else None,
        "copay_amount": _copay(patient, provider) if bill_insurance else 0.0,
        "meeting_link": f"{_ROOM}{appointment_id}",
        "payment_method": _payment(bill_insurance, voucher_id),
        "voucher_id": None if bill_insurance else voucher_id,
        "insurance_billed": bool(bill_insurance),
    }
    text = _booked(booked, patient, provider)
    data.appointments[appointment_id] = booked
    return text


def _next_number(data: Data) -> int:
    return max((int(a.removeprefix("APPT")) for a in data.appointments), default=0) + 1


def _copay(patient: Json, provider: Json) -> float:
    kind = "primary" if provider["specialty"] == "Primary Care" else "specialist"
    amount: float = patient["insurance"]["primary"][f"copay_{kind}"]
    return amount


def _payment(bill_insurance: bool, voucher_id: str | None) -> str:
    if bill_insurance:
        return "insurance"
    return "telehealth_voucher" if voucher_id else "self_pay"


def _booked(booked: Json, patient: Json, provider: Json) -> str:
    lines = [
        "Appointment successfully scheduled!\n",
        f"Appointment ID: {booked['appointment_id']}",
        f"Patient: {full_name(patient)}",
        f"Provider: {_with(provider)}",
        f"Date: {booked['date']}",
        f"Time: {booked['time']}",
        f"Type: {label(booked['type'])}",
        *(_insured(booked) if booked["insurance_billed"] else _uninsured(booked)),
        f"Meeting Link: {booked['meeting_link']}\n",
        "Please save your appointment ID for future reference.",
    ]
    return "\n".join(lines)


def _insured(booked: Json) -> list[str]:
    return [
        f"Copay: {dollars(booked['copay_amount'])}",
        f"Insurance Authorization: {booked['insurance_authorization']}",
    ]


def _uninsured(booked: Json) -> list[str]:
    voucher, notes = booked["voucher_id"], booked["notes"]
    return [
        "Insurance Billing: Skipped",
        f"Payment Method: {label(booked['payment_method'])}",
        *([f"Voucher Applied: {voucher}"] if voucher else []),
        f"Amount Due Today: {dollars(booked['copay_amount'])}",
        *([f"Billing Notes: {notes}"] if notes else []),
    ]


def cancel_appointment(data: Data, appointment_id: str) -> str:
    """Cancels an appointment that is neither cancelled nor over."""
    if appointment_id not in data.appointments:
        return _unknown(appointment_id)
    appointment = data.appointments[appointment_id]
    if appointment["status"] == "cancelled":
        return f"Appointment {appointment_id} is already cancelled."
    if appointment["status"] == "completed":
        return f"Cannot cancel appointment {appointment_id} - {_OVER}"
    appointment["status"] = "cancelled"
    appointment["cancellation_reason"] = "patient_cancelled"
    appointment["cancellation_date"] = data.today
    patient, provider = _people(data, appointment)
    return (
        f"Appointment successfully cancelled.\n\nAppointment ID: {appointment_id}\n"
        f"Patient: {full_name(patient)}\nProvider: Dr. {provider['name']['last_name']}\n"
        f"Original Date/Time: {appointment['date']} at {appointment['time']}\n"
        f"Cancellation Reason: {label(appointment['cancellation_reason'])}\n"
        f"Cancellation Date: {data.today}\n\n"
        "The appointment slot is now available for other patients. If this was a patient "
        "cancellation, please remind them of the cancellation policy."
    )


def reschedule_appointment(data: Data, appointment_id: str, new_date: str, new_time: str) -> str:
    """Moves an appointment to another free slot of its provider, or says why it can't."""
    if appointment_id not in data.appointments:
        return _unknown(appointment_id)
    appointment = data.appointments[appointment_id]
    if appointment["status"] == "completed":
        return f"Cannot reschedule appointment {appointment_id} - {_OVER}"
    if appointment["status"] == "cancelled":
        return f"Cannot reschedule appointment {appointment_id} - appointment has been cancelled."
    provider_id = appointment["provider_id"]
    refusal = _unbookable(data, provider_id, new_date, new_time, moving=appointment_id)
    if refusal is not None:
        return refusal
    before = f"{appointment['date']} at {appointment['time']}"
    appointment["date"], appointment["time"] = new_date, new_time
    patient, provider = _people(data, appointment)
    return (
        f"Appointment successfully rescheduled.\n\nAppointment ID: {appointment_id}\n"
        f"Patient: {full_name(patient)}\nProvider: {_with(provider)}\n\n"
        f"Previous Date/Time: {before}\nNew Date/Time: {new_date} at {new_time}\n\n"
        f"Meeting Link: {appointment['meeting_link']}\n\n"
        "Please update your calendar with the new appointment time."
    )


_OVER = "appointment has already been completed."


def _unbookable(
    data: Data, provider_id: str, date: str, time: str, moving: str | None = None
) -> str | None:
    """Why a slot can't be had: no such day, not worked, or taken by another than `moving`."""
    try:
        day = datetime.strptime(date, "%Y-%m-%d").strftime("%A")
    except ValueError:
        return f"Invalid date format: {date}. Please use YYYY-MM-DD format."
    schedule = data.providers[provider_id]["schedule"]
    if day.lower() not in schedule:
        return f"Provider {provider_id} does not work on {day}."
    times = schedule[day.lower()]
    if time not in times:
        return (
            f"Provider {provider_id} is not available at {time} on {day}. "
            f"Available times: {', '.join(times)}"
        )
    if _taken(data, (provider_id, date, time), moving):
        return f"Provider {provider_id} already has an appointment scheduled at {time} on {date}."
    return None


def _taken(data: Data, slot: tuple[str, str, str], moving: str | None) -> bool:
    return any(
        (other["provider_id"], other["date"], other["time"]) == slot
        and other["status"] in _TAKEN
        and appointment_id != moving
        for appointment_id, other in data.appointments.items()
    )


def _unknown(appointment_id: str) -> str:
    return f"Appointment with ID {appointment_id} not found."


def _people(data: Data, appointment: Json) -> tuple[Json, Json]:
    return data.patients[appointment["patient_id"]], data.providers[appointment["provider_id"]]


def _with(provider: Json) -> str:
    return f"Dr. {provider['name']['last_name']} - {provider['specialty']}"
