"""Where each read of the clinic lands in the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ledgeragent.effects import Parser, Read
from ledgeragent.packs.telehealth import texts
from ledgeragent.packs.telehealth.medications import medication_key
from ledgeragent.packs.telehealth.paths import (
    ALL_APPOINTMENTS,
    ALL_PROVIDERS,
    ALL_RECORDS,
    APPOINTMENT,
    AUTH,
    DEVICE,
    INTERACTIONS,
    LOCATED,
    PATIENT,
    PROVIDER,
    RECORD,
    REGIMENS,
    SOME_APPOINTMENTS,
    SOME_PROVIDERS,
    SOME_RECORDS,
    SOME_SUPPLIERS,
    SUPPLIERS,
    UPLOAD,
)
from ledgeragent.paths import PathTemplate
from ledgeragent.types import Arguments, Json

Records = Callable[[Json, Arguments], Iterable[Json]]
Reads = tuple[Read[Any], ...]

_NARROWING = ("status_filter", "specialty", "country_filter", "limit")


def narrowing(arguments: Arguments) -> str:
    """The filters that narrowed a list, "" where it is whole."""
    pairs = ((name, arguments.get(name)) for name in _NARROWING)
    return ", ".join(f"{name} {value}" for name, value in pairs if value)


def _is_whole(arguments: Arguments) -> bool:
    return not narrowing(arguments)


def _is_narrowed(arguments: Arguments) -> bool:
    return bool(narrowing(arguments))


def _listed(value: Json, name: str) -> list[dict[str, Json]]:
    rows = value.get(name) if isinstance(value, dict) else None
    if not isinstance(rows, list):
        raise ValueError(f"there is no list of {name}")
    return rows


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


def _how(value: Json, arguments: Arguments) -> Iterable[Json]:
    """The id under which `LOCATED` notes how it was found."""
    how = "email" if "email" in arguments else "name and date of birth"
    return ({value: how},) if isinstance(value, str) else ()


def _named(value: Json, arguments: Arguments) -> Iterable[Json]:
    """The record that a lookup by name and birth date shows: both are the patient's exactly."""
    first, last, born = map(arguments.get, ("first_name", "last_name", "date_of_birth"))
    if isinstance(value, str) and first and last and born:
        who = {"patient_id": value, "name": f"{first} {last}", "date_of_birth": born}
        yield {"exists": True, **who}


def _located_if_any(text: str) -> Json:
    """The id that a lookup answers with, None for another answer: whom one found before stays."""
    try:
        return texts.located(text)
    except ValueError:
        return None


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
            failed=texts.nobody,
        ),
        Read(
            tool=tool,
            to=LOCATED,
            parameters=parameters,
            parse=_located_if_any,
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
        Read(tool=tool, to=part, parameters=asks, parse=parse, records=which, when=_is_narrowed),
    )


READS: Reads = (
    *_lookup("find_patient_by_email", "email"),
    *_lookup("find_patient_by_name_dob", "first_name", "last_name", "date_of_birth"),
    Read(
        tool="find_patient_by_name_dob",
        to=PATIENT,
        parameters=("first_name", "last_name", "date_of_birth"),
        parse=_located_if_any,
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
