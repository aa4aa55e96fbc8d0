"""Predicates: reading is asking, every fact is noted, and a violation speaks plainly."""

from __future__ import annotations

from typing import Any

import pytest

from ledgeragent.errors import DomainError
from ledgeragent.ledger import Entry, Ledger, Touch
from ledgeragent.predicates import (
    MissingEvidence,
    Predicate,
    Private,
    StalePolicy,
    View,
    demand,
    predicate,
    violation,
)
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Decision, Enforcement
from tests.lending.domain import (
    ADA,
    AUTH,
    BOOK,
    BOTH_READ,
    GET_BOOK,
    LEND,
    LIBRARY,
    MEMBER,
    call,
    read,
)


def view(ledger: Ledger = BOTH_READ, stale: StalePolicy = "unknown") -> View:
    return View(ledger, LIBRARY.parameters, stale)


def facts(seen: View) -> list[tuple[str, Json]]:
    return [(fact.path, fact.value) for fact in seen.evidence]


def touched(*fields: str, by: ToolCall = LEND) -> Ledger:
    """Both read, then these fields of the member written."""
    return BOTH_READ.wrote(by, [Touch(MEMBER("M1"), tuple(f.split("."))) for f in fields])


def test_a_predicate_has_the_options_that_it_is_declared_with() -> None:
    def check(call: object, view: View) -> None:
        """It decides this.

        And explains more.
        """

    plain = predicate("lending/x", guards="lend_book")(check)
    assert plain == Predicate(
        id="lending/x", guards=("lend_book",), clause="lending/x", check=check
    )
    assert (plain.decision, plain.enforcement) == (Decision.REVISE, Enforcement.ENFORCE)
    assert (plain.versions, plain.identity, plain.undecided) == (frozenset(), False, Decision.ALLOW)
    assert plain.summary == "It decides this."
    options: dict[str, Any] = {
        "guards": ("lend_book", "move_member"),
        "clause": "lending/c",
        "decision": Decision.BLOCK,
        "enforcement": Enforcement.WARN,
        "identity": True,
        "undecided": Decision.REVISE,
    }
    declared = predicate("lending/x", versions=("1", "2"), **options)(check)
    assert declared == Predicate(
        id="lending/x", check=check, versions=frozenset({"1", "2"}), **options
    )


def test_a_check_without_a_docstring_has_no_summary() -> None:
    assert predicate("lending/x", guards="lend_book")(lambda call, view: None).summary == ""


def test_a_private_fact_is_for_the_model_and_the_user_hears_something_else() -> None:
    broken = violation(
        "{who} owes {sum} for {books}",
        who=Private("Ada", "the member"),
        sum=Private(["2", "3"], "money"),
        books=["Ferns"],
    )
    assert broken.reason == "Ada owes 2 or 3 for Ferns"
    assert str(broken.public) == "the member owes money for Ferns"
    assert violation("{who} owes", who="Ada").public == ""


def test_no_fact_of_a_violation_ends_a_line_whoever_hears_it() -> None:
    broken = violation("{a}", a=Private("x\n", "y\n"))
    assert (broken.reason, str(broken.public)) == ("x\\u000a", "y\\u000a")
    assert len(violation("{a}", a="x" * 1000).reason) < 210


def test_each_fact_read_is_noted_with_its_source() -> None:
    seen = view()
    assert seen[MEMBER("M1")]["address"]["city"] == "Delft"
    assert seen[MEMBER("M1")]["fines"] == 0.0
    assert facts(seen) == [("members.M1.address.city", "Delft"), ("members.M1.fines", 0.0)]
    assert {str(fact.source) for fact in seen.evidence} == {'get_member(member_id="M1")'}


def test_a_fact_read_again_is_noted_again_so_that_each_rule_has_its_own() -> None:
    seen = view()
    for _ in range(2):
        assert seen[BOOK("B1")]["status"] == "in"
    assert facts(seen) == [("books.B1.status", "in")] * 2


def test_a_record_never_read_is_missing() -> None:
    seen = view()
    with pytest.raises(MissingEvidence) as missing:
        seen[BOOK("B2")]
    assert missing.value.path == BOOK("B2") and missing.value.stale is None
    assert seen.evidence == []


def test_a_field_that_the_record_lacks_is_missing() -> None:
    seen = view(read((call("list_books", word="f"), [{"book_id": "B1", "title": "Ferns"}])))
    with pytest.raises(MissingEvidence) as missing:
        seen[BOOK("B1")]["status"]
    assert missing.value.fields == ("status",)


def test_text_that_is_no_record_counts_as_never_read() -> None:
    entry = Entry(path=BOOK("B1"), value="Ferns, in", source=GET_BOOK, turn=0, typed=False)
    seen = view(Ledger().put(entry))
    with pytest.raises(MissingEvidence):
        seen[BOOK("B1")]
    assert seen.get(BOOK("B1")) is None
    assert list(seen.glob(BOOK)) == []


@pytest.mark.parametrize("field", ["fines", "loans"])
def test_a_field_written_since_is_missing_and_the_others_are_not(field: str) -> None:
    seen = view(touched(field))
    assert seen[MEMBER("M1")]["name"] == "Ada"
    with pytest.raises(MissingEvidence) as missing:
        seen[MEMBER("M1")][field]  # type: ignore[literal-required]
    assert missing.value.stale is not None and missing.value.stale.by is LEND


def test_staleness_reaches_as_deep_as_it_was_declared() -> None:
    seen = view(touched("address.city"))
    assert seen[MEMBER("M1")]["address"]["street"] == "Dam 1"
    with pytest.raises(MissingEvidence):
        seen[MEMBER("M1")]["address"]["city"]
    with pytest.raises(MissingEvidence):
        view(touched("address"))[MEMBER("M1")]["address"]["street"]


def test_a_list_is_unknown_if_something_inside_it_was_written() -> None:
    with pytest.raises(MissingEvidence):
        view(touched("loans.0"))[MEMBER("M1")]["loans"]


def test_keys_of_a_record_written_as_a_whole_are_unknown() -> None:
    record = view(BOTH_READ.wrote(LEND, [Touch(MEMBER("M1"))]))[MEMBER("M1")]
    for look in (len, list, dict):
        with pytest.raises(MissingEvidence):
            look(record)
    with pytest.raises(MissingEvidence):
        "name" in record  # noqa: B015
    with pytest.raises(MissingEvidence):
        record.get("nickname")


def test_a_stale_scalar_is_missing() -> None:
    who = read((call("find_member", email="ada@example.com"), "M1"))
    assert view(who)[AUTH()] == "M1"
    with pytest.raises(MissingEvidence):
        view(who.wrote(LEND, [Touch(AUTH())]))[AUTH()]


def test_the_papers_literal_reading_judges_old_values() -> None:
    seen = view(touched("fines", "address"), stale="value")
    assert seen[MEMBER("M1")]["fines"] == 0.0
    assert seen[MEMBER("M1")]["address"]["city"] == "Delft"


def test_a_record_is_a_mapping_that_notes_what_it_is_asked() -> None:
    seen = view()
    member = seen[MEMBER("M1")]
    assert "fines" in member and "nickname" not in member
    assert len(member) == 5 and list(member) == list(ADA)
    assert {path for path, _ in facts(seen)} == {"members.M1"}
    assert member.get("nickname", "none") == "none"
    assert member.get("name") == "Ada"
    assert facts(seen)[-1] == ("members.M1.name", "Ada")


def test_plain_gives_all_of_a_record_as_one_fact() -> None:
    seen = view()
    address = seen[MEMBER("M1")]["address"]
    assert address.plain() == ADA["address"]  # type: ignore[attr-defined]
    assert facts(seen) == [("members.M1.address", ADA["address"])]
    with pytest.raises(MissingEvidence):
        view(touched("address.city"))[MEMBER("M1")]["address"].plain()  # type: ignore[attr-defined]


def test_get_asks_for_nothing() -> None:
    seen = view()
    assert seen.get(BOOK("B2")) is None
    found = seen.get(BOOK("B1"))
    assert found is not None and found["status"] == "in"


def test_glob_finds_every_observed_record_of_a_family() -> None:
    books = [{"book_id": f"B{n}", "title": "x"} for n in (3, 1)]
    seen = view(read((call("list_books", word="x"), books)))
    assert [(path, book["title"]) for path, book in seen.glob(BOOK)] == [
        (BOOK("B3"), "x"),
        (BOOK("B1"), "x"),
    ]


def test_a_rule_can_look_at_the_conversation() -> None:
    ledger = BOTH_READ.heard().wrote(LEND, []).without(call("get_book", book_id="B7"), "withdrawn")
    seen = view(ledger)
    assert (seen.turn, seen.writes) == (1, (LEND,))
    assert seen.unavailable(call("get_book", id="other", book_id="B7")) == "withdrawn"
    assert seen.unavailable(call("get_book", book_id="B8")) is None
    entry = seen.entry(BOOK("B1"))
    assert entry is not None and entry.source is GET_BOOK
    assert seen.entry(BOOK("B2")) is None
    assert seen.parameters["longest_loan"] == 28


def test_demand_names_the_reads_itself() -> None:
    with pytest.raises(MissingEvidence) as missing:
        demand(BOOK("B1"), GET_BOOK, call("list_books", word="B1"))
    assert [r.name for r in missing.value.reads] == ["get_book", "list_books"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("B1", "B1"),
        (7, "7"),
        (["a"], "a"),
        (["a", "b", "c"], "a, b or c"),
        ({"b", "a"}, "a or b"),
        (frozenset({"b", "a"}), "a or b"),
        ((1, 2), "1 or 2"),
        ([], "nothing"),
        (None, "None"),
        ("two\nlines <b>", "two\\u000alines \\u003cb\\u003e"),
        (["a\nb"], "a\\u000ab"),
    ],
)
def test_a_violation_speaks_its_facts(value: Json, said: str) -> None:
    assert violation("wrong: {value}", value=value).reason == f"wrong: {said}"


def test_a_fact_from_outside_cannot_drown_the_sentence() -> None:
    reason = violation("{note} is no reason", note="x" * 100_000).reason
    assert len(reason) < 300 and reason.endswith("... is no reason")


def test_braces_in_a_fact_are_left_alone() -> None:
    assert violation("{note}", note="{secret}").reason == "{secret}"


def test_a_predicate_carries_what_it_enforces() -> None:
    @predicate("lending/quiet", guards="lend_book")
    def quiet(arguments: Json, ledger: View) -> None:
        """Nobody shouts.

        Not even here.
        """

    assert isinstance(quiet, Predicate)
    assert (quiet.id, quiet.clause, quiet.guards) == (
        "lending/quiet",
        "lending/quiet",
        ("lend_book",),
    )
    assert (quiet.decision, quiet.enforcement) == (Decision.REVISE, Enforcement.ENFORCE)
    assert quiet.summary == "Nobody shouts."
    assert quiet.versions == frozenset()


def test_a_predicate_can_enforce_another_clause_in_some_versions() -> None:
    made = predicate("a/b", guards=("x", "y"), clause="a/c", versions=("1",))(
        lambda call, view: None
    )
    assert (made.clause, made.guards, made.versions) == ("a/c", ("x", "y"), frozenset({"1"}))
    assert made.summary == ""


@pytest.mark.parametrize("id", ["quiet", "a/b/c", "a/", "/b", "a b/c", ""])
def test_a_predicate_id_has_a_domain_and_a_name(id: str) -> None:
    with pytest.raises(DomainError):
        predicate(id, guards="lend_book")


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{who} owes 100% of {sum}", "Ada\\u000a owes 100% of 2.5"),
        ("{who!s} owes {sum:.2f}", "Ada\\u000a owes 2.50"),
        ("{{who}} is {who}", "{who} is Ada\\u000a"),
        ("<b> owes 100%\n", "\\u003cb\\u003e owes 100%\\u000a"),
        ("{sum} {sum}", "2.5 2.5"),
    ],
)
def test_a_reason_is_one_line_however_its_template_is_written(template: str, reason: str) -> None:
    for _ in range(2):
        assert violation(template, who="Ada\n", sum=2.5).reason == reason


def test_a_template_that_names_a_fact_which_is_not_given_is_an_error() -> None:
    with pytest.raises(KeyError, match="who"):
        violation("{who} owes {sum}", sum=2)
