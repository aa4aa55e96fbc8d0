"""What is no pack, which version, and how a finding is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ledgeragent.check import findings_of
from ledgeragent.check.python_outline import outline_of
from ledgeragent.compiler.loader import read_outline
from ledgeragent.compiler.problems import CODES, Severity, suggestion
from ledgeragent.errors import DataError, UsageError
from ledgeragent.packs.catalogue import module_of, versions
from ledgeragent.packs.checking import check
from tests.compiler.yaml_pack import HEAD, text_of
from tests.compiler.yaml_pack import outline_of as yaml_outline

pytest.importorskip("cel_expr_python")
from tests.check.reading import PLANTED, ROOT, codes, seen


def test_samples_must_fit_the_pack(tmp_path: Path) -> None:
    call = "call: {name: NAME, arguments: {loan_id: L1, amount: 1}}"
    samples = "    samples:\n      allowed:\n" + "".join(
        f"        - {{ledger: {{{ledger}}}, {call.replace('NAME', name)}}}\n"
        for ledger, name in [
            ("loans.L1: {fee: 2.0}", "pay"),
            ("lons.L1: {fee: 2.0}", "pay"),
            ("loans.L1: {feee: 2.0}", "pay"),
            ("loans.L1: {fee: '2'}", "pay"),
            ("'a..b': {}", "pay"),
            ("", "renew"),
        ]
    )
    outline = yaml_outline(tmp_path, text_of("loan.fee > 1.0", more=samples))
    found = [
        f for f in findings_of(outline) if f.code not in ("missing-samples", "write-without-rule")
    ]
    assert seen(found) == [
        (36, "unknown-path"),
        (37, "unknown-field"),
        (38, "type-error"),
        (39, "unknown-path"),
        (40, "unknown-tool"),
    ]


def test_a_broken_route_is_found_once(tmp_path: Path) -> None:
    text = text_of("loan.fee > 1.0").replace('to: "loans.{loan_id}"', 'to: "loans{loan_id}"')
    findings = [f for f in findings_of(yaml_outline(tmp_path, text)) if f.code != "missing-samples"]
    assert codes(findings) == ["unknown-path", "write-without-rule"]


def test_an_unguarded_write_can_say_why(tmp_path: Path) -> None:
    text = text_of("loan.fee > 1.0").replace("renew: {", "renew: {unguarded: Harmless., ")
    assert "write-without-rule" not in codes(findings_of(yaml_outline(tmp_path, text)))


@pytest.mark.parametrize(
    "name", ["nothing", "tests.planted.garage:NOTHING", "no.module:X", "tests.planted.garage:DONE"]
)
def test_what_is_no_pack(name: str) -> None:
    with pytest.raises(UsageError):
        check(name)


def test_versions() -> None:
    with pytest.raises(UsageError, match="no version 'x'"):
        check("retail", version="x")
    listed = versions("airline")
    outlines = [
        outline_of(module_of("airline"), one, tuple(listed.values())) for one in listed.values()
    ]
    assert outlines[0].domain != outlines[1].domain


def test_a_missing_file_is_no_finding(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        check(str(tmp_path / "pack.yaml"))
    with pytest.raises(DataError, match="cannot be read"):
        check("shop", tools=tmp_path / "tools.json")


def test_broken_yaml_is_a_finding(tmp_path: Path) -> None:
    file = tmp_path / "pack.yaml"
    file.write_text("a: b\n c: d\n")
    assert seen(check(str(file))) == [(2, "syntax")]


def test_every_code_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "packs.md").read_text()
    for code, (severity, text) in CODES.items():
        assert f"| `{code}` | {severity.value} | {text} |" in page


def test_a_finding_reads_as_compilers_write_them(tmp_path: Path) -> None:
    finding = yaml_outline(tmp_path, HEAD.replace("domain:", "doman:")).findings[0]
    assert str(finding).startswith(f"{tmp_path / 'pack.yaml'}:")
    assert ": error: " in str(finding)
    assert replace(finding, code="unproven").severity is Severity.WARNING


def test_suggestions() -> None:
    assert suggestion("stauts", ["status", "total"]) == "; did you mean status?"
    assert suggestion("x", ["b", "a"]) == "; there is a, b"
    assert suggestion("x", map(str, range(20))).endswith(", ...")
    assert suggestion("x", []) == ""


def test_reading_an_outline_twice_gives_the_same() -> None:
    first, second = (read_outline(PLANTED / "library.yaml") for _ in range(2))
    assert findings_of(first) == findings_of(second)


def test_a_samples_argument_stays_in_its_list(tmp_path: Path) -> None:
    text = text_of("args.how != 'card'", requires="{}").replace("card: str?", "how: [cash, card]")
    for how, found in (("cash", False), ("cheque", True)):
        call = f"{{name: pay, arguments: {{loan_id: L1, amount: 1, how: {how}}}}}"
        samples = f"    samples: {{allowed: [{{call: {call}}}], rejected: []}}\n"
        findings = findings_of(yaml_outline(tmp_path, text + samples))
        told = [f.message for f in findings if f.code == "impossible-value"]
        assert bool(told) is found
        assert not found or "how should be one of cash, card" in told[0]


@pytest.mark.parametrize(("own", "wrong"), [("L1", False), ("L2", True)])
def test_a_sample_that_no_read_would_store_there(tmp_path: Path, own: str, wrong: bool) -> None:
    ledger = f"{{loans.L1: {{loan_id: {own}, fee: 2.0}}}}"
    call = "{name: pay, arguments: {loan_id: L1, amount: 1}}"
    sides = "".join(
        f"      {side}:\n        - {{ledger: {ledger}, call: {call}}}\n"
        for side in ("allowed", "rejected")
    )
    rule = f"""
  - id: lending/fee
    guards: pay
    requires: {{loan: "loans.{{loan_id}}"}}
    check: args.amount <= loan.fee
    message: too much
    samples:
{sides}"""
    file = tmp_path / "pack.yaml"
    file.write_text(f"{HEAD}rules:{rule}")
    told = [f.message for f in findings_of(read_outline(file)) if f.code == "unknown-path"]
    expected = "the sample's loans.L1 is kept by its loan_id, which is 'L2' and not 'L1'"
    assert told == [expected] * 2 * wrong
