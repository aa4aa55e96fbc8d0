"""A rule told case by case, definitions that rules share, and files that a pack includes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgeragent.compiler.digest import digest_of
from ledgeragent.compiler.loader import load_pack, read_outline
from ledgeragent.errors import DataError
from ledgeragent.packs.checking import check
from ledgeragent.testing import judge
from tests.compiler.small_bank import HEAD, bank

pytest.importorskip("cel_expr_python")

CASES = """\
  - id: bank/cases
    guards: transfer
    case:
      - if: args.amount <= 0.0
        message: "{args.amount:.0f} is nothing to send"
      - if: args.amount > params.limit
        check: args.account_id == "VIP"
        message: over the limit of {params.limit:.0f}
      - check: args.account_id != "X"
        message: X is closed
"""


@pytest.mark.parametrize(
    ("account", "amount", "objection"),
    [
        ("A", 50.0, ""),
        ("A", 0.0, "0 is nothing to send"),
        ("X", -1.0, "-1 is nothing to send"),
        ("A", 101.0, "over the limit of 100"),
        ("VIP", 101.0, ""),
        ("X", 50.0, "X is closed"),
    ],
)
def test_the_first_case_that_applies_decides(
    tmp_path: Path, account: str, amount: float, objection: str
) -> None:
    verdict = judge(bank(tmp_path, CASES), {}, "transfer", account_id=account, amount=amount)
    assert not verdict.errors
    assert (verdict.objection or "") == objection


def test_where_none_applies_the_rule_is_satisfied(tmp_path: Path) -> None:
    domain = bank(tmp_path, CASES[: CASES.index("      - check: args.account_id")])
    assert judge(domain, {}, "transfer", account_id="X", amount=50.0).allowed


@pytest.mark.parametrize(
    ("change", "line", "problem"),
    [
        (("args.amount <= 0.0", "args.amuont <= 0.0"), 18, "has no field 'amuont'"),
        (('args.account_id == "VIP"', "args.amount"), 21, "should give true or false"),
        (("if: args.amount > params.limit\n        check", "check"), 20, "a case without `if`"),
        (("        message: X is closed\n", ""), 23, "a case needs the key 'message'"),
        (("    case:\n", "    check: 'true'\n    case:\n"), 17, "a case or a check, not both"),
        (("chek", "chek"), 0, ""),
    ],
)
def test_what_is_wrong_is_told_at_its_line(
    tmp_path: Path, change: tuple[str, str], line: int, problem: str
) -> None:
    file = tmp_path / "bank.yaml"
    file.write_text(f"{HEAD}rules:\n{CASES.replace(*change)}")
    findings = [f for f in read_outline(file).findings if f.code != "unused"]
    if not line:
        assert findings == []
        return
    assert any(problem in f.message and f.place.line == line for f in findings), findings


DEFINED = """\
define:
  total: base + 1.0
  base: args.amount * 2.0
rules:
  - id: bank/defined
    guards: transfer
    check: total < params.limit
    message: "{total:.0f} of {base:.0f}"
"""


def test_definitions_are_names_in_every_rule_in_whatever_order(tmp_path: Path) -> None:
    file = tmp_path / "bank.yaml"
    file.write_text(HEAD + DEFINED)
    verdict = judge(load_pack(file), {}, "transfer", account_id="A", amount=60.0)
    assert verdict.objection == "121 of 120"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("base: args.amount * 2.0", "base: args.amuont * 2.0"), "has no field 'amuont'"),
        (("base: args.amount * 2.0", "base: total"), "'total' is not defined here"),
        (("  base:", "  spare: args.amount\n  base:"), "no rule uses the definition spare"),
        (("    check:", "    let: {base: args.amount}\n    check:"), "is defined for all rules"),
        (("  base:", "  args: 1\n  base:"), "'args' cannot be the name of a definition"),
    ],
)
def test_what_is_wrong_with_them(tmp_path: Path, change: tuple[str, str], problem: str) -> None:
    file = tmp_path / "bank.yaml"
    file.write_text(HEAD + DEFINED.replace(*change))
    messages = [f.message for f in read_outline(file).findings]
    assert any(problem in message for message in messages), messages


def test_a_file_can_be_included(tmp_path: Path) -> None:
    sections, rules = DEFINED.split("rules:")
    (tmp_path / "shared.yaml").write_text(sections)
    file = tmp_path / "bank.yaml"
    file.write_text(f"{HEAD}include: shared.yaml\nrules:{rules}")
    assert not judge(load_pack(file), {}, "transfer", account_id="A", amount=60.0).allowed
    before = load_pack(file).digest
    (tmp_path / "shared.yaml").write_text(sections.replace("2.0", "0.1"))
    assert judge(load_pack(file), {}, "transfer", account_id="A", amount=60.0).allowed
    assert load_pack(file).digest != before
    assert digest_of(file) != before


@pytest.mark.parametrize("name", ["nothing.yaml", "[1]"])
def test_an_include_of_nothing(tmp_path: Path, name: str) -> None:
    file = tmp_path / "bank.yaml"
    file.write_text(f"{HEAD}include: {name}\nrules: []\n")
    with pytest.raises(DataError, match="include"):
        load_pack(file)


def test_the_bank_is_a_pack_without_a_line_of_python() -> None:
    from pathlib import Path as FilePath

    from ledgeragent.offline.binding import Binding
    from ledgeragent.offline.sampling import judge_samples

    folder = FilePath(__file__).parents[2] / "examples" / "bank"
    assert check(str(folder)) == []
    result = judge_samples(Binding(name=str(folder)))
    assert result.failures == ()
    assert len(result.outcomes) >= 25
    assert not any("python" in file.read_text() for file in folder.glob("*.yaml"))
