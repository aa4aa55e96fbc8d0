"""YAML packs: what each section becomes, and what is said of one that is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ledgeragent import Session, load_domain
from ledgeragent.compiler.cel.engine import library as cel_module
from ledgeragent.effects import Effect
from ledgeragent.errors import DataError, MissingExtraError, UsageError
from ledgeragent.gate import Gate
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.testing import judge, ledger_of
from ledgeragent.verdict import Decision, Enforcement
from tests.compiler.yaml_pack import HEAD, LOAN, domain_of, outline_of, pay, problem_of, text_of

pytest.importorskip("cel_expr_python")

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "src" / "ledgeragent" / "demo" / "shop" / "pack.yaml"
TOOLS = [
    {
        "name": "get_loan",
        "inputSchema": {"properties": {"loan_id": {"type": "string"}}, "required": ["loan_id"]},
        "outputSchema": {
            "type": "object",
            "required": ["data"],
            "properties": {
                "data": {
                    "type": "object",
                    "title": "Loan",
                    "required": ["loan_id", "fee"],
                    "properties": {"loan_id": {"type": "string"}, "fee": {"type": "number"}},
                }
            },
        },
    },
    {
        "name": "pay",
        "inputSchema": {
            "type": "object",
            "properties": {"loan_id": {"type": "string"}, "amount": {"type": "number"}},
            "required": ["loan_id", "amount"],
        },
    },
]


# ── A pack as a domain ──────────────────────────────────────────────────────────────────────────


def test_a_pack_is_a_domain_like_any_other(tmp_path: Path) -> None:
    domain = domain_of(tmp_path, text_of("loan.status == 'out'"))
    assert (domain.name, domain.version, len(domain.digest)) == ("lending", "2", 64)
    assert [domain.effect(tool) for tool in ("get_loan", "pay", "transfer", "other")] == [
        Effect.READ,
        Effect.WRITE,
        Effect.NEUTRAL,
        Effect.WRITE,
    ]
    assert domain.parameters["limits"] == {"gold": 9, "basic": 3}
    rule = domain.predicates[0]
    assert (rule.id, rule.guards, rule.clause) == ("lending/rule", ("pay",), "lending/rule")
    assert (rule.decision, rule.enforcement) == (Decision.REVISE, Enforcement.ENFORCE)
    assert Session(domain).context()


def test_load_domain_takes_files_and_folders(tmp_path: Path) -> None:
    assert load_domain(str(SHOP)).name == "shop"
    assert load_domain(str(ROOT / "examples" / "parking"), tools=["get_permit"]).has("get_permit")
    with pytest.raises(UsageError, match="no version '9'"):
        load_domain(str(SHOP), version="9")
    with pytest.raises(DataError, match="cannot be read"):
        load_domain(str(tmp_path / "none.yaml"))
    with pytest.raises(DataError, match=r"holds no pack\.yaml"):
        load_domain(str(tmp_path))


def test_parameters_can_be_replaced(tmp_path: Path) -> None:
    domain = domain_of(tmp_path, text_of("args.amount < params.most"))
    assert pay(domain, {"loans.L1": LOAN}, amount=50.0).allowed
    strict = replace(domain, parameters={**domain.parameters, "most": 10})
    assert not pay(strict, {"loans.L1": LOAN}, amount=50.0).allowed


def test_verdict_enforcement_clause_and_about(tmp_path: Path) -> None:
    more = (
        "    verdict: block\n    enforcement: audit\n    clause: lending/fees\n    about: No fees.\n"
        "clauses:\n  - {id: lending/fees, section: Fees, summary: None., checkable: mixed, why: Talk.}\n"
    )
    domain = domain_of(tmp_path, text_of("false", more=more))
    verdict = pay(domain, {"loans.L1": LOAN})
    assert verdict.allowed
    assert [(f.decision, f.clause) for f in verdict.shadow] == [(Decision.BLOCK, "lending/fees")]
    assert domain.predicates[0].summary == "No fees."
    (clause,) = domain.clauses
    assert (clause.predicates, clause.checkable, clause.why) == (
        ("lending/rule",),
        "mixed",
        "Talk.",
    )


def test_a_rule_over_several_tools_sees_what_only_some_take_as_optional(tmp_path: Path) -> None:
    text = text_of("!has(args.amount) || args.amount < 9.0").replace(
        "guards: pay", "guards: [pay, renew]"
    )
    domain = domain_of(tmp_path, text)
    world = {"loans.L1": LOAN}
    assert judge(domain, world, "renew", loan_id="L1", days=3).allowed
    assert not pay(domain, world, amount=20).allowed


def test_rules_over_neutral_tools(tmp_path: Path) -> None:
    text = text_of("size(args.summary) > 9", requires="{who: caller}")
    domain = domain_of(tmp_path, text.replace("guards: pay", "guards: transfer"))
    assert judge(domain, {"caller": "M1"}, "transfer", summary="a long enough one").allowed
    assert judge(domain, {}, "transfer", summary="a long enough one").missing


def test_types_can_come_from_the_tools_file(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    text = """\
schema: ledgeragent/v1
domain: lending
tools: tools.json
reads:
  get_loan: {to: "loans.{loan_id}", inside: data}
writes:
  pay: {}
rules:
  - id: lending/fee
    guards: pay
    requires: {loan: "loans.{loan_id}"}
    check: CHECK
    message: no
"""
    domain = domain_of(tmp_path, text.replace("CHECK", "args.amount <= loan.fee"))
    assert pay(domain, {"loans.L1": {"loan_id": "L1", "fee": 10}}).allowed
    problem = problem_of(tmp_path, text.replace("CHECK", "args.amount <= loan.fees"))
    assert "Loan has no field 'fees'; did you mean fee?" in problem.problem
    problem = problem_of(tmp_path, text.replace("tools.json", "none.json"))
    assert (problem.line, "none.json: cannot be read" in problem.problem) == (3, True)


# ── Python rules, folders, samples ──────────────────────────────────────────────────────────────


@predicate("lending/in-python", guards="pay")
def in_python(call: Any, ledger: View) -> Broken | None:
    """Small amounts only."""
    return violation("too much") if call["amount"] > 50 else None


def test_python_and_cel_rules_side_by_side(tmp_path: Path) -> None:
    more = "  - python: tests.compiler.test_loader:in_python\n    enforcement: warn\n"
    domain = domain_of(tmp_path, text_of("loan.fee > 1.0", more=more))
    assert [rule.id for rule in domain.predicates] == ["lending/rule", "lending/in-python"]
    verdict = pay(domain, {"loans.L1": LOAN}, amount=60)
    assert verdict.allowed
    assert verdict.objection == "too much"


@pytest.mark.parametrize(
    ("python", "message"),
    [
        ("tests.compiler.test_loader:nothing", "cannot import tests.compiler.test_loader:nothing"),
        ("no.such.module:rule", "cannot import"),
        ("tests.compiler.test_loader:HEAD", "no rule made with @predicate"),
        ("nonsense", "write python: module:name"),
        ("3", "write python: module:name"),
    ],
)
def test_python_rules_that_are_none(tmp_path: Path, python: str, message: str) -> None:
    text = text_of("true", more=f"  - python: {python}\n")
    problem = problem_of(tmp_path, text)
    assert message in problem.problem
    assert problem.line == 33


# ── What is wrong ───────────────────────────────────────────────────────────────────────────────

RULE = "  - {id: lending/x, guards: pay, check: args.amount < 9.0, message: no}\n"


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("schema: ledgeragent/v1", "schema: other/v2", 1, "schema should be ledgeragent/v1"),
        ("domain: lending\n", "", 1, "a pack needs the key 'domain'"),
        ("version:", "versoin:", 3, "a pack has no key 'versoin'; did you mean version?"),
        ("record: Loan}", "record: Laon}", 19, "there is no type 'Laon'; did you mean Loan?"),
        ("copies: list[Copy]", "copies: list[Cpoy]", 12, "did you mean Copy?"),
        ("mark: str?}", "mark: Loan?}", 6, "the record Loan contains itself"),
        ("floor: int}", "floor: [1.5]}", 13, "a choice is a list of texts or whole numbers"),
        ('to: "loans.{loan_id}"', 'to: "{loan_id}.x"', 19, "is no path such as"),
        ('to: "loans.{loan_id}"', 'to: "loans."', 19, "is no path such as"),
        ("parameters: [email]", "parmeters: [email]", 21, "did you mean parameters?"),
        ("[due_on, note]", "[due, note]", 23, "Loan has no field 'due'; did you mean due_on?"),
        (
            '{"loans.{loan_id}": fee}',
            '{"loan.{loan_id}": fee}',
            24,
            "did you mean loans.{loan_id}?",
        ),
        ('{"loans.{loan_id}": fee}', '{"loans.{loan}": fee}', 24, "no argument 'loan'"),
        ('{"loans.{loan_id}": fee}', '{"loans.{a.b}": fee}', 24, "touches can name arguments only"),
        ("arguments: {summary: str}", "arguments: str", 25, "should be a mapping name: type"),
        ("id: lending/x", "id: x", 27, "the id 'x' should be domain/kebab-case"),
        ("guards: pay", "guards: pya", 27, "pya is no write of this pack; did you mean pay?"),
        ("guards: pay", "guards: get_loan", 27, "get_loan is a read, and reads are not judged"),
        ("guards: pay", "gaurds: pay", 27, "a rule has no key 'gaurds'; did you mean guards?"),
        ("check: args.amount < 9.0, ", "", 27, "a rule needs a check, or records"),
        ("message: no", "message: [no]", 27, "a message should be a mapping"),
        ("message: no", "message: 'x {}'", 27, "an empty {} in the message"),
        ("message: no", "message: no, verdict: deny", 27, "should be revise or block, not 'deny'"),
        ("message: no", "message: no, let: {args: '1'}", 27, "'args' cannot be a name in CEL"),
        ("message: no", "message: no, requires: {l: [x]}", 27, "should be text"),
        ("message: no", "message: no, requires: {l: 'a..b'}", 27, "is no path such as"),
        ("message: no", "message: no, requires: {l: lons.x}", 27, "did you mean loans.{loan_id}?"),
        ("message: no", "message: no, requires: {l: shelves.x}", 27, "no read tool of this pack"),
        ("message: no", "message: no, samples: {good: []}", 27, "samples has no key 'good'"),
        (
            "message: no",
            "message: no, samples: {allowed: [{call: 3}]}",
            27,
            "a sample of lending/x is",
        ),
        (RULE, RULE + RULE, 28, "the rule lending/x is given twice; first at"),
        (RULE, "  - just text\n", 27, "a rule should be a mapping"),
        (
            RULE,
            RULE + "clauses: [{id: c, summary: s, rules: [lending/y]}]\n",
            28,
            "no rule lending/y",
        ),
        (RULE, RULE + "samples: {lending/z: {}}\n", 28, "there is no rule lending/z"),
        (RULE, RULE + "samples: none.json\n", 28, "holds no samples"),
    ],
)
def test_one_message_with_file_and_line(
    tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    good = f"{HEAD}rules:\n{RULE}"
    assert old in good
    domain_of(tmp_path, good)
    problem = problem_of(tmp_path, good.replace(old, new, 1))
    assert message in problem.problem
    assert problem.line == line
    assert problem.file == str(tmp_path / "pack.yaml")


def test_further_problems_are_counted(tmp_path: Path) -> None:
    text = f"{HEAD}rules:\n{RULE.replace('pay', 'pya')}".replace("record: Loan}", "record: Laon}")
    assert "(and 1 more: run ledgeragent check)" in problem_of(tmp_path, text).problem
    assert len(outline_of(tmp_path, text).findings) == 2


def test_broken_yaml_is_a_finding(tmp_path: Path) -> None:
    outline = outline_of(tmp_path, "a: b\n c: d\n")
    assert [(f.code, f.place.line) for f in outline.findings] == [("syntax", 2)]
    assert outline.domain is None


def test_names_are_looked_up_in_order(tmp_path: Path) -> None:
    requires = "{member: 'members.{loan.member_id}', loan: 'loans.{loan_id}'}"
    problem = problem_of(tmp_path, text_of("member.blocked", requires=requires))
    assert "'loan' is not defined here: a path can use the records above it" in problem.problem


# ── Without the libraries ───────────────────────────────────────────────────────────────────────


def test_the_extra_is_named_where_a_library_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cel_expr_python.cel", None)
    cel_module.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pip install 'ledgeragent\[cel\]'"):
        load_domain(str(SHOP))
    monkeypatch.undo()
    cel_module.cache_clear()


def test_python_packs_need_neither_library() -> None:
    program = (
        "import sys; sys.modules['yaml'] = sys.modules['cel_expr_python'] = None\n"
        "from ledgeragent import load_domain\n"
        "assert load_domain('retail').predicates"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_cost_of_a_rule_does_not_depend_on_the_ledger(tmp_path: Path) -> None:
    """The records that a rule does not require are never even looked at."""
    domain = domain_of(tmp_path, text_of("loan.fee > 1.0"))
    others = {f"members.M{n}": {"member_id": f"M{n}"} for n in range(200)}
    view = View(ledger_of({**others, "loans.L1": LOAN}, domain), domain.parameters)
    assert domain.predicates[0].check({"loan_id": "L1", "amount": 1.0}, view) is None
    assert [str(path) for path in view] == ["loans.L1"]
    assert Gate(domain=domain).domain is domain
