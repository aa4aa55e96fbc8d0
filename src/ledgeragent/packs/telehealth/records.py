"""The clinic's records as the parsers of `texts` make them, and the arguments of its write tools.

A record with `exists: False` holds nothing else that counts: the tool answered that there is none.
Fields that only one of two reads supplies are optional: a list and the details merge by field.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

Status: TypeAlias = Literal["scheduled", "pending_approval", "completed", "cancelled"]
"""The statuses of an appointment, by the policy."""


class Insurance(TypedDict):
    """The cover of a patient's insurance."""

    provider: str
    policy_number: str
    primary_care_copay: float
    specialist_copay: float


class EmergencyContact(TypedDict):
    """Whom to call, and what that person is to the patient ("Mother", "Son", "Spouse")."""

    name: str
    relationship: str
    phone: str


class Patient(TypedDict):
    """A patient's profile. A lookup by name and birth date supplies those two only."""

    exists: bool
    patient_id: str
    name: str
    date_of_birth: str
    gender: NotRequired[str]
    phone: NotRequired[str]
    email: NotRequired[str]
    address: NotRequired[list[str]]
    insurance: NotRequired[Insurance]
    conditions: NotRequired[list[str]]
    allergies: NotRequired[list[str]]
    current_medications: NotRequired[list[str]]
    emergency_contact: NotRequired[EmergencyContact]


class Appointment(TypedDict):
    """An appointment. `provider_id` is in the details only; a list prints `provider`, a short name.

    `status` and `type` are written as the write tools write them: `pending_approval`, `sick_visit`.
    """

    exists: bool
    appointment_id: str
    patient_id: str
    patient_name: str
    date: str
    time: str
    type: str
    status: Status
    provider: str
    provider_id: NotRequired[str]
    duration_minutes: NotRequired[int]
    chief_complaint: NotRequired[str]
    notes: NotRequired[str]
    insurance_authorization: NotRequired[str]
    copay: NotRequired[float]
    meeting_link: NotRequired[str]


class Booking(TypedDict):
    """Which appointment a booking of this conversation has made."""

    appointment_id: str


class AppointmentList(TypedDict):
    """Which appointments a patient has (those of one status, where the list was narrowed)."""

    patient_id: str
    appointment_ids: list[str]


class Provider(TypedDict):
    """A provider. `schedule`, from the details only, gives the times of each weekday with any."""

    exists: bool
    provider_id: str
    name: str
    specialty: str
    years_experience: int
    languages: list[str]
    consultation_fee: float
    phone: str
    email: NotRequired[str]
    license_number: NotRequired[str]
    credentials: NotRequired[str]
    schedule: NotRequired[dict[str, list[str]]]


class ProviderList(TypedDict):
    """Which providers there are (those of one specialty, where the list was narrowed)."""

    provider_ids: list[str]


class MedicalRecord(TypedDict):
    """A medical record. `medications`, from the list only, names what it prescribes."""

    exists: bool
    record_id: str
    patient_id: str
    date: str
    appointment_id: str | None
    medications: NotRequired[list[str]]
    patient_name: NotRequired[str]
    provider: NotRequired[str]
    provider_id: NotRequired[str]
    type: NotRequired[str]
    subjective: NotRequired[str]
    objective: NotRequired[str]
    assessment: NotRequired[str]
    plan: NotRequired[str]
    recommendations: NotRequired[list[str]]


class RecordList(TypedDict):
    """Which medical records a patient has (the newest few, where the list was limited)."""

    patient_id: str
    record_ids: list[str]


class Offer(TypedDict):
    """One catalog entry: a company's brand of a medication and its price."""

    company: str
    country: str
    brand_name: str
    price_usd: float


class Suppliers(TypedDict):
    """The catalog's entries for a medication; `narrowed_by` says what was left out, "" for nothing."""

    medication: str
    narrowed_by: str
    offers: list[Offer]


class Interaction(TypedDict):
    """One documented interaction of two medications."""

    medications: list[str]
    severity: str
    risk_score: int
    overlap_hours: int
    advice: str


class Interactions(TypedDict):
    """The interactions documented of a medication taken with others; all but the first two if any is."""

    primary_medication: str
    interactions: list[Interaction]
    hold_today: NotRequired[list[str]]
    escalate: NotRequired[bool]
    peak_overlap_hours: NotRequired[int]
    highest: NotRequired[str]


class Component(TypedDict):
    """One medication of a regimen; the figures are text as printed."""

    medication: str
    dosage: NotRequired[str]
    daily_dose: NotRequired[str]
    monthly_units: NotRequired[str]
    unit_type: NotRequired[str]
    brand: NotRequired[str]
    supplier: NotRequired[str]
    unit_cost_usd: NotRequired[str]


class Regimen(TypedDict):
    """A combination of medications, its daily burden and what is to be said of it."""

    title: str
    focus: str
    components: list[Component]
    pill_burden: str
    notes: list[str]


class RegimenOptions(TypedDict):
    """A patient's regimen and the alternatives worked out for it; empty where there are none."""

    patient_id: str
    regimens: list[Regimen]


class Device(TypedDict):
    """A telemetry device of the inventory."""

    device_id: str
    status: str
    last_audit: str
    notes: str


class Upload(TypedDict):
    """The upload of a telemetry device for one night."""

    device_id: str
    date: str
    usage_hours: float
    synced_at: str | None
    event: str
    alerts: list[str]


class Schedule(TypedDict):
    """Arguments of `schedule_appointment`."""

    patient_id: str
    provider_id: str
    date: str
    time: str
    appointment_type: str
    bill_insurance: NotRequired[bool]
    voucher_id: NotRequired[str | None]
    payment_notes: NotRequired[str | None]


class Cancel(TypedDict):
    """Arguments of `cancel_appointment`."""

    appointment_id: str


class Reschedule(TypedDict):
    """Arguments of `reschedule_appointment`."""

    appointment_id: str
    new_date: str
    new_time: str


class UpdateSupplier(TypedDict):
    """Arguments of `update_prescription_supplier`."""

    record_id: str
    medication: str
    supplier_company: str
    brand_name: str
    price_usd: float
    currency: NotRequired[str | None]


class UpdateNote(TypedDict):
    """Arguments of `update_medical_record_note`."""

    record_id: str
    note: str
    metadata: NotRequired[Any]


class Transfer(TypedDict):
    """Arguments of `transfer_to_human_support`."""

    reason: NotRequired[Any]
