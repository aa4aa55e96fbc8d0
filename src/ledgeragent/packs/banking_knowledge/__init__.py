"""The domain banking_knowledge of tau2-bench: a bank whose policy and most of whose tools are searched for.

Its specialized tools are called through `call_discoverable_agent_tool`; rules speak of them by name.
"""

from __future__ import annotations

from ledgeragent.dispatching import Dispatch, dispatching
from ledgeragent.domain import Domain
from ledgeragent.packs.banking_knowledge.reads import READS
from ledgeragent.packs.banking_knowledge.rules import RULES
from ledgeragent.packs.banking_knowledge.writes import NEUTRALS, WRITES, by_the_customer
from ledgeragent.packs.clauses import read_clauses

DOOR = Dispatch(
    tool="call_discoverable_agent_tool",
    name="agent_tool_name",
    arguments="arguments",
    tools=("*_[0-9][0-9][0-9][0-9]",),
    unlock="unlock_discoverable_agent_tool",
)
"""The tool that the specialized ones are called through; their names end in four digits."""

TAU2 = dispatching(
    Domain(
        name="banking_knowledge",
        version="tau2",
        tools=(*READS, *WRITES, *NEUTRALS),
        predicates=RULES,
        clauses=read_clauses(__name__),
        shared=by_the_customer,
    ),
    DOOR,
)
"""The bank of tau2-bench, whose tools answer in formatted text."""

VERSIONS: dict[str, Domain] = {"tau2": TAU2}
