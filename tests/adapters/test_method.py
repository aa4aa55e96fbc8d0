"""What the harnesses' adapters share, and that they know no more of each other."""

from __future__ import annotations

import pytest

from ledgeragent.adapters.method import Method, pack_for
from ledgeragent.errors import UsageError
from ledgeragent.ledger import Ledger
from ledgeragent.packs import load_domain
from ledgeragent.session.presenter import Presenter
from ledgeragent.testing import ledger_of
from tests.adapters.test_layers import SOURCE, imports, third_parties


@pytest.mark.parametrize("name", ["airline", "retail", "telecom", "telehealth"])
def test_a_pack_is_found_by_the_tools_of_its_domain(name: str) -> None:
    tools = {tool.tool for tool in load_domain(name).tools}
    found = pack_for(tools)
    assert found.name == name
    assert found.available == tools


def test_tools_of_no_pack_are_a_usage_error() -> None:
    with pytest.raises(UsageError, match="launch"):
        pack_for(["launch"])


def test_the_tail_is_empty_until_there_is_something_to_say() -> None:
    presenter = Presenter(mode="full")
    assert Method().tail(presenter, Ledger(), "") == ""
    assert Method().tail(presenter, Ledger(), "why").endswith("run):\nwhy")
    known = ledger_of({"orders.#W1": {"status": "pending"}})
    assert Method().tail(presenter, known, "").startswith("<ledger>")
    assert Method(shows=False).tail(presenter, known, "") == ""


@pytest.mark.parametrize("name", ["method", "tau2", "tau_bench"])
def test_these_adapters_know_only_what_they_share(name: str) -> None:
    file = SOURCE / "adapters" / f"{name}.py"
    assert third_parties(file) == set()
    own = {i for i in imports(file) if i.startswith("ledgeragent.adapters")}
    assert own <= {"ledgeragent.adapters.method"}
