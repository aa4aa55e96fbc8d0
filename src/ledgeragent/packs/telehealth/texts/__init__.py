"""The clinic's tools answer in formatted text: one function per tool turns it into a record.

What a function can't read it gives back as `Untyped`, never as half a record. A pattern is anchored
at the start of the text and its values end where their line ends, so a free text further down (the
notes of an appointment, say) can't pose as the status. No pattern can be made to take more than a
few passes over the text, however that is written.
"""

from ledgeragent.packs.telehealth.texts.appointments import (
    appointment,
    appointment_list,
    rescheduled,
    scheduled,
    write_failed,
)
from ledgeragent.packs.telehealth.texts.common import incomplete, not_found
from ledgeragent.packs.telehealth.texts.devices import device_list, upload, upload_list
from ledgeragent.packs.telehealth.texts.medications import (
    absent_from_catalog,
    interactions,
    suppliers,
)
from ledgeragent.packs.telehealth.texts.patients import located, nobody, patient
from ledgeragent.packs.telehealth.texts.providers import provider, provider_list
from ledgeragent.packs.telehealth.texts.records import medical_record, nothing_asked, record_list
from ledgeragent.packs.telehealth.texts.regimens import regimen_options

__all__ = [
    "absent_from_catalog",
    "appointment",
    "appointment_list",
    "device_list",
    "incomplete",
    "interactions",
    "located",
    "medical_record",
    "nobody",
    "not_found",
    "nothing_asked",
    "patient",
    "provider",
    "provider_list",
    "record_list",
    "regimen_options",
    "rescheduled",
    "scheduled",
    "suppliers",
    "upload",
    "upload_list",
    "write_failed",
]
