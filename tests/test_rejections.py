"""Rejections: what counts as the same one, and what is progress."""

from __future__ import annotations

from ledgeragent.entry import Evidence
from ledgeragent.paths import Path
from ledgeragent.rejections import Rejections
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Decision, Finding, Kind, Verdict

GET, LIST = ToolCall(name="get_book"), ToolCall(name="list_books")
LEND = ToolCall(name="lend_book", arguments={"days": 3}, id="1")


def fact(value: Json, field: str = "status") -> Evidence:
    return Evidence(Path(("books", "B1")), (field,), value, GET, 1)


def violation(rule: str = "lending/out", *facts: Evidence) -> Finding:
    return Finding(Kind.VIOLATION, rule, None, Decision.REVISE, "no", evidence=facts)


def missing(rule: str, *reads: ToolCall, waits_for: tuple[ToolCall, ...] = ()) -> Finding:
    return Finding(
        Kind.EVIDENCE, rule, None, Decision.REVISE, "read first", reads, waits_for=waits_for
    )


def rejected(*findings: Finding, call: ToolCall = LEND) -> Verdict:
    return Verdict(call, Decision.REVISE, findings)


def repeats(first: Verdict, second: Verdict) -> int:
    """How often the second counts as given, after the first."""
    return Rejections().add(first).of(second)


def test_nothing_was_given_before_the_first_rejection() -> None:
    assert Rejections().of(rejected(violation())) == 0


def test_each_time_a_rejection_is_given_counts() -> None:
    memory = Rejections()
    for times in range(4):
        assert memory.of(rejected(violation())) == times
        memory = memory.add(rejected(violation()))


def test_the_same_rejection_twice_in_one_reply_counts_once() -> None:
    out, fines = rejected(violation()), rejected(violation("lending/fines"))
    memory = Rejections().add(out, out, fines).add(out, out, out)
    assert memory.of(out) == 2 and memory.of(fines) == 1


def test_a_fact_that_a_rule_reads_again_and_again_is_one_ground() -> None:
    once = fact("out")
    assert repeats(rejected(violation("r", once)), rejected(violation("r", once, once, once))) == 1


def test_a_memory_is_not_changed_by_adding_to_it() -> None:
    before = Rejections().add(rejected(violation()))
    before.add(rejected(violation())).add(rejected(violation("lending/fines")))
    assert before.of(rejected(violation())) == 1
    assert before.of(rejected(violation("lending/fines"))) == 0


def test_the_same_call_under_another_id_or_in_another_order_is_the_same() -> None:
    one = ToolCall(name="lend_book", arguments={"a": 1, "b": 2}, id="1")
    other = ToolCall(name="lend_book", arguments={"b": 2, "a": 1}, id="2")
    assert repeats(rejected(violation(), call=one), rejected(violation(), call=other)) == 1


def test_another_call_rule_or_fact_is_another_rejection() -> None:
    first = rejected(violation("lending/out", fact("out")))
    for second in (
        rejected(violation("lending/out", fact("out")), call=ToolCall(name="renew_book")),
        rejected(violation("lending/out", fact("out")), call=ToolCall(name="lend_book")),
        rejected(violation("lending/fines", fact("out"))),
        rejected(violation("lending/out", fact("lost"))),
        rejected(violation("lending/out", fact("out", "state"))),
        rejected(violation("lending/out")),
    ):
        assert repeats(first, second) == 0


def test_one_of_several_violations_that_stays_is_given_again() -> None:
    both = rejected(violation("lending/out"), violation("lending/fines"))
    assert repeats(both, rejected(violation("lending/fines"))) == 1
    assert repeats(rejected(violation("lending/out")), both) == 1


def test_the_highest_count_of_several_is_told() -> None:
    out, fines = violation("lending/out"), violation("lending/fines")
    memory = Rejections().add(rejected(out)).add(rejected(out)).add(rejected(fines))
    assert memory.of(rejected(fines, out)) == memory.of(rejected(out, fines)) == 2


def test_reading_one_thing_of_several_that_are_asked_for_is_progress() -> None:
    both = rejected(missing("lending/out", GET), missing("lending/fines", LIST))
    assert repeats(both, both) == 1
    assert repeats(both, rejected(missing("lending/out", GET))) == 0
    assert repeats(both, rejected(violation(), missing("lending/out", GET))) == 0


def test_asking_for_another_read_or_waiting_for_another_call_is_another_rejection() -> None:
    first = rejected(missing("lending/out", GET))
    assert repeats(first, rejected(missing("lending/out", LIST))) == 0
    assert repeats(first, rejected(missing("lending/out"))) == 0
    waiting = rejected(missing("lending/out", waits_for=(GET,)))
    assert repeats(waiting, rejected(missing("lending/out", waits_for=(LIST,)))) == 0
    assert repeats(waiting, waiting) == 1


def test_what_a_call_lacked_has_come_once_it_lacks_something_else() -> None:
    book, member = missing("lending/out", GET), missing("lending/fines", LIST)
    memory = Rejections()
    for finding in (book, book, book, member):
        memory = memory.add(rejected(finding))
    assert memory.of(rejected(book)) == 0
    assert memory.add(rejected(book)).of(rejected(book)) == 1


def test_what_speaks_against_a_call_is_remembered_whatever_it_lacks() -> None:
    memory = Rejections().add(rejected(violation())).add(rejected(missing("lending/out", GET)))
    assert memory.add(rejected(missing("lending/fines", LIST))).of(rejected(violation())) == 1


def test_what_another_call_lacks_changes_nothing() -> None:
    other = ToolCall(name="renew_book", id="2")
    memory = Rejections().add(rejected(missing("lending/out", GET)))
    memory = memory.add(rejected(missing("lending/fines", LIST), call=other))
    assert memory.of(rejected(missing("lending/out", GET))) == 1


def test_half_a_character_in_a_fact_is_remembered_too() -> None:
    half = rejected(violation("lending/out", fact("\ud800")))
    assert repeats(half, half) == 1
    assert repeats(half, rejected(violation("lending/out", fact("\ud801")))) == 0
