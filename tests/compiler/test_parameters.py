"""Other values for the parameters of a domain: by name and type, from text and from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgeragent.compiler.givens import ParameterText, read_givens
from ledgeragent.compiler.parameters import with_parameters, with_texts
from ledgeragent.domain import Domain
from ledgeragent.errors import DataError, UsageError
from ledgeragent.packs import load_domain
from ledgeragent.testing import judge
from tests.compiler.small_bank import HEAD, bank, rule

pytest.importorskip("cel_expr_python")


@pytest.fixture
def domain(tmp_path: Path) -> Domain:
    return bank(tmp_path, rule("args.amount <= params.limit && today > '2000'"))


def test_the_rules_read_the_new_value(domain: Domain) -> None:
    low = with_parameters(domain, {"limit": 50, "now": "2025-03-01T12:00:00Z"})
    assert low.parameters["limit"] == 50.0 and isinstance(low.parameters["limit"], float)
    assert not judge(low, {}, "transfer", account_id="A", amount=60.0).allowed
    assert judge(low, {}, "transfer", account_id="A", amount=40.0).allowed


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("limt", 1.0, "bank has no parameter limt; did you mean limit?; it has days, limit, now"),
        ("limit", "much", "the parameter limit of bank should be float, is str (much)"),
        ("days", 1.5, "should be int"),
        ("days", True, "should be int"),
        ("now", "noon", "should be a time such as"),
    ],
)
def test_a_wrong_name_or_type_is_told(
    domain: Domain, name: str, value: object, problem: str
) -> None:
    with pytest.raises(UsageError) as raised:
        with_parameters(domain, {name: value})
    assert problem in str(raised.value)


def test_now_is_no_parameter_where_no_rule_asks_for_it(tmp_path: Path) -> None:
    timeless = bank(tmp_path, rule("args.amount <= params.limit"))
    with pytest.raises(UsageError, match="it has days, limit"):
        with_parameters(timeless, {"now": "2025-03-01"})


def test_a_time_without_a_zone_is_one_of_the_pack(domain: Domain) -> None:
    noon = with_parameters(domain, {"now": "2025-07-01T12:00"})
    assert noon.parameters["now"] == "2025-07-01T12:00:00+02:00"


def test_text_is_read_as_the_type_it_stands_for(domain: Domain) -> None:
    texts = [ParameterText("limit", "7"), ParameterText("limit", "8.5"), ParameterText("days", "3")]
    values = with_texts(domain, texts).parameters
    assert (values["limit"], values["days"]) == (8.5, 3)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.toml", "limit = 9.5\ndays = 2\n"),
        ("t.json", '{"limit": 9.5, "days": 2}'),
        ("t.yaml", "limit: 9.5\ndays: 2\n"),
    ],
)
def test_a_file_of_a_tenant(tmp_path: Path, domain: Domain, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    values = with_texts(domain, read_givens(file)).parameters
    assert (values["limit"], values["days"]) == (9.5, 2)


@pytest.mark.parametrize(
    ("name", "text"), [("t.toml", "limit 9"), ("t.json", "[1]"), ("t.yaml", "- 1")]
)
def test_a_file_that_is_none(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(DataError, match=name):
        [*read_givens(file)]


def test_text_in_a_file_is_no_number(tmp_path: Path, domain: Domain) -> None:
    file = tmp_path / "t.toml"
    file.write_text('days = "2"\n')
    with pytest.raises(UsageError, match="should be int"):
        with_texts(domain, read_givens(file))


def test_routes_go_by_them_too(tmp_path: Path) -> None:
    head = HEAD.replace("record: Account}", "record: Account, when: 'params.days > 10'}")
    file = tmp_path / "bank.yaml"
    file.write_text(f"{head}rules: []\n")
    for days, holds in ((14, True), (3, False)):
        (route,) = load_domain(str(file), parameters={"days": days}).routes("get_account")
        assert route.when({"account_id": "A"}) is holds
