"""The clinic's writes: what they make unknown, and what their answers show; the tools that do neither."""

from __future__ import annotations

from collections.abc import Iterable

from ledgeragent.effects import Neutral, ReturnRoute, Write, touch
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.packs.telehealth import texts
from ledgeragent.packs.telehealth.medications import meant, medication_key
from ledgeragent.packs.telehealth.paths import (
    ALL_APPOINTMENTS,
    APPOINTMENT,
    BOOKING,
    RECORD,
    SOME_APPOINTMENTS,
)
from ledgeragent.packs.telehealth.records import (
    Cancel,
    Reschedule,
    Schedule,
    Transfer,
    UpdateNote,
    UpdateSupplier,
)
from ledgeragent.types import Arguments, Json


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


def supplied(arguments: Arguments, ledger: Ledger) -> Iterable[Touch]:
    """Who supplies a prescription: no read shows it, but two writes of one can't be done at once."""
    path = RECORD(str(arguments.get("record_id", "")))
    record = ledger.get(path)
    medication = str(arguments.get("medication", ""))
    prescribed = record.value.get("medications", ()) if record is not None and record.typed else ()
    name = next(iter(meant(medication, prescribed)), medication)
    return (Touch(path, ("prescriptions", medication_key(name), "supplier")),)


def _with_booking(value: Json, arguments: Arguments) -> Iterable[Json]:
    """The appointment of a confirmation, and for whom and with whom the call has booked."""
    return ({**value, **{name: arguments[name] for name in ("patient_id", "provider_id")}},)


def _booking(value: Json, arguments: Arguments) -> Iterable[Json]:
    return ({"appointment_id": value["appointment_id"]},)


def _updated_record(value: Json, arguments: Arguments) -> Iterable[Json]:
    """The record that a write hands back, as far as it says whose it is and what it prescribes."""
    if not isinstance(value, dict):
        raise ValueError("the changed record is not handed back")
    medications = [prescription["medication"] for prescription in value.get("prescriptions") or ()]
    identity = {name: value[name] for name in ("record_id", "patient_id", "date")}
    related = value.get("appointment_id")
    return ({"exists": True, **identity, "appointment_id": related, "medications": medications},)


_UPDATED_RECORD = ReturnRoute(to=RECORD, records=_updated_record, merge=True)

WRITES = (
    Write(
        tool="schedule_appointment",
        arguments=Schedule,
        touches=(booked,),
        returns=(
            ReturnRoute(to=APPOINTMENT, parse=texts.scheduled, records=_with_booking, merge=True),
            ReturnRoute(to=BOOKING, parse=texts.scheduled, records=_booking),
        ),
        failed=texts.write_failed,
    ),
    # Its confirmation isn't read back: what became of the status, a look at the appointment says.
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
        returns=(ReturnRoute(to=APPOINTMENT, parse=texts.rescheduled, merge=True),),
        failed=texts.write_failed,
    ),
    Write(
        tool="update_prescription_supplier",
        arguments=UpdateSupplier,
        touches=(supplied,),
        returns=(_UPDATED_RECORD,),
    ),
    # No read shows the notes of a record, and the order in which two are added doesn't matter.
    Write(tool="update_medical_record_note", arguments=UpdateNote, returns=(_UPDATED_RECORD,)),
)

NEUTRALS = (
    Neutral(tool="calculate"),
    Neutral(tool="think"),
    Neutral(tool="transfer_to_human_support", arguments=Transfer),
)
