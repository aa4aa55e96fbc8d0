"""What a customer hears of a refusal in any of the situations: no tool and no argument by its name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgeragent import Reply, load_domain
from ledgeragent.dispatching import inner_reply
from ledgeragent.domain import Domain
from ledgeragent.gate import Gate
from ledgeragent.offline.labelled import Case, read_cases
from ledgeragent.shape import shape_of
from ledgeragent.state import State

from . import answers, callers, disorder, lists, outcomes, threefold
from .rows import Rows
from .test_situations import PYTHON, written

ALL = (
    *(module.ROWS for module in PYTHON),
    *(
        rows
        for module in (answers, callers, disorder, lists, outcomes, threefold)
        for rows in module.ALL
    ),
)


def _names(domain: Domain) -> re.Pattern[str]:
    """The names of tools and arguments that are no words of a language."""
    names = {tool.tool for tool in domain.tools}
    for tool in domain.tools:
        names |= {*shape_of(getattr(tool, "arguments", dict)).fields}
    odd = sorted(name for name in names if "_" in name)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, odd))})\b")


def _heard(case: Case, domain: Domain) -> Iterator[str]:
    """What the customer would be told if nothing of the reply is done."""
    state = State()
    for message in case.messages:
        state = state.observe(inner_reply(message, domain), domain)
    for proposal in case.proposals:
        reply = inner_reply(Reply(calls=(proposal.call,)), domain)
        _, filtered = state.filter(reply, Gate(domain=domain), "tool_result")
        if not filtered.verdicts[0].allowed:
            yield filtered.refusal


@pytest.mark.parametrize("rows", ALL, ids=lambda rows: f"{rows.domain}-{rows.matter}")
def test_a_customer_hears_no_name_of_a_tool_or_an_argument(rows: Rows, tmp_path: Path) -> None:
    domain = load_domain(rows.domain)
    names = _names(domain)
    told = {
        text for case in read_cases(str(written(rows, tmp_path))) for text in _heard(case, domain)
    }
    assert told
    assert {text for text in told if names.search(text)} == set()
