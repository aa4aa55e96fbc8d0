"""The lending library with a rule over which the process dies, for tests of what engines survive."""

from __future__ import annotations

import os
from dataclasses import replace

from ledgeragent.predicates import Broken, View, predicate
from tests.cli.branches import NEW
from tests.lending.domain import Lend

DEADLY_DAYS = 666


@predicate("lending/deadly", guards="lend_book")
def deadly(call: Lend, ledger: View) -> Broken | None:
    """It kills, where a book is lent for that long."""
    if call["days"] == DEADLY_DAYS:
        os._exit(1)
    return None


VERSIONS = {"tau2": replace(NEW, predicates=(*NEW.predicates, deadly))}
NAME = "tests.engines.deadly:VERSIONS"
