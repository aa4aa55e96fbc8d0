"""check: every planted mistake at its line and nothing else; the shipped packs are clean."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.check import check, findings_of
from ledgeragent.check.python_outline import outline_of
from ledgeragent.check.worlds import Worlds
from ledgeragent.errors import DataError, UsageError
from ledgeragent.packs import PACKS
from ledgeragent.packs import versions as versions_of
from ledgeragent.packs.celrule import CelCheck
from ledgeragent.packs.finding import CODES, Finding, Findings, Place, Severity, suggestion
from ledgeragent.packs.loader import read_outline
from tests.packs.yaml_pack import HEAD, text_of
from tests.packs.yaml_pack import outline_of as yaml_outline

pytest.importorskip("cel_expr_python")

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "ledgeragent"
PLANTED = ROOT / "tests" / "planted"
_MARK = re.compile(r"# planted( above)?: (\S+)$")


def planted(file: Path) -> list[tuple[int, str]]:
    """(line, code) of every mistake that a file says it has."""
    lines = enumerate(file.read_text().splitlines(), 1)
    found = ((number, _MARK.search(line)) for number, line in lines)
    return sorted((n - 1 if mark[1] else n, mark[2]) for n, mark in found if mark is not None)


def seen(findings: list[Finding]) -> list[tuple[int, str]]:
    return sorted((finding.place.line, finding.code) for finding in findings)


def codes(findings: list[Finding]) -> list[str]:
    return [finding.code for finding in findings]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        (str(PLANTED / "library.yaml"), PLANTED / "library.yaml"),
        ("tests.planted.garage:PACK", PLANTED / "garage.py"),
    ],
    ids=["yaml", "python"],
)
def test_every_planted_mistake_is_found_at_its_line_and_none_invented(
    name: str, file: Path
) -> None:
    findings = check(name)
    assert seen(findings) == planted(file)
    assert {Path(finding.place.file) for finding in findings} == {file}
    assert len(findings) >= 10


def test_planted_mistakes_are_found_in_every_file_of_a_folder() -> None:
    folder = PLANTED / "hotel"
    findings = check(str(folder), tools=folder / "tools.json")
    assert {str(f.place.file) for f in findings} >= {str(f) for f in folder.glob("rules/*")}
    for file in folder.rglob("*.yaml"):
        assert seen([f for f in findings if f.place.file == str(file)]) == planted(file)
    assert len(findings) >= 30


def test_the_yaml_file_has_the_twelve_kinds() -> None:
    kinds = {code for _, code in planted(PLANTED / "library.yaml")}
    assert len(kinds) >= 12
    assert set(CODES) - kinds <= {
        "syntax",
        "unread-file",
        "read-without-route",
        "tool-not-offered",
        "unknown-clause",
        "unproven",
    }


@pytest.mark.parametrize("name", PACKS)
def test_the_shipped_packs_are_clean(name: str) -> None:
    for version in versions_of(name):
        assert check(name, version=version) == []


@pytest.mark.parametrize(
    ("pack", "tools"),
    [
        (str(SOURCE / "demo" / "shop" / "pack.yaml"), SOURCE / "demo" / "shop" / "tools.json"),
        ("shop", SOURCE / "demo" / "shop" / "tools.json"),
        (str(ROOT / "examples" / "parking"), ROOT / "examples" / "parking" / "tools.json"),
    ],
)
def test_they_are_clean_against_their_tools(pack: str, tools: Path) -> None:
    assert check(pack, tools=tools) == []


@pytest.mark.parametrize("name", ["airline", "retail", "telecom"])
def test_benchmark_packs_against_the_benchmark_tools(name: str, data_dir: Path) -> None:
    tools = data_dir / "benchmarks" / "tau2" / name / "tools.json"
    if not tools.exists():
        pytest.skip(f"{tools} is not there")
    assert check(name, tools=tools) == []


# ── Against the tools ───────────────────────────────────────────────────────────────────────────


def tool(name: str, properties: Any, returns: Any = None) -> Any:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "inputSchema": schema, **({"outputSchema": returns} if returns else {})}


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
LOAN = {
    "type": "object",
    "properties": {
        "loan_id": TEXT,
        "member_id": TEXT,
        "status": {"enum": ["out", "returned"]},
        "due_on": NUMBER,
        "fee": NUMBER,
        "copies": {"type": "array", "items": {"type": "object", "properties": {"shelf": TEXT}}},
        "desk": {"type": "object"},
    },
}


def test_the_tools_file_is_compared(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    tools = [
        tool("get_loan", {"loan_id": TEXT}, LOAN),
        tool("get_member", {"member": TEXT}, TEXT),
        tool("who", {"email": TEXT}),
        tool("renew", {"loan_id": TEXT, "days": TEXT}),
        tool("pay", {"loan_id": TEXT, "amount": NUMBER, "card": TEXT}),
        tool("delete_loan", {}),
    ]
    file.write_text(json.dumps(tools))
    outline = yaml_outline(tmp_path, text_of("loan.fee > 1.0"))
    findings = findings_of(outline, file)
    told = [f.message for f in findings if f.code not in ("missing-samples", "write-without-rule")]
    assert sorted(told) == [
        "argument days: renew says str, the pack int",
        "argument note: renew has no such field; there is days, loan_id",
        "copies[].mark of Loan: get_loan has no such field; there is shelf",
        "copies[].price of Loan: get_loan has no such field; there is shelf",
        "copies[].tags of Loan: get_loan has no such field; there is shelf",
        "due_on of Loan: get_loan says float, the pack date",
        "get_member has no argument 'member_id'; did you mean member?",
        "note of Loan: get_loan has no such field; there is copies, desk, due_on, fee, loan_id, "
        "member_id, status",
        "status of Loan: get_loan says one of out, returned, never 'lost'",
        "the tool delete_loan is neither read, write nor neutral here, so it would be refused",
        "the tools file has no tool transfer; there is delete_loan, get_loan, get_member, pay, renew, who",
    ]


# ── Rules that decide nothing ───────────────────────────────────────────────────────────────────


def liveness(
    tmp_path: Path, check: str, samples: str = "", requires: str | None = None
) -> list[str]:
    """The codes of a rule with this check, besides the samples it lacks."""
    given = {} if requires is None else {"requires": requires}
    outline = yaml_outline(tmp_path, text_of(check, more=samples, **given))
    assert not outline.findings, outline.findings
    return [
        c for c in codes(findings_of(outline)) if c not in ("missing-samples", "write-without-rule")
    ]


def test_a_read_that_is_merged_need_not_supply_every_field(tmp_path: Path) -> None:
    read = '  list_loans: {to: "loans.{loan_id}", record: Loan, each: loans, merge: true, parameters: []}\n'
    text = text_of("loan.fee > 1.0").replace("reads:\n", f"reads:\n{read}")
    loans = {"type": "array", "items": {"type": "object", "properties": {"loan_id": NUMBER}}}
    tools = tmp_path / "tools.json"
    returned = {"type": "object", "properties": {"loans": loans}}
    tools.write_text(json.dumps([tool("list_loans", {}, returned)]))
    found = [str(f) for f in findings_of(yaml_outline(tmp_path, text), tools)]
    assert not [text for text in found if "has no such field" in text]
    assert [
        text for text in found if "loan_id of Loan: list_loans says float, the pack str" in text
    ]


def test_two_records_do_not_share_their_paths(tmp_path: Path) -> None:
    read = '  search: {to: "loans.{status}", record: "list[Loan]", parameters: [status]}\n'
    text = text_of("loan.fee > 1.0").replace("reads:\n", f"reads:\n{read}")
    found = [f.message for f in findings_of(yaml_outline(tmp_path, text)) if f.code == "type-error"]
    assert "loans.{loan_id} holds list[Loan] by line 19, and Loan here" in found


@pytest.mark.parametrize(
    ("check", "found"),
    [
        ("loan.status == 'out'", []),
        ("true", []),
        ("loan.status == 'out' || loan.status != 'out'", ["never-fires"]),
        ("loan.status == 'out' && loan.status == 'lost'", ["never-satisfied"]),
        ("loan.status in ['out', 'returned', 'lost']", ["never-fires"]),
        ("params.most > 50.0 || loan.status == 'out'", ["never-fires"]),
        ("args.amount > 1.0 || args.amount < 2.0", ["unproven"]),
        ("args.amount > params.most && args.amount < 99.0", ["unproven"]),
        ("args.amount > 1234.5", []),
        ("loan.loan_id == args.loan_id", []),
        ("loan.loan_id.startsWith('zz')", []),
        ("days(params.today, loan.due_on) < 300", []),
        ("loan.copies.exists(c, c.price > 77.0)", []),
        ("has(loan.note) || has(args.card)", []),
    ],
)
def test_constant_rules(tmp_path: Path, check: str, found: list[str]) -> None:
    requires = "{}" if "loan" not in check and check != "true" else "{loan: 'loans.{loan_id}'}"
    assert liveness(tmp_path, check, requires=requires) == found


def test_samples_that_contradict_make_it_an_error(tmp_path: Path) -> None:
    sample = "[{call: {name: pay, arguments: {loan_id: L1, amount: 1.5}}}]"
    samples = f"    samples: {{allowed: {sample}, rejected: {sample}}}\n"
    check = "args.amount > 1.0 || args.amount < 2.0"
    assert liveness(tmp_path, check, samples, "{}") == ["never-fires"]


def test_a_sample_is_a_witness(tmp_path: Path) -> None:
    call = "[{call: {name: pay, arguments: {loan_id: L1, amount: AMOUNT}}}]"
    samples = (
        f"    samples:\n      allowed: {call.replace('AMOUNT', '1')}\n"
        f"      rejected: {call.replace('AMOUNT', '31415.926')}\n"
    )
    assert liveness(tmp_path, "string(args.amount) != '31415.926'", samples, "{}") == []


def evaluations(tmp_path: Path, rules: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often a check is evaluated to check a pack with so many rules on one tool."""
    call = "call: {name: pay, arguments: {loan_id: L1, amount: AMOUNT}}"
    allowed, rejected = (f"[{{{call.replace('AMOUNT', amount)}}}]" for amount in ("99", "0"))
    text = HEAD + "rules:\n"
    for i in range(rules):
        text += (
            f"  - {{id: lending/rule-{i}, guards: pay, check: args.amount > {i}.5, message: no,\n"
        )
        text += f"     samples: {{allowed: {allowed}, rejected: {rejected}}}}}\n"
    outline = yaml_outline(tmp_path, text)
    asked: list[object] = []
    judge = CelCheck.__call__

    def counted(self: CelCheck, arguments: Any, view: Any) -> Any:
        asked.append(arguments)
        return judge(self, arguments, view)

    with monkeypatch.context() as patch:
        patch.setattr(CelCheck, "__call__", counted)
        assert codes(findings_of(outline)) == ["write-without-rule"]
    return len(asked)


def test_twice_the_rules_are_twice_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert evaluations(tmp_path, 5, monkeypatch) == 10
    assert evaluations(tmp_path, 10, monkeypatch) == 20


def test_trials_end_where_they_have_shown_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[object] = []
    some = Worlds.some

    def counted(self: Worlds, count: int) -> Iterator[dict[str, Any]]:
        for world in some(self, count):
            tried.append(world)
            yield world

    monkeypatch.setattr(Worlds, "some", counted)
    assert liveness(tmp_path, "args.amount > 7.5", requires="{}") == []
    assert 2 <= len(tried) < 100
    tried.clear()
    assert liveness(tmp_path, "args.amount > 1.0 || args.amount < 2.0", requires="{}")
    assert len(tried) == 600


def test_noting_a_finding_compares_it_with_no_other() -> None:
    compared: list[object] = []

    class Message(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            compared.append(other)
            return str.__eq__(self, other)

    findings = Findings()
    for i in range(500):
        findings.add("syntax", Place("pack.yaml", i), Message(f"mistake {i}"))
    assert len(findings) == 500 and len(compared) < 50
    findings.add("syntax", Place("pack.yaml", 7), Message("mistake 7"), "of/another-rule")
    assert len(findings) == 500


# ── Shapes inside lists and maps ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("expression", "code", "message"),
    [
        ("loan.copies.all(c, c.prize > 1.0)", "unknown-field", "Copy has no field 'prize'"),
        ("loan.copies[0].tag == 'x'", "unknown-field", "did you mean tags?"),
        ("member.cards['c'].pints > 1", "unknown-field", "Card has no field 'pints'"),
        ("member.cards.all(k, member.cards[k].kin == '')", "unknown-field", "did you mean kind?"),
        ("loan.copies.map(c, c.shelf)[0] == 3", "type-error", "text is never equal to int"),
        ("loan.copies.filter(c, c.price > 'x') == []", "type-error", "'>' does not apply to"),
        ("loan.copies.all(c, c.price * 2 > 1)", "type-error", "does not mix int and float"),
        (
            "loan.copies.all(c, c.mark == null)",
            "type-error",
            "a field that is null counts as absent",
        ),
        (
            "loan.copies.exists(c, c.price in ['a'])",
            "type-error",
            "float is never in a list of text",
        ),
        ("member.level == 'silver'", "impossible-value", "member.level is one of gold, basic"),
        ("'silver' in [member.level]", "impossible-value", "never 'silver'"),
        ("member.level in ['gold', 'silver']", "impossible-value", "never 'silver'"),
        ("loan.desk['flor'] == 1", "unknown-field", "did you mean floor?"),
    ],
)
def test_what_cel_does_not_see(tmp_path: Path, expression: str, code: str, message: str) -> None:
    requires = "{loan: 'loans.{loan_id}', member: 'members.{loan.member_id}'}"
    outline = yaml_outline(tmp_path, text_of(expression, requires=requires))
    assert not outline.findings, outline.findings
    (finding,) = [f for f in findings_of(outline) if f.rule and f.code != "missing-samples"]
    assert (finding.code, finding.place.line) == (code, 31)
    assert message in finding.message


# ── Several mistakes in one expression ──────────────────────────────────────────────────────────

MISTAKES = {
    "nobody == 1": "unknown-path",
    "somebody.name.first == 'x'": "unknown-path",
    "has(anybody.name)": "unknown-path",
    "loan.feee > 1.0": "unknown-field",
    "has(loan.noet) && loan.noet == 'x'": "unknown-field",
    "loan.desk.flor == 1": "unknown-field",
    "loan.copies.all(c, c.prize > 1.0)": "unknown-field",
    "member.cards['c'].pints > 1": "unknown-field",
    "loan.note == 'x'": "type-error",
    "has(loan.status)": "type-error",
    "overdue(loan.due_on)": "type-error",
    "loan.status.shout() == 'OUT'": "type-error",
    "overdrawn(1).by.much > 2": "type-error",
    "loan.fee > 'x'": "type-error",
    "loan.fee + 1 == 2.0": "type-error",
    "loan.copies.exists(c, c.price > 'x')": "type-error",
    "loan.copies.all(c, sum(c.tags) > 1.0)": "type-error",
    "sum(loan.copies) > loan.status": "type-error",
    "member.level == 'silver'": "impossible-value",
}
"""Expressions with exactly one mistake each, and its code."""


def told(tmp_path: Path, parts: list[str], more: str = "") -> list[tuple[str, int, str]]:
    """(code, line from that of the first part, message) of what is wrong with the parts, joined."""
    requires = "{loan: 'loans.{loan_id}', member: 'members.{loan.member_id}'}"
    text = text_of(" &&\n      ".join(f"({part})" for part in parts), requires=requires, more=more)
    found = findings_of(yaml_outline(tmp_path, text))
    return [(f.code, f.place.line - 31, f.message) for f in found if f.code not in LEFT_OUT]


LEFT_OUT = ("missing-samples", "write-without-rule", "unproven")


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_hides_no_other_in_its_expression_and_invents_none(
    tmp_path: Path, mistake: str
) -> None:
    (alone,) = told(tmp_path, [mistake])
    assert alone[:2] == (MISTAKES[mistake], 0)
    for other in MISTAKES:
        if other != mistake:
            both = told(tmp_path, [mistake, other])
            assert [f[:2] for f in both] == [(MISTAKES[mistake], 0), (MISTAKES[other], 1)]


def test_all_mistakes_of_an_expression_are_told_at_their_lines(tmp_path: Path) -> None:
    found = told(tmp_path, [*MISTAKES])
    assert [(line, code) for code, line, _ in found] == [*enumerate(MISTAKES.values())]


def test_a_mistake_inside_another_is_told_too(tmp_path: Path) -> None:
    (found,) = {f[2] for f in told(tmp_path, ["overdue(nobody) > loan.feee"])} - {
        "undeclared reference to 'overdue'",
        "Loan has no field 'feee'; did you mean fee?",
    }
    assert found.startswith("'nobody' is not defined here")


def test_a_broken_let_hides_nothing_in_what_uses_it_and_is_found_once(tmp_path: Path) -> None:
    lets = """\
    let:
      unreadable: 1 +
      wrong: overdue(loan.due_on)
      after: wrong && nobody
"""
    found = told(tmp_path, ["unreadable > 1", "after && wrong", "loan.fee > 'x'"], lets)
    assert [(line, code) for code, line, _ in found] == [
        (2, "type-error"),
        (5, "type-error"),
        (6, "type-error"),
        (7, "unknown-path"),
    ]


def test_a_test_that_cannot_be_read_may_have_been_one_for_a_value(tmp_path: Path) -> None:
    let = "    let: {noted: loan.note == 'x'}\n"
    (found,) = told(tmp_path, ["has(loan.note) and noted"], let)
    assert found[2] == "not a CEL expression: write && instead of and"


def test_more_errors_than_the_library_tells_are_not_passed_over(tmp_path: Path) -> None:
    (last,) = [f for f in told(tmp_path, [f"f{i}(1)" for i in range(30)]) if "'f" not in f[2]]
    assert last[2] == "one expression with over 20 errors: only the first are told"


@pytest.mark.parametrize(
    "name",
    ["dyn", "google", "has", "optional_type", "timestamp", "__result__", "iso__", "sum__0"],
)
def test_any_name_can_be_an_unknown_one(tmp_path: Path, name: str) -> None:
    found = told(tmp_path, [f"{name} == 1", "overdue(1)"])
    assert len(found) == 2 and found[1][2] == "undeclared reference to 'overdue'"


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


# ── Names ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "name", ["nothing", "tests.planted.garage:NOTHING", "no.module:X", "tests.planted.garage:DONE"]
)
def test_what_is_no_pack(name: str) -> None:
    with pytest.raises(UsageError):
        check(name)


def test_versions() -> None:
    with pytest.raises(UsageError, match="no version 'x'"):
        check("retail", version="x")
    assert outline_of("airline", "tau").domain != outline_of("airline").domain


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
