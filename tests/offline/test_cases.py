"""Labelled cases: when a verdict is right, by which clause, naming which read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.domain import Domain
from ledgeragent.offline.cases import ERROR, judge_cases
from ledgeragent.offline.labelled import read_cases
from ledgeragent.packs import load_domain
from ledgeragent.types import Json
from tests.cli.branches import NEW
from tests.cli.command import BOOK, MEMBER, OWES, said
from tests.lending.domain import BOOK_OUT

LEND = {"name": "lend_book", "arguments": {"member_id": "M1", "book_id": "B1", "days": 5}}
LONG = {"name": "lend_book", "arguments": {"member_id": "M1", "book_id": "B1", "days": 99}}
READ_MEMBER = {"name": "get_member", "arguments": {"member_id": "M1"}}
READ_BOOK = {"name": "get_book", "arguments": {"book_id": "B1"}}


def case(call: Json, *steps: list[Json], **known: Json) -> dict[str, Any]:
    """A row about this call after these steps; what is known of it is its label, or a field."""
    fields = {name: known.pop(name) for name in ("id", "kind", "domain") if name in known}
    messages = [said("Lend me Ferns"), *(message for step in steps for message in step)]
    label = {"decision": "allow", "clause": None, "read": None, **known}
    row = {"id": "c1", "domain": "lending", "kind": "compliant", "clause": label["clause"]}
    return {**row, **fields, "messages": messages, "call": call, "expect": label}


def judged(folder: Path, *rows: Json, domain: Domain = NEW) -> Any:
    """The result on a file of these rows."""
    file = folder / "cases.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return judge_cases(read_cases(str(file)), domain)


def right(folder: Path, row: Json) -> bool:
    """True if the row is judged as labelled."""
    result = judged(folder, row)
    assert result.decided.cases + result.apart.cases == 1
    return bool(result.decided.correct + result.apart.correct == 1)


def test_an_allowed_call_is_right_where_the_label_allows_it(tmp_path: Path) -> None:
    assert right(tmp_path, case(LEND, BOOK, MEMBER))
    assert not right(tmp_path, case(LONG, BOOK, MEMBER))


def test_a_rejection_has_to_come_from_the_clause_or_one_that_will_do(tmp_path: Path) -> None:
    def labelled(clause: str, *others: str) -> bool:
        label = {"decision": "reject", "clause": clause, "clause_any": list(others)}
        return right(tmp_path, case(LONG, BOOK, MEMBER, **label))

    assert labelled("lending/days")
    assert labelled("lending/other", "lending/days")
    assert not labelled("lending/fines")


def test_a_block_is_a_rejection_too(tmp_path: Path) -> None:
    assert right(tmp_path, case(LEND, BOOK, OWES, decision="reject", clause="lending/fines"))


def test_a_rejection_of_a_right_call_is_wrong_and_so_is_letting_a_wrong_one_through(
    tmp_path: Path,
) -> None:
    assert not right(tmp_path, case(LEND, BOOK, OWES))
    assert not right(tmp_path, case(LEND, BOOK, MEMBER, decision="reject", clause="lending/fines"))


def test_a_request_has_to_name_the_read_or_one_that_will_do(tmp_path: Path) -> None:
    def labelled(read: Json, *others: Json) -> bool:
        label = {"decision": "revise_read", "read": read, "read_any": list(others)}
        return right(tmp_path, case(LEND, BOOK, **label))

    assert labelled(READ_MEMBER)
    assert labelled(READ_BOOK, READ_MEMBER)
    assert labelled(None)
    assert not labelled(READ_BOOK)
    assert not labelled({"name": "get_member", "arguments": {"member_id": "M2"}})


def test_a_lookup_is_named_by_its_tool(tmp_path: Path) -> None:
    by_email = {"name": "find_user_id_by_email", "arguments": {"email": "ada@example.org"}}
    cancel = {
        "name": "cancel_pending_order",
        "arguments": {"order_id": "#W1", "reason": "no longer needed"},
    }
    row = case(cancel, domain="retail", decision="revise_read", read=by_email)
    result = judged(tmp_path, row, domain=load_domain("retail"))
    assert (result.decided.cases, result.decided.mismatches) == (1, [])


def test_a_request_is_no_rejection_and_a_rejection_no_request(tmp_path: Path) -> None:
    assert not right(tmp_path, case(LEND, BOOK, decision="reject", clause="lending/fines"))
    assert not right(tmp_path, case(LONG, BOOK, decision="revise_read", read=READ_MEMBER))


def test_any_of_the_accepted_decisions_is_right(tmp_path: Path) -> None:
    both = {"decision": "reject", "accept": ["revise_read", "reject"], "clause": "lending/fines"}
    assert right(tmp_path, case(LEND, BOOK, **both))
    assert right(tmp_path, case(LEND, BOOK, OWES, **both))
    assert not right(tmp_path, case(LEND, BOOK, MEMBER, **both))


def test_a_predicate_that_fails_is_never_right(tmp_path: Path) -> None:
    shelve = {"name": "shelve_book", "arguments": {"book_id": "B1"}}
    result = judged(tmp_path, case(shelve, decision="reject", clause="lending/shelves"))
    assert [row["decision"] for row in result.decided.mismatches] == [ERROR]


def test_cases_that_words_decide_are_scored_apart(tmp_path: Path) -> None:
    rude = case(LEND, BOOK, MEMBER, decision="reject", clause="lending/polite", id="rude")
    result = judged(tmp_path, rude, case(LEND, BOOK, MEMBER))
    assert (result.decided.cases, result.decided.correct) == (1, 1)
    assert (result.apart.cases, result.apart.correct) == (1, 0)
    assert [row["id"] for row in result.apart.mismatches] == ["rude"]
    assert list(result.by_kind) == ["compliant"]


def test_cases_are_counted_by_kind_and_those_of_other_domains_skipped(tmp_path: Path) -> None:
    rows = (
        case(LEND, domain="retail", id="other"),
        case(LEND, BOOK, kind="stale", decision="revise_read", read=READ_MEMBER, id="stale"),
        case(LEND, BOOK, MEMBER, id="good"),
        case(LONG, BOOK, MEMBER, id="long"),
    )
    result = judged(tmp_path, *rows)
    counts = {kind: (score.cases, score.correct) for kind, score in result.by_kind.items()}
    assert counts == {"stale": (1, 1), "compliant": (2, 1)}
    assert result.skipped == 1


def test_a_mismatch_tells_what_was_read_and_what_was_asked_for(tmp_path: Path) -> None:
    out = [{**BOOK[1], "content": json.dumps(BOOK_OUT)}]
    (row,) = judged(tmp_path, case(LEND, BOOK[:1] + out, id="out")).decided.mismatches
    assert (row["id"], row["decision"]) == ("out", "reject")
    assert row["predicates"] == ["lending/available", "lending/fines"]
    assert row["reads"] == [READ_MEMBER]
    assert row["expected"]["decision"] == "allow"
    assert row["reason"].startswith("book B1 is out; members.M1 has not been read yet")
    assert [(fact["path"], fact["value"]) for fact in row["evidence"]] == [
        ("books.B1.status", "out")
    ]


@pytest.mark.parametrize("domain", ["airline", "retail", "telecom", "telehealth"])
def test_the_labelled_cases_of_every_pack(data_dir: Path, domain: str) -> None:
    file = data_dir / "benchmarks" / "cases" / f"{domain}.jsonl.gz"
    result = judge_cases(read_cases(str(file)), load_domain(domain))
    assert result.decided.cases > 200
    assert result.decided.mismatches == []
