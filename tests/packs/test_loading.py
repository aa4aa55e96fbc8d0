"""Loading of packs to judge by: what `check` calls an error is refused, unless one insists."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgeragent.cli.main import verb_parser
from ledgeragent.cli.verbs import VERBS
from ledgeragent.domain import Domain
from ledgeragent.errors import DataError
from ledgeragent.packs import PACKS, load_domain, versions
from ledgeragent.packs.checking import check

WITHOUT_SAMPLES = "tests.cli.branches:NEW"
RULE = """\
  - id: lending/fee
    guards: pay
    requires: {loan: "loans.{loan_id}"}
    check: args.amount <= loan.fee
    message: too much
"""


def written(folder: Path, rules: str) -> str:
    pytest.importorskip("cel_expr_python")
    from tests.compiler.yaml_pack import HEAD

    file = folder / "pack.yaml"
    file.write_text(f"{HEAD}rules:\n{rules}")
    return str(file)


def test_a_pack_in_which_check_finds_an_error_is_refused_with_its_place(tmp_path: Path) -> None:
    pack = written(tmp_path, RULE)
    first = next(f for f in check(pack) if f.severity.value == "error")
    with pytest.raises(DataError, match=r"ledgeragent check.*--allow-faulty") as error:
        load_domain(pack)
    assert (error.value.file, error.value.line) == (pack, first.place.line)
    assert first.message in error.value.problem
    assert isinstance(load_domain(pack, allow_faulty=True), Domain)


def test_a_python_pack_is_checked_in_all_its_versions() -> None:
    for name in (WITHOUT_SAMPLES, "tests.cli.branches:VERSIONS"):
        with pytest.raises(DataError, match=r"and [0-9]+ more"):
            versions(name)
        assert versions(name, allow_faulty=True)


def test_warnings_keep_no_pack_from_being_loaded() -> None:
    name = "tests.lending.domain:LIBRARY"
    assert {f.severity.value for f in check(name)} == {"warning"}
    assert load_domain(name).name == "lending"


def test_no_insisting_loads_what_makes_no_whole_domain(tmp_path: Path) -> None:
    pack = written(tmp_path, RULE.replace("loan.fee", "loan.fees"))
    with pytest.raises(DataError, match="fees"):
        load_domain(pack, allow_faulty=True)


def test_shipped_packs_have_no_error() -> None:
    for name in PACKS:
        for version in versions(name):
            assert all(f.severity.value == "warning" for f in check(name, version=version))


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_that_judges_by_a_pack_lets_one_insist(verb: str) -> None:
    options = {name for action in verb_parser(verb)._actions for name in action.option_strings}
    judges = "--domain" in options and verb not in ("mine", "chat", "coverage", "check", "bench")
    assert ("--allow-faulty" in options) == (judges or verb == "mine")
