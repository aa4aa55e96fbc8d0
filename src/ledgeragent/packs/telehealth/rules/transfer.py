"""Handing the conversation over to a person."""

from __future__ import annotations

from typing import Any

from ledgeragent.packs.telehealth.paths import (
    ALL_APPOINTMENTS,
    ALL_PROVIDERS,
    ALL_RECORDS,
    APPOINTMENT,
    PROVIDER,
    RECORD,
    SOME_APPOINTMENTS,
    SOME_PROVIDERS,
    SOME_RECORDS,
)
from ledgeragent.packs.telehealth.records import Transfer
from ledgeragent.packs.telehealth.rules.known import TRANSFER, served
from ledgeragent.paths import PathTemplate
from ledgeragent.predicates import Broken, View, predicate, violation

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
)


@predicate(
    "telehealth/transfer-untried",
    guards=TRANSFER,
    clause="telehealth/transfer-only-out-of-scope",
)
def transfer_untried(call: Transfer, ledger: View) -> Broken | None:
    """A patient who is known isn't handed over before anything of their request was looked up.

    Rejects: a transfer right after the lookup. Allows: one for somebody who couldn't be located.
    """
    if served(ledger) is None or any(any(ledger.glob(family)) for family in _TRIED):
        return None
    return violation(
        "the patient is known, but no appointment, medical record or provider has been read; look up "
        "what the request is about, and transfer only if it then can't be handled here"
    )
