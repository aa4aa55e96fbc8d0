"""The clinic's rules: one predicate per policy clause that records or arguments can decide."""

from __future__ import annotations

from ledgeragent.packs.telehealth.rules.conflicts import slot_conflict
from ledgeragent.packs.telehealth.rules.patient import (
    authenticated,
    kinship_unknown,
    one_patient,
)
from ledgeragent.packs.telehealth.rules.prescriptions import (
    medication_in_record,
    supplier_in_catalog,
)
from ledgeragent.packs.telehealth.rules.slots import (
    appointment_type,
    date_time_format,
    provider_availability,
    provider_exists,
)
from ledgeragent.packs.telehealth.rules.status import cancel_status, reschedule_status
from ledgeragent.packs.telehealth.rules.transfer import transfer_untried

RULES = (
    authenticated,
    one_patient,
    kinship_unknown,
    date_time_format,
    provider_exists,
    provider_availability,
    slot_conflict,
    appointment_type,
    reschedule_status,
    cancel_status,
    medication_in_record,
    supplier_in_catalog,
    transfer_untried,
)
"""Every rule, in the order in which findings are told."""
