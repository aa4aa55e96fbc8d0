"""Packs by the domain that each is of."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.oracle.bank import BANK
from benchmarks.oracle.booklending import LIBRARY
from benchmarks.oracle.dmv import DMV
from benchmarks.oracle.healthcare import HEALTHCARE
from benchmarks.oracle.pack import Pack
from benchmarks.oracle.university import UNIVERSITY

PACKS: Mapping[str, Pack] = {
    pack.domain.name: pack for pack in (BANK, DMV, HEALTHCARE, LIBRARY, UNIVERSITY)
}
