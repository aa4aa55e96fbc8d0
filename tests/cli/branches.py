"""The lending library in two versions, as a domain of one's own on the command line.

The older one lends for a shorter time, and its librarians cannot look up members. Both have a rule
that fails.
"""

from __future__ import annotations

from dataclasses import replace

from ledgeragent.domain import Clause
from ledgeragent.predicates import Broken, View, predicate
from tests.lending.domain import LIBRARY, TOOLS, Shelve


@predicate("lending/shelves", guards="shelve_book")
def shelves(call: Shelve, ledger: View) -> Broken | None:
    """It fails, whatever the book."""
    raise RuntimeError("there are no shelves")


CLAUSES = (
    Clause(id="lending/days", section="Loans", summary="How long", checkable="state"),
    Clause(id="lending/polite", section="Tone", summary="Be kind", checkable="dialogue"),
)
NEW = replace(LIBRARY, version="tau2", predicates=(*LIBRARY.predicates, shelves), clauses=CLAUSES)
OLD = replace(
    NEW,
    version="tau",
    parameters={"longest_loan": 7},
    available=frozenset(tool.tool for tool in TOOLS) - {"get_member"},
)
VERSIONS = {"tau2": NEW, "tau": OLD}
NAME = "tests.cli.branches:VERSIONS"
