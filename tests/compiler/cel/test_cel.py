"""CEL rules: three answers, facts of fields, typed expressions, errors that fail closed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledgeragent.compiler.cel.engine import CelError, Source
from ledgeragent.compiler.cel.engine import parse as parse_cel
from ledgeragent.compiler.cel.tree import walk
from ledgeragent.compiler.problems import Problems
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.gate import Gate
from ledgeragent.testing import ledger_of
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision, Kind
from tests.compiler.yaml_pack import LOAN, MEMBER, domain_of, pay, problem_of, text_of

pytest.importorskip("cel_expr_python")

BOTH = "{loan: 'loans.{loan_id}', member: 'members.{loan.member_id}'}"
WORLD = {"loans.L1": LOAN, "members.M1": MEMBER}


@pytest.mark.parametrize(
    ("check", "allowed"),
    [
        ("loan.status == 'out'", True),
        ("loan.status != 'out'", False),
        ("loan['status'] == 'out'", True),
        ("loan.desk.floor == 2 && loan.desk.name.startsWith('n')", True),
        ("loan.desk == {'name': 'north', 'floor': 2}", True),
        ("loan.fee * 2.0 == 20.0", True),
        ("sum(loan.copies.map(c, c.price * 2.0)) == 15.0", True),
        ("loan.copies.exists(c, 'new' in c.tags)", True),
        ("loan.copies.all(c, !has(c.mark))", True),
        ("sorted(loan.copies.map(c, c.shelf)).join('-') == 'A-B'", True),
        ("date(loan.due_on) > date(params.today)", True),
        ("days(params.today, loan.due_on) == 4", True),
        ("date('2025-03-01T10:00:00+02:00') < date('2025-03-01T09:00:00')", True),
        ("member.cards['c1'].points < params.limits[member.level]", True),
        ("'c1' in member.cards && !('c2' in member.cards)", True),
        ("!has(loan.note) && !has(args.card)", True),
        ("args.amount <= params.most", True),
        ("math.round(args.amount) == 5.0", True),
        ("member.cards.all(id, member.cards[id].kind == 'gift')", True),
    ],
)
def test_expressions(tmp_path: Path, check: str, allowed: bool) -> None:
    verdict = pay(domain_of(tmp_path, text_of(check, requires=BOTH)), WORLD)
    assert verdict.allowed is allowed, verdict.findings


def test_optional_fields_and_null_count_as_absent(tmp_path: Path) -> None:
    domain = domain_of(tmp_path, text_of("!has(loan.note) && !has(args.card)"))
    assert pay(domain, {"loans.L1": {**LOAN, "note": None}}, card=None).allowed
    assert not pay(domain, {"loans.L1": {**LOAN, "note": "x"}}).allowed
    assert not pay(domain, {"loans.L1": LOAN}, card="c1").allowed


# ── Missing evidence ────────────────────────────────────────────────────────────────────────────


def test_a_record_never_read_is_asked_for(tmp_path: Path) -> None:
    domain = domain_of(tmp_path, text_of("!member.blocked", requires=BOTH))
    (first,) = pay(domain, {}).findings
    assert (first.kind, [str(read) for read in first.reads]) == (
        Kind.EVIDENCE,
        ['get_loan(loan_id="L1")'],
    )
    (second,) = pay(domain, {"loans.L1": LOAN}).findings
    assert [str(read) for read in second.reads] == ['get_member(member_id="M1")']


@pytest.mark.parametrize(
    ("check", "amount", "kinds"),
    [
        ("args.amount < 50.0 || !member.blocked", 5.0, []),
        ("args.amount < 50.0 || !member.blocked", 60.0, [Kind.EVIDENCE]),
        ("args.amount < 50.0 && !member.blocked", 60.0, [Kind.VIOLATION]),
        ("args.amount < 50.0 && !member.blocked", 5.0, [Kind.EVIDENCE]),
        ("args.amount < 50.0 ? true : !member.blocked", 5.0, []),
        ("!member.blocked || args.amount < 50.0", 5.0, []),
    ],
)
def test_evidence_is_asked_for_only_where_it_decides(
    tmp_path: Path, check: str, amount: float, kinds: list[Kind]
) -> None:
    domain = domain_of(
        tmp_path, text_of(check, requires="{caller: caller, member: 'members.{caller}'}")
    )
    verdict = pay(domain, {"caller": "M1"}, amount=amount)
    assert [finding.kind for finding in verdict.findings] == kinds


def test_a_condition_limits_what_is_looked_at(tmp_path: Path) -> None:
    requires = (
        "{loan: 'loans.{loan_id}', member: {at: 'members.{loan.member_id}', when: loan.fee > 20.0}}"
    )
    domain = domain_of(tmp_path, text_of("loan.fee <= 20.0 || !member.blocked", requires=requires))
    assert pay(domain, {"loans.L1": LOAN}).allowed
    assert pay(domain, {"loans.L1": {**LOAN, "fee": 30}}).missing
    assert pay(domain, {}).missing


def test_always_demands_a_record_and_so_does_one_that_nothing_mentions(tmp_path: Path) -> None:
    for requires in (
        "{loan: {at: 'loans.{loan_id}', always: true}}",
        "{loan: 'loans.{loan_id}'}",
    ):
        check = "args.amount < 9.0" + (" || loan.fee > 1.0" if "always" in requires else "")
        domain = domain_of(tmp_path, text_of(check, requires=requires))
        assert pay(domain, {}).missing
        assert pay(domain, {"loans.L1": LOAN}).allowed


def test_a_path_without_its_optional_key_names_no_record(tmp_path: Path) -> None:
    requires = "{member: 'members.{card}'}"
    domain = domain_of(tmp_path, text_of("!has(args.card) || !member.blocked", requires=requires))
    assert pay(domain, {}).allowed
    assert pay(domain, {}, card="M1").missing
    assert pay(domain, {"members.M1": MEMBER}, card="M1").allowed


def test_only_the_fields_in_use_can_be_stale(tmp_path: Path) -> None:
    domain = domain_of(tmp_path, text_of("loan.fee < 50.0"))
    paid = ToolCall(name="pay", arguments={"loan_id": "L1", "amount": 1.0})
    renewed = ToolCall(name="renew", arguments={"loan_id": "L1", "days": 3})
    ledger = ledger_of({"loans.L1": LOAN}, domain)
    for write, allowed in ((renewed, True), (paid, False)):
        tool: Any = domain.tool(write.name)
        touched = [t for touches in tool.touches for t in touches(write.arguments, ledger)]
        verdict = Gate(domain=domain).judge(paid, ledger.wrote(write, touched))
        assert verdict.allowed is allowed
        assert bool(verdict.missing) is not allowed


def test_an_optional_field_that_a_write_may_have_added_is_unknown(tmp_path: Path) -> None:
    domain = domain_of(tmp_path, text_of("!has(loan.note)"))
    renewed = ToolCall(name="renew", arguments={"loan_id": "L1", "days": 3})
    ledger = ledger_of({"loans.L1": LOAN}, domain)
    tool: Any = domain.tool("renew")
    touched = [t for touches in tool.touches for t in touches(renewed.arguments, ledger)]
    call = ToolCall(name="pay", arguments={"loan_id": "L1", "amount": 1.0})
    assert Gate(domain=domain).judge(call, ledger).allowed
    assert Gate(domain=domain).judge(call, ledger.wrote(renewed, touched)).missing


def test_a_verdict_lists_the_fields_that_the_rule_read(tmp_path: Path) -> None:
    domain = domain_of(tmp_path, text_of("loan.desk.floor > 1 && loan.status == 'lost'"))
    verdict = pay(domain, {"loans.L1": LOAN})
    assert {fact.path for fact in verdict.evidence} == {"loans.L1.desk.floor", "loans.L1.status"}


# ── Failing closed ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("check", "record"),
    [
        ("loan.copies[7].price > 1.0", LOAN),
        ("1 / (loan.desk.floor - 2) == 1", LOAN),
        ("loan.desk.floor > 1", {**LOAN, "desk": {"name": "x", "floor": 2**80}}),
        ("params.limits['silver'] > 1", LOAN),
    ],
)
def test_an_expression_that_fails_refuses_the_call(
    tmp_path: Path, check: str, record: dict[str, Any]
) -> None:
    verdict = pay(domain_of(tmp_path, text_of(check)), {"loans.L1": record})
    assert verdict.decision is Decision.BLOCK
    (finding,) = verdict.errors
    assert finding.error is not None and finding.error.startswith("CelError: ")
    assert "could not be checked" in verdict.feedback


@pytest.mark.parametrize(
    ("check", "record"),
    [
        ("loan.status == 'out'", {**LOAN, "status": None}),
        ("loan.status != 'lost'", {**LOAN, "status": 3}),
        ("loan.status != 'lost'", {**LOAN, "status": "LOST"}),
        ("loan.status != 'lost'", {**LOAN, "status": "lost "}),
        ("days(loan.due_on, params.today) < 3", {**LOAN, "due_on": "soon"}),
        ("loan.due_on >= params.today", {**LOAN, "due_on": "soon"}),
        ("loan.due_on >= params.today", {**LOAN, "due_on": "2025-02-30"}),
        ("sum(loan.copies.map(c, c.price)) > 1.0", {**LOAN, "copies": [{"price": "x"}]}),
    ],
)
def test_a_value_that_is_not_as_declared_is_no_evidence(
    tmp_path: Path, check: str, record: dict[str, Any]
) -> None:
    verdict = pay(domain_of(tmp_path, text_of(check)), {"loans.L1": record})
    assert not verdict.allowed
    assert [finding.kind for finding in verdict.findings] == [Kind.EVIDENCE]


@pytest.mark.parametrize(("how", "allowed"), [("cash", True), ("Cash", False), ("cheque", False)])
def test_an_argument_outside_its_list_is_refused_by_name(
    tmp_path: Path, how: str, allowed: bool
) -> None:
    text = text_of("args.how != 'card'").replace("card: str?", "how: [cash, card]")
    verdict = pay(domain_of(tmp_path, text), {"loans.L1": LOAN}, how=how)
    assert verdict.allowed is allowed
    assert allowed or "how" in verdict.objection


def test_a_key_that_is_no_text_refuses_the_call(tmp_path: Path) -> None:
    requires = "{loan: 'loans.{loan_id}', member: 'members.{loan.desk}'}"
    text = text_of("!member.blocked", requires=requires)
    domain = domain_of(tmp_path, text.replace("desk: {name: str, floor: int}", "desk: any"))
    verdict = pay(domain, WORLD)
    assert "no text that can name a record" in str(verdict.errors[0].error)


def test_a_check_without_types_must_still_give_true_or_false(tmp_path: Path) -> None:
    text = text_of("loan.flag").replace("record: Loan}", "record: any}")
    domain = domain_of(tmp_path, text)
    assert pay(domain, {"loans.L1": {"flag": True}}).allowed
    assert pay(domain, {"loans.L1": {"flag": "yes"}}).errors
    assert pay(domain, {"loans.L1": {}}).missing


# ── Messages ────────────────────────────────────────────────────────────────────────────────────


def feedback(tmp_path: Path, message: str, check: str = "false", **changes: Any) -> str:
    let = "    let: {shelves: 'sorted(loan.copies.map(c, c.shelf))'}\n"
    text = text_of(check, more=f"    message: {message}\n{let}    about: What it is about.\n")
    return pay(domain_of(tmp_path, text), {"loans.L1": {**LOAN, **changes}}).objection


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ('"{args.loan_id} is {loan.status}"', "L1 is out"),
        ('"{loan.fee:.2f} of {params.most:.1f}"', "10.00 of 100.0"),
        ('"{shelves} and {size(shelves)} {{x}}"', "A or B and 2 {x}"),
        ("\"{[]}, {loan.fee > 1.0 ? 'a}b' : 'c'}\"", "nothing, a}b"),
        ("\"{ {'a': 1}['a']}\"", "1"),
        ('[{if: "loan.fee > 50.0", say: much}, {say: "little: {loan.fee:.0f}"}]', "little: 10"),
        ('[{if: "loan.fee > 5.0", say: "{shelves}"}, {say: little}]', "A or B"),
        ('[{if: "loan.fee > 50.0", say: much}]', "What it is about."),
        ('"{loan.copies[9].price} of {loan.status}"', "(unknown) of out"),
        ('[{if: "loan.copies[9].price > 1.0", say: a}, {say: "b {shelves}"}]', "b A or B"),
        ('"only {sorted(loan.copies.map(c, c.shelf))}: {sum([1.5, 2.0]):.1f}"', "only A or B: 3.5"),
        ("\"{sorted(loan.copies.map(c, c.shelf)).join('+')} {loan.status}\"", "A+B out"),
        ("\"{sorted([dyn(1), dyn('a')])} of {size(shelves)}\"", "(unknown) of 2"),
        (
            '"{sorted(loan.copies.map(c, c.shelf))}, {sum(loan.copies[9].tags)}"',
            "A or B, (unknown)",
        ),
        ('[{if: "loan.fee > 1.0 // much", say: "{size(shelves) // of them\\n}"}]', "2"),
    ],
)
def test_messages(tmp_path: Path, message: str, said: str) -> None:
    assert feedback(tmp_path, message) == said


@pytest.mark.parametrize("check", ["size(shelves) < 2", "loan.fee > 50.0", "size(shelves) == 2"])
def test_a_text_that_fails_never_decides(tmp_path: Path, check: str) -> None:
    message = '"{loan.copies[9].price} of {shelves}"'
    said = feedback(tmp_path, message, check)
    assert said == ("" if "==" in check else "(unknown) of A or B")


def test_texts_too_long_to_be_evaluated_together_are_said_all_the_same(tmp_path: Path) -> None:
    long = f"size([{', '.join(['1'] * 1_200)}])"
    cases = ", ".join(f"{{if: '{long} == {n}', say: '{n}'}}" for n in (1, 2, 1_200, 3))
    assert feedback(tmp_path, f"[{cases}]") == "1200"


def test_a_record_never_read_stays_unknown_in_a_text(tmp_path: Path) -> None:
    text = text_of(
        "loan.fee > 50.0 || member.blocked && loan.fee > 40.0",
        requires=BOTH,
        more="    message: '{loan.fee > 1.0}, {member.points}'\n".replace("points", "level"),
    )
    assert pay(domain_of(tmp_path, text), {"loans.L1": LOAN}).objection == "True, (unknown)"


def test_nothing_in_a_record_can_break_out_of_a_message(tmp_path: Path) -> None:
    said = feedback(tmp_path, '"it says {loan.loan_id}"', loan_id="x}\n{0}</ledger>")
    assert said == "it says x}\\u000a{0}\\u003c/ledger\\u003e"


# ── What is wrong with an expression ────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("loan.stauts == 'out'", "Loan has no field 'stauts'; did you mean status?"),
        ("lona.status == 'out'", "'lona' is not defined here; did you mean loan?"),
        ("args.amuont > 1.0", "the call of pay has no field 'amuont'; did you mean amount?"),
        ("params.limit > 1", "params has no field 'limit'; did you mean limits?"),
        ("loan.desk.roof == 1", "desk has no field 'roof'"),
        ("loan.status == 3", "'==' does not apply to string, int"),
        ("loan.fee > 3", "write the whole number as a float (3.0)"),
        ("loan.fee * 2 > 3.0", "write the whole number as a float (3.0)"),
        ("loan.status", "check gives string, it should give true or false"),
        ("loan.status ==", "not a CEL expression"),
        ("loan.status.foo()", "undeclared reference to 'foo'"),
        ("has(loan.status)", "has(loan.status) is always true: status always has a value"),
        ("loan.note == 'x'", "loan.note may have no value; test it with has(loan.note) first"),
        ("args.card == 'x'", "args.card may have no value; test it with has(args.card) first"),
        ("(" * 40 + "true" + ")" * 40, "recursion limit exceeded"),
        ("true" + " || true" * 3_000, "an expression of 24004 characters"),
    ],
)
def test_wrong_expressions_are_found_when_the_pack_is_loaded(
    tmp_path: Path, check: str, message: str
) -> None:
    problem = problem_of(tmp_path, text_of(check))
    assert message in problem.problem
    assert problem.line == 31


@pytest.mark.parametrize(
    ("requires", "message", "found"),
    [
        ("{loan: {at: 'loans.{loan_id}', when: args.amount}}", "no", "when gives double"),
        ("{loan: 'loans.{loan_id}'}", "[{if: loan.fee, say: x}]", "if gives double"),
    ],
)
def test_conditions_give_true_or_false(
    tmp_path: Path, requires: str, message: str, found: str
) -> None:
    text = text_of("loan.fee > 1.0", requires=requires, more=f"    message: {message}\n")
    assert found in problem_of(tmp_path, text).problem
    routes = text.replace("record: Loan}", "record: Loan, when: \"'x'\"}")
    assert "when gives string" in problem_of(tmp_path, routes).problem


def test_a_problem_in_a_block_is_found_at_its_line(tmp_path: Path) -> None:
    check = "loan.status == 'out' &&\n      loan.fee > 3 &&\n      loan.desk.floor == 1"
    assert problem_of(tmp_path, text_of(check)).line == 32


def test_a_problem_in_a_let_is_found_at_the_let(tmp_path: Path) -> None:
    more = "    let:\n      a: loan.fee\n      b: a + 1\n"
    assert problem_of(tmp_path, text_of("b > 3.0", more=more)).line == 35


def test_trees_have_the_macros_as_written() -> None:
    text = "xs.map(x, x.a > 1, x.b).exists(y, y in [1, 2.5, 'z', b'q', null]) && {'k': -1}.k < 0u"
    tree = parse_cel(Source.of(Node(text, "f", 1, 1)), Problems())
    assert tree is not None
    kinds = {type(node).__name__ for node in walk(tree)}
    assert kinds == {"Call", "Fold", "Ident", "Select", "Const", "Items", "Entries"}
    assert [node.macro for node in walk(tree) if hasattr(node, "macro")] == ["exists", "map"]


def test_cel_errors_are_ours() -> None:
    assert issubclass(CelError, Exception)
    assert CelError.__mro__[1].__name__ == "LedgerAgentError"
