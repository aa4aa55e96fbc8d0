"""Where each read of the clinic lands in the ledger, and which fields each write makes unknown.

A list says two things: something of each item, merged by field with what its details say, and which
items there are. The second holds only for the whole list, so a narrowed one has a path of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ledgeragent.effects import Neutral, Parser, Read, Write, touch
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.packs.telehealth import texts
from ledgeragent.packs.telehealth.records import (
    Appointment,
    AppointmentList,
    Cancel,
    Device,
    Interactions,
    MedicalRecord,
    Patient,
    Provider,
    ProviderList,
    RecordList,
    RegimenOptions,
    Reschedule,
    Schedule,
    Suppliers,
    Transfer,
    UpdateNote,
    UpdateSupplier,
    Upload,
)
from ledgeragent.paths import PathTemplate
from ledgeragent.types import Arguments, Json

AUTH = PathTemplate("auth.patient_id", str)
"""The id that the latest lookup answered with."""

LOCATED = PathTemplate("auth.located", dict[str, str])
"""Everyone a lookup has found, in that order, and how. The first is whom the conversation serves."""

PATIENT = PathTemplate("patients.{patient_id}", Patient)
APPOINTMENT = PathTemplate("appointments.{appointment_id}", Appointment)
ALL_APPOINTMENTS = PathTemplate("appointment_lists.{patient_id}", AppointmentList)
SOME_APPOINTMENTS = PathTemplate("appointment_lists.{patient_id}.{status_filter}", AppointmentList)
PROVIDER = PathTemplate("providers.{provider_id}", Provider)
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

Records = Callable[[Json, Arguments], Iterable[Json]]
Reads = tuple[Read[Any], ...]

_NARROWING = ("status_filter", "specialty", "country_filter", "limit")


def medication_key(name: str) -> str:
    """The name under which a medication's catalog is kept: the tools don't mind its case."""
    return name.strip().casefold()


def narrowing(arguments: Arguments) -> str:
    """What a list was narrowed by, "" where it is whole."""
    given = ((name, arguments.get(name)) for name in _NARROWING)
    return ", ".join(f"{name} {value}" for name, value in given if value)


def _is_whole(arguments: Arguments) -> bool:
    return not narrowing(arguments)


def _is_narrowed(arguments: Arguments) -> bool:
    return bool(narrowing(arguments))


def _listed(value: Json, name: str) -> list[dict[str, Json]]:
    found = value.get(name) if isinstance(value, dict) else None
    if not isinstance(found, list):
        raise ValueError(f"there is no list of {name}")
    return found


def _of_patient(arguments: Arguments) -> dict[str, Json]:
    """Whose a list is: the patient's that was asked about, if one was."""
    return {"patient_id": arguments["patient_id"]} if "patient_id" in arguments else {}


def _each(name: str) -> Records:
    """Each item of a list, and whose it is."""
    return lambda value, arguments: (
        {**_of_patient(arguments), **item} for item in _listed(value, name)
    )


def _ids(name: str, key: str) -> Records:
    """Which items a list names."""
    return lambda value, arguments: (
        {**_of_patient(arguments), f"{key}s": [item[key] for item in _listed(value, name)]},
    )


def _one_id(value: Json, arguments: Arguments) -> Iterable[Json]:
    if not isinstance(value, str):
        raise ValueError("a lookup answers with one patient id")
    return (value,)


def _how(value: Json, arguments: Arguments) -> Iterable[Json]:
    """The id under which `LOCATED` notes how it was found."""
    how = "email" if "email" in arguments else "name and date of birth"
    return ({patient_id: how} for patient_id in _one_id(value, arguments))


def _named(value: Json, arguments: Arguments) -> Iterable[Json]:
    """What a lookup by name and birth date tells of whom it found: both are theirs exactly."""
    first, last, born = map(arguments.get, ("first_name", "last_name", "date_of_birth"))
    for patient_id in _one_id(value, arguments):
        if first and last and born:
            who = {"patient_id": patient_id, "name": f"{first} {last}", "date_of_birth": born}
            yield {"exists": True, **who}


def _catalog(value: Json, arguments: Arguments) -> Iterable[Json]:
    yield {
        "medication": medication_key(str(arguments.get("medication", ""))),
        "narrowed_by": narrowing(arguments),
        "offers": _listed(value, "offers"),
    }


def _taken_with(value: Json, arguments: Arguments) -> Iterable[Json]:
    others = arguments.get("current_medications")
    names = sorted(map(str, others)) if isinstance(others, list) else [str(others)]
    if isinstance(value, dict):
        yield {**value, "taken_with": ", ".join(names) or "nothing"}


def _objects(value: Json, arguments: Arguments) -> Iterable[Json]:
    return (item for item in value) if isinstance(value, list) else ()


def _lookup(tool: str, *parameters: str) -> Reads:
    """The routes of a lookup: whom it found, and everyone found so far."""
    return (
        Read(
            tool=tool,
            to=AUTH,
            parameters=parameters,
            parse=texts.located,
            records=_one_id,
            failed=texts.nobody,
        ),
        Read(
            tool=tool,
            to=LOCATED,
            parameters=parameters,
            parse=texts.located,
            records=_how,
            merge=True,
            failed=texts.nobody,
        ),
    )


def _listing(tool: str, parse: Parser, name: str, key: str, **to: PathTemplate[Any]) -> Reads:
    """The routes of a list: `each` of its items, which ones the `whole` of it or a `part` names."""
    each, whole, part = to["each"], to["whole"], to["part"]
    asks = tuple(k for k in whole.keys if k != key)
    which = _ids(name, key)
    return (
        Read(
            tool=tool,
            to=each,
            parameters=asks,
            parse=parse,
            records=_each(name),
            merge=True,
            failed=texts.not_found,
        ),
        Read(tool=tool, to=whole, parameters=asks, parse=parse, records=which, when=_is_whole),
        Read(
            tool=tool, to=part, parameters=part.keys, parse=parse, records=which, when=_is_narrowed
        ),
    )


READS: Reads = (
    *_lookup("find_patient_by_email", "email"),
    *_lookup("find_patient_by_name_dob", "first_name", "last_name", "date_of_birth"),
    Read(
        tool="find_patient_by_name_dob",
        to=PATIENT,
        parameters=("first_name", "last_name", "date_of_birth"),
        parse=texts.located,
        records=_named,
        merge=True,
    ),
    Read(
        tool="get_patient_details",
        to=PATIENT,
        parameters=("patient_id",),
        parse=texts.patient,
        merge=True,
        unavailable=texts.incomplete,
    ),
    Read(
        tool="get_appointment_details",
        to=APPOINTMENT,
        parameters=("appointment_id",),
        parse=texts.appointment,
        merge=True,
        unavailable=texts.incomplete,
    ),
    *_listing(
        "list_patient_appointments",
        texts.appointment_list,
        "appointments",
        "appointment_id",
        each=APPOINTMENT,
        whole=ALL_APPOINTMENTS,
        part=SOME_APPOINTMENTS,
    ),
    Read(
        tool="get_provider_details",
        to=PROVIDER,
        parameters=("provider_id",),
        parse=texts.provider,
        merge=True,
        unavailable=texts.incomplete,
    ),
    *_listing(
        "list_available_providers",
        texts.provider_list,
        "providers",
        "provider_id",
        each=PROVIDER,
        whole=ALL_PROVIDERS,
        part=SOME_PROVIDERS,
    ),
    Read(
        tool="get_medical_record",
        to=RECORD,
        parameters=("record_id",),
        parse=texts.medical_record,
        merge=True,
        failed=texts.nothing_asked,
        unavailable=texts.incomplete,
    ),
    *_listing(
        "list_patient_medical_records",
        texts.record_list,
        "records",
        "record_id",
        each=RECORD,
        whole=ALL_RECORDS,
        part=SOME_RECORDS,
    ),
    Read(
        tool="list_medication_suppliers",
        to=SUPPLIERS,
        parameters=("medication",),
        parse=texts.suppliers,
        records=_catalog,
        when=_is_whole,
    ),
    Read(
        tool="list_medication_suppliers",
        to=SUPPLIERS,
        parameters=("medication",),
        parse=texts.absent_from_catalog,
        records=_catalog,
        when=_is_narrowed,
    ),
    Read(
        tool="list_medication_suppliers",
        to=SOME_SUPPLIERS,
        parameters=("medication",),
        parse=texts.suppliers,
        records=_catalog,
        when=_is_narrowed,
    ),
    Read(
        tool="check_drug_interactions",
        to=INTERACTIONS,
        parameters=("primary_medication", "current_medications"),
        parse=texts.interactions,
        records=_taken_with,
    ),
    Read(
        tool="get_regimen_options",
        to=REGIMENS,
        parameters=("patient_id",),
        parse=texts.regimen_options,
    ),
    Read(
        tool="list_telemetry_devices",
        to=DEVICE,
        parse=texts.device_list,
        records=_objects,
    ),
    Read(
        tool="list_telemetry_uploads",
        to=UPLOAD,
        parameters=("device_id",),
        parse=texts.upload_list,
        records=_objects,
    ),
    Read(
        tool="get_telemetry_upload",
        to=UPLOAD,
        parameters=("device_id", "date"),
        parse=texts.upload,
    ),
)


def booked(arguments: Arguments, ledger: Ledger) -> Iterable[Touch]:
    """A booking adds to the patient's lists, and makes an appointment of an id that had none."""
    patient_id = arguments.get("patient_id")
    lists = (*ledger.glob(ALL_APPOINTMENTS), *ledger.glob(SOME_APPOINTMENTS))
    yield from (Touch(entry.path) for entry in lists if entry.path[1] == patient_id)
    for entry in ledger.glob(APPOINTMENT):
        if entry.typed and entry.value.get("exists") is False:
            yield Touch(entry.path)


def lists_by_status(arguments: Arguments, ledger: Ledger) -> Iterable[Touch]:
    """Which appointments have some status is no longer known."""
    return (Touch(entry.path) for entry in ledger.glob(SOME_APPOINTMENTS))


WRITES = (
    Write(
        tool="schedule_appointment",
        arguments=Schedule,
        touches=(booked,),
        failed=texts.write_failed,
    ),
    Write(
        tool="cancel_appointment",
        arguments=Cancel,
        touches=(touch(APPOINTMENT, "status"), lists_by_status),
        failed=texts.write_failed,
    ),
    Write(
        tool="reschedule_appointment",
        arguments=Reschedule,
        touches=(touch(APPOINTMENT, "date", "time"),),
        failed=texts.write_failed,
    ),
    # What these two change, no read shows: who supplies a prescription, and the notes of a record.
    Write(tool="update_prescription_supplier", arguments=UpdateSupplier),
    Write(tool="update_medical_record_note", arguments=UpdateNote),
)

NEUTRALS = (
    Neutral(tool="calculate"),
    Neutral(tool="think"),
    Neutral(tool="transfer_to_human_support", arguments=Transfer),
)
