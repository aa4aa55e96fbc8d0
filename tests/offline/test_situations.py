"""Situations: one reply of several calls, judged as one, each call by what may be answered to it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ledgeragent.errors import DataError
from ledgeragent.gate import Delivery, Filtered, Gate
from ledgeragent.ledger import Ledger
from ledgeragent.offline.cases import decision, is_right, judge_case, judge_cases
from ledgeragent.offline.labelled import (
    ALLOW,
    REJECT,
    REVISE_READ,
    SITUATION,
    Expected,
    read_cases,
)
from ledgeragent.rejections import Rejections
from ledgeragent.types import Json, Reply, ToolCall
from ledgeragent.verdict import Decision, Enforcement, Finding, Kind, Verdict
from tests.cli.branches import NEW
from tests.cli.command import BOOK, MEMBER, OWES, said
from tests.offline.test_cases import LEND, LONG, READ_BOOK, READ_MEMBER, case


def situation(
    *calls: tuple[Json, list[str]], steps: tuple[list[Json], ...] = (), **more: Json
) -> Any:
    """A row about a reply of these calls, each with what may be answered to it, after these steps."""
    messages = [said("Lend me Ferns"), *(message for step in steps for message in step)]
    listed = [{**call, "accept": accept} for call, accept in calls]
    return {
        "id": "s1",
        "domain": "lending",
        "policy": "Who owes nothing may borrow.",
        "note": "",
        "messages": messages,
        "calls": listed,
        **more,
    }


def written(folder: Path, *rows: Json) -> Path:
    """A file of these rows."""
    file = folder / "situations.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


def judged(folder: Path, *rows: Json) -> Any:
    """The result on these rows."""
    return judge_cases(read_cases(str(written(folder, *rows))), NEW)


def right(folder: Path, row: Json) -> bool:
    """True if the row is judged as it says."""
    result = judged(folder, row)
    assert result.decided.cases == 1
    return bool(result.decided.correct == 1)


def test_every_call_of_a_reply_has_to_be_answered_as_it_says(tmp_path: Path) -> None:
    known = (BOOK, MEMBER)
    assert right(tmp_path, situation((LEND, [ALLOW]), (LONG, [REJECT]), steps=known))
    assert not right(tmp_path, situation((LEND, [ALLOW]), (LONG, [ALLOW]), steps=known))
    assert not right(tmp_path, situation((LEND, [REJECT]), (LONG, [REJECT]), steps=known))
    assert right(tmp_path, situation((LEND, [REJECT, REVISE_READ]), steps=(BOOK,)))
    assert not right(tmp_path, situation((LEND, [ALLOW, REJECT]), steps=(BOOK,)))


def test_a_row_is_one_case_and_each_wrong_call_of_it_is_told(tmp_path: Path) -> None:
    row = situation(
        (LEND, [REJECT]), (LONG, [ALLOW]), (READ_BOOK, [ALLOW]), steps=(BOOK, MEMBER), note="why"
    )
    result = judged(tmp_path, row)
    assert (result.decided.cases, result.decided.correct) == (1, 0)
    assert [m["call"] for m in result.decided.mismatches] == [LEND, LONG]
    assert [m["expected"] for m in result.decided.mismatches] == [
        {"accept": [REJECT]},
        {"accept": [ALLOW]},
    ]
    assert [m["decision"] for m in result.decided.mismatches] == [ALLOW, REJECT]
    assert {m["note"] for m in result.decided.mismatches} == {"why"}


def test_letting_all_through_is_wrong_where_that_is_said(tmp_path: Path) -> None:
    either = [ALLOW, REJECT, REVISE_READ]
    reads = ((READ_BOOK, either), (READ_MEMBER, either))
    assert right(tmp_path, situation(*reads))
    (mismatch,) = judged(tmp_path, situation(*reads, not_all_allowed=True)).decided.mismatches
    assert (mismatch["expected"], mismatch["decision"]) == ({"not_all_allowed": True}, ALLOW)
    calls = ((READ_BOOK, either), (LEND, either))
    assert right(tmp_path, situation(*calls, steps=(BOOK, OWES), not_all_allowed=True))
    assert right(tmp_path, situation(*calls, steps=(BOOK,), not_all_allowed=True))


@pytest.mark.parametrize("name", ["days", "lending/days"])
def test_a_rejection_has_to_come_from_a_rule_that_would_be_right(tmp_path: Path, name: str) -> None:
    def row(*names: str) -> Json:
        call = {**LONG, "rule_any": [*names]}
        return situation((call, [REJECT]), steps=(BOOK, MEMBER))

    assert right(tmp_path, row(name))
    assert right(tmp_path, row("other", name))
    assert not right(tmp_path, row("fines"))
    assert not right(tmp_path, row("ays"))
    (mismatch,) = judged(tmp_path, row("fines")).decided.mismatches
    assert mismatch["expected"] == {"accept": [REJECT], "rule_any": ["fines"]}


def test_a_short_name_of_a_rule_is_its_last_words() -> None:
    def named(name: str) -> bool:
        found = finding(Kind.VIOLATION, Decision.BLOCK, "lending/late-return-fine")
        expected = Expected(accept=(REJECT,), rules=(name,), label=None)
        return is_right(found, expected, NEW)

    assert named("late-return-fine") and named("return-fine") and named("fine")
    assert not named("turn-fine")
    assert not named("late-return")


def finding(kind: Kind, decision_: Decision, rule: str, **more: Any) -> Verdict:
    """A verdict of this one finding."""
    found = Finding(kind, rule, None, decision_, "a reason", **more)
    return Verdict(ToolCall(name="lend_book"), decision_, (found,))


def test_whatever_asserts_no_violation_is_a_request() -> None:
    assert decision(finding(Kind.EVIDENCE, Decision.REVISE, "gate/wait")) == REVISE_READ
    assert decision(finding(Kind.UNDECIDED, Decision.BLOCK, "lending/fines")) == REVISE_READ
    assert decision(finding(Kind.VIOLATION, Decision.BLOCK, "lending/fines")) == REJECT
    assert decision(finding(Kind.VIOLATION, Decision.REVISE, "gate/arguments")) == REJECT


def test_what_a_rule_only_warns_of_or_cannot_decide_is_allowed() -> None:
    call = ToolCall(name="lend_book")
    for kind, level in ((Kind.VIOLATION, Enforcement.WARN), (Kind.UNDECIDED, Enforcement.AUDIT)):
        shadow = Finding(kind, "lending/fines", None, Decision.REVISE, "", enforcement=level)
        assert decision(Verdict(call, Decision.ALLOW, (), (shadow,))) == ALLOW


def test_the_gates_own_findings_are_rejections(tmp_path: Path) -> None:
    unreadable = {"name": "lend_book", "arguments": {"member_id": "M1"}}
    nowhere = {"name": "burn_book", "arguments": {}}
    assert right(tmp_path, situation((unreadable, [REJECT]), (nowhere, [REJECT])))


class Watched(Gate):
    """A gate that keeps what it was asked to filter."""

    asked: ClassVar[list[tuple[Reply, Ledger]]] = []

    def filter(
        self,
        reply: Reply,
        ledger: Ledger,
        rejections: Rejections | None = None,
        delivery: Delivery = "drop",
        running: Sequence[ToolCall] = (),
    ) -> Filtered:
        self.asked.append((reply, ledger))
        return super().filter(reply, ledger, rejections, delivery, running)


def test_the_calls_of_a_row_are_one_reply_on_what_was_read_before(tmp_path: Path) -> None:
    row = situation((READ_BOOK, [ALLOW]), (LEND, [REVISE_READ]), steps=(BOOK,))
    (one,) = read_cases(str(written(tmp_path, row)))
    Watched.asked.clear()
    assert judge_case(one, Watched(domain=NEW)) == []
    ((reply, ledger),) = Watched.asked
    assert [call.name for call in reply.calls] == ["get_book", "lend_book"]
    assert len({call.id for call in reply.calls}) == 2
    assert [str(entry.path) for entry in ledger] == ["books.B1"]


def test_a_labelled_case_is_a_reply_of_one_call(tmp_path: Path) -> None:
    file = written(tmp_path, case(LEND, BOOK, MEMBER), situation((LEND, [ALLOW])))
    one, other = read_cases(str(file))
    assert [len(one.proposals), len(other.proposals)] == [1, 1]
    assert (one.kind, other.kind) == ("compliant", SITUATION)
    assert one.proposals[0].call.arguments == other.proposals[0].call.arguments


def test_a_row_may_leave_out_all_but_its_id_its_messages_and_its_calls(tmp_path: Path) -> None:
    whole = situation((LEND, [ALLOW]), steps=(BOOK, MEMBER))
    bare = {name: whole[name] for name in ("id", "messages", "calls")}
    assert right(tmp_path, bare)
    assert right(tmp_path, {**bare, "note": None, "not_all_allowed": None, "kind": "reply"})


def test_rows_are_counted_by_file_and_a_folder_is_all_its_files(tmp_path: Path) -> None:
    for name, row in (
        ("b.jsonl", case(LEND, BOOK, MEMBER)),
        ("a.jsonl", situation((LEND, [ALLOW]))),
    ):
        (tmp_path / name).write_text(json.dumps(row))
    (tmp_path / "README.md").write_text("Not rows.")
    result = judge_cases(read_cases(str(tmp_path)), NEW)
    counts = [(Path(f).name, score.correct) for f, score in result.by_file.items()]
    assert counts == [("a.jsonl", 0), ("b.jsonl", 1)]
    assert {kind: score.cases for kind, score in result.by_kind.items()} == {
        SITUATION: 1,
        "compliant": 1,
    }


def test_a_folder_without_such_files_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "cases.txt").touch()
    with pytest.raises(DataError, match=r"no file that ends in \.jsonl or \.jsonl\.gz"):
        list(read_cases(str(tmp_path)))


@pytest.mark.parametrize(
    ("domain", "rows"), [("airline", 89), ("retail", 75), ("telecom", 44), ("telehealth", 100)]
)
def test_the_situations_at_hand_can_be_read(data_dir: Path, domain: str, rows: int) -> None:
    cases = list(read_cases(str(data_dir / "benchmarks" / "situations" / f"{domain}.jsonl.gz")))
    assert len(cases) == rows
    assert {one.domain for one in cases} == {domain}
    assert all(proposal.expected.accept for one in cases for proposal in one.proposals)
