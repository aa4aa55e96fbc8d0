"""The lending library with a rule over which a process, or a whole cluster, dies: for tests of engines."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

from ledgeragent.predicates import Broken, View, predicate
from tests.cli.branches import NEW
from tests.lending.domain import Lend

DEADLY_DAYS = 666
LAST_DAYS = 667
CLUSTER = "TEST_CLUSTER_PROCESSES"
"""The variable with the file that lists the processes of the cluster."""


@predicate("lending/deadly", guards="lend_book")
def deadly(call: Lend, ledger: View) -> Broken | None:
    """It kills, where a book is lent for that long."""
    if call["days"] == DEADLY_DAYS:
        os._exit(1)
    if call["days"] == LAST_DAYS:
        for process in Path(os.environ[CLUSTER]).read_text().split():
            os.kill(int(process), signal.SIGKILL)
        time.sleep(10)  # what a worker tells at once may still arrive, and then nothing is lost
    return None


VERSIONS = {"tau2": replace(NEW, predicates=(*NEW.predicates, deadly))}
NAME = "tests.engines.deadly:VERSIONS"
