"""Handing the conversation over to a person.

The policy demands it for technical problems, and for whatever no tool can do (insurance, say). Which
request it is, only the talk tells, so the rule records what looks hasty and stops nobody.
"""

from __future__ import annotations

from typing import Any

from ledgeragent.packs.telehealth.paths import (
    ALL_APPOINTMENTS,
    ALL_PROVIDERS,
    ALL_RECORDS,
    APPOINTMENT,
    DEVICE,
    INTERACTIONS,
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
from ledgeragent.packs.telehealth.records import Transfer
from ledgeragent.packs.telehealth.rules.known import TRANSFER, served
from ledgeragent.paths import PathTemplate
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.verdict import Enforcement

_TRIED: tuple[PathTemplate[Any], ...] = (
    APPOINTMENT,
    ALL_APPOINTMENTS,
    SOME_APPOINTMENTS,
    RECORD,
    ALL_RECORDS,
    SOME_RECORDS,
    PROVIDER,
    ALL_PROVIDERS,
    SOME_PROVIDERS,
    SUPPLIERS,
    SOME_SUPPLIERS,
    INTERACTIONS,
    REGIMENS,
    DEVICE,
    UPLOAD,
)


@predicate(
    "telehealth/transfer-untried",
    guards=TRANSFER,
    clause="telehealth/transfer-only-out-of-scope",
    enforcement=Enforcement.AUDIT,
)
def transfer_untried(call: Transfer, ledger: View) -> Broken | None:
    """A patient who is known isn't handed over before anything of their request was looked up.

    Speaks against: a transfer right after the lookup. Allows: one for somebody who couldn't be located.
    """
    if served(ledger) is None or any(any(ledger.glob(family)) for family in _TRIED):
        return None
    return violation(
        "the patient is known, but nothing of their request has been looked up; transfer only what "
        "can't be handled here"
    )
