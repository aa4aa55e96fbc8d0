"""A pack of our own for the harness's domain mock, by which no task may be called Nothing."""

from __future__ import annotations

from typing import Any

from ledgeragent import Domain, PathTemplate, Read, Write, predicate, violation
from ledgeragent.effects import Neutral
from ledgeragent.predicates import Broken, View


@predicate("mock/title", guards="create_task")
def title(call: Any, ledger: View) -> Broken | None:
    """A task has a title that says something."""
    return violation("the title Nothing says nothing") if call["title"] == "Nothing" else None


MOCK = Domain(
    name="mock",
    version="1",
    tools=(
        Read(tool="get_users", to=PathTemplate("users", list)),
        Write(tool="create_task", arguments=dict, open=True),
        Write(tool="update_task_status", arguments=dict, open=True),
        Neutral(tool="transfer_to_human_agents"),
    ),
    predicates=(title,),
)
