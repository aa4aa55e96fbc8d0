"""Where the clinic's records are kept in the ledger.

A list says two things: something of each item, merged by field with what its details say, and which
items there are. The second holds only for the whole list, so a narrowed one has a path of its own.
"""

from __future__ import annotations

from ledgeragent.packs.telehealth.records import (
    Appointment,
    AppointmentList,
    Booking,
    Device,
    Interactions,
    MedicalRecord,
    Patient,
    Provider,
    ProviderList,
    RecordList,
    RegimenOptions,
    Suppliers,
    Upload,
)
from ledgeragent.paths import PathTemplate

AUTH = PathTemplate("auth.patient_id", str)
"""The id that the latest lookup answered with."""

LOCATED = PathTemplate("auth.located", dict[str, str])
"""Everyone a lookup has found, in that order, and how. The first is whom the conversation serves."""

PATIENT = PathTemplate("patients.{patient_id}", Patient)
APPOINTMENT = PathTemplate("appointments.{appointment_id}", Appointment)
ALL_APPOINTMENTS = PathTemplate("appointment_lists.{patient_id}", AppointmentList)
SOME_APPOINTMENTS = PathTemplate("appointment_lists.{patient_id}.{status_filter}", AppointmentList)
PROVIDER = PathTemplate("providers.{provider_id}", Provider)
BOOKING = PathTemplate("bookings.{provider_id}.{date}.{time}", Booking)
ALL_PROVIDERS = PathTemplate("provider_list", ProviderList)
SOME_PROVIDERS = PathTemplate("provider_lists.{specialty}", ProviderList)
RECORD = PathTemplate("records.{record_id}", MedicalRecord)
ALL_RECORDS = PathTemplate("record_lists.{patient_id}", RecordList)
SOME_RECORDS = PathTemplate("record_lists.{patient_id}.{limit}", RecordList)
SUPPLIERS = PathTemplate("suppliers.{medication}", Suppliers)
SOME_SUPPLIERS = PathTemplate("suppliers.{medication}.{narrowed_by}", Suppliers)
INTERACTIONS = PathTemplate("interactions.{primary_medication}.{taken_with}", Interactions)
REGIMENS = PathTemplate("regimens.{patient_id}", RegimenOptions)
DEVICE = PathTemplate("devices.{device_id}", Device)
UPLOAD = PathTemplate("uploads.{device_id}.{date}", Upload)
