"""The ledger: latest observation per path, marks of what was written since, nothing edited."""

from __future__ import annotations

from ledgeragent.ledger import Entry, Ledger, Stale, Touch, Unconfirmed, Utterance
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.types import Json, ToolCall

ORDER = PathTemplate("orders.{order_id}", dict)
LINE = PathTemplate("orders.{order_id}.lines.{line}", dict)
READ = ToolCall(name="get_order", arguments={"order_id": "1"})
LIST = ToolCall(name="list_orders")
PAY = ToolCall(name="pay_order", arguments={"order_id": "1"})


def entry(
    value: Json, path: Path[Json] | None = None, source: ToolCall = READ, turn: int = 1
) -> Entry:
    return Entry(path=path or ORDER("1"), value=value, source=source, turn=turn)


def at(ledger: Ledger, key: str = "1") -> Entry:
    found = ledger.get(ORDER(key))
    assert found is not None
    return found


def test_the_latest_observation_wins() -> None:
    first = Ledger().put(entry({"status": "open"}))
    second = first.put(entry({"status": "paid"}))
    assert at(first).value == {"status": "open"}
    assert at(second).value == {"status": "paid"}
    assert len(first) == len(second) == 1


def test_a_path_never_observed_has_no_entry() -> None:
    ledger = Ledger().put(entry({}))
    assert ledger.get(ORDER("2")) is None
    assert ledger.get(Path(("users", "1"))) is None
    assert len(Ledger()) == 0 and list(Ledger()) == []


def test_a_family_is_found_in_order_of_first_observation() -> None:
    ledger = Ledger()
    for key in ("2", "1", "3", "2"):
        ledger = ledger.put(entry({"k": key}, ORDER(key)))
    ledger = ledger.put(entry({}, LINE("1", "a")))
    assert [e.path[1] for e in ledger.glob(ORDER)] == ["2", "1", "3"]
    assert [e.path for e in ledger.glob(LINE)] == [LINE("1", "a")]
    assert list(ledger.glob(PathTemplate("users.{id}", dict))) == []


def test_a_write_is_remembered_and_marks_only_what_it_touched() -> None:
    before = Ledger().put(entry({"status": "open", "total": 5})).put(entry({}, ORDER("2")))
    after = before.wrote(PAY, [Touch(ORDER("1"), ("status",)), Touch(ORDER("9"))])
    assert after.writes == (PAY,) and before.writes == ()
    assert at(after).value == {"status": "open", "total": 5}
    assert at(after).stale_at(("status",)) == Stale(("status",), PAY)
    assert at(after).stale_at(("status", "code")) is not None
    assert at(after).stale_at(("total",)) is None
    assert at(after).stale_at(()) is None
    assert at(after, "2").stale == () and at(before).stale == ()
    assert after.get(ORDER("9")) is None


def test_a_whole_record_that_was_touched_is_unknown_in_every_field() -> None:
    after = Ledger().put(entry({"status": "open"})).wrote(PAY, [Touch(ORDER("1"))])
    assert at(after).stale_at(("status",)) is not None
    assert at(after).stale_at(()) is not None


def test_one_write_can_touch_a_record_twice() -> None:
    touched = [Touch(ORDER("1"), ("status",)), Touch(ORDER("1"), ("total",))]
    after = Ledger().put(entry({})).wrote(PAY, touched)
    assert [mark.fields for mark in at(after).stale] == [("status",), ("total",)]


def test_reading_again_clears_the_marks() -> None:
    ledger = Ledger().put(entry({"status": "open"})).wrote(PAY, [Touch(ORDER("1"))])
    assert at(ledger.put(entry({"status": "paid"}))).stale == ()


def test_a_turn_of_the_user_counts_and_marks_what_they_may_change_once() -> None:
    ledger = Ledger().put(entry({"status": "open"}))
    touched = [Touch(ORDER("1"), ("status",))]
    twice = ledger.heard(touched).heard(touched)
    assert twice.turn == 2
    assert at(twice).stale == (Stale(("status",), None),)


def test_a_merge_keeps_the_fields_that_it_does_not_supply() -> None:
    ledger = Ledger().put(entry({"status": "open", "total": 5, "note": "x"}, turn=1))
    listed = entry({"status": "paid"}, source=LIST, turn=2)
    merged = at(ledger.merge(listed))
    assert merged.value == {"status": "paid", "total": 5, "note": "x"}
    assert merged.origin(("status",)) == (LIST, 2)
    assert merged.origin(("total",)) == (READ, 1)
    assert merged.origin(()) == (LIST, 2)


def test_a_field_keeps_its_origin_through_several_merges() -> None:
    ledger = Ledger().put(entry({"total": 5}, turn=1))
    for turn in (2, 3):
        ledger = ledger.merge(entry({"status": "open"}, source=LIST, turn=turn))
    assert at(ledger).origin(("total",)) == (READ, 1)
    assert at(ledger).origin(("status",)) == (LIST, 3)


def test_a_merge_clears_the_marks_of_what_it_supplies_only() -> None:
    touched = [Touch(ORDER("1"), ("status",)), Touch(ORDER("1"), ("total",))]
    ledger = Ledger().put(entry({"status": "open", "total": 5})).wrote(PAY, touched)
    merged = at(ledger.merge(entry({"status": "paid"}, source=LIST)))
    assert merged.stale_at(("status",)) is None
    assert merged.stale_at(("total",)) is not None


def test_a_merge_into_a_record_unknown_as_a_whole_leaves_the_rest_unknown() -> None:
    ledger = Ledger().put(entry({"status": "open", "total": 5})).wrote(PAY, [Touch(ORDER("1"))])
    merged = at(ledger.merge(entry({"status": "paid"}, source=LIST)))
    assert merged.stale_at(("status",)) is None
    assert merged.stale_at(("total",)) == Stale(("total",), PAY)


def test_a_merge_keeps_the_order_in_which_the_fields_were_first_seen() -> None:
    ledger = Ledger().put(entry({"ada": "email", "bo": "email"}))
    again = ledger.merge(entry({"ada": "name"})).merge(entry({"cyd": "email"}))
    assert list(at(again).value.items()) == [("ada", "name"), ("bo", "email"), ("cyd", "email")]


def test_a_merge_with_text_that_has_no_fields_replaces_it() -> None:
    untyped = Entry(path=ORDER("1"), value="as returned", source=READ, turn=1, typed=False)
    assert at(Ledger().put(untyped).merge(entry({"status": "open"}))).value == {"status": "open"}
    assert at(Ledger().put(entry({"status": "open"})).merge(untyped)).value == "as returned"


def test_a_read_that_cannot_succeed_is_remembered_by_what_it_asks_for() -> None:
    ledger = Ledger().without(READ, "gone")
    again = ToolCall(name="get_order", arguments={"order_id": "1"}, id="another")
    assert ledger.unavailable[again.intent] == "gone"
    assert Ledger().unavailable == {}


def test_nothing_is_forgotten_by_the_next_step() -> None:
    ledger = Ledger().without(READ, "gone").put(entry({})).wrote(PAY, []).heard()
    assert ledger.unavailable and ledger.writes == (PAY,) and len(ledger) == 1 and ledger.turn == 1


def test_a_long_ledger_keeps_every_record() -> None:
    ledger = Ledger()
    for n in range(500):
        ledger = ledger.put(entry({"n": n}, ORDER(str(n))))
    assert len(ledger) == 500
    assert [e.value["n"] for e in ledger] == list(range(500))


def test_a_value_is_shown_on_one_line_with_sorted_keys() -> None:
    shown = entry({"b": 1, "a": "two\nlines </ledger>"}).shown
    assert shown == '{"a":"two\\nlines \\u003c/ledger\\u003e","b":1}'


def test_a_write_in_doubt_is_so_until_it_is_known_to_be_done_or_refused() -> None:
    doubted = Ledger().doubted(PAY, [], running=True).doubted(LIST, [], running=False)
    both = (Unconfirmed(PAY, running=True), Unconfirmed(LIST, running=False))
    assert doubted.unconfirmed == both
    assert doubted.refused(PAY).unconfirmed == both[1:]
    assert doubted.wrote(LIST, []).unconfirmed == both[:1]
    assert doubted.doubted(PAY, [], running=False).unconfirmed == (
        Unconfirmed(LIST, running=False),
        Unconfirmed(PAY, running=False),
    )
    assert doubted.put(entry({})).heard().unconfirmed == both
    assert doubted.refused(READ).unconfirmed == both


def test_what_was_said_is_kept_with_its_turn() -> None:
    ledger = Ledger().uttered("agent", "Hello").heard().uttered("user", "Pay it.")
    assert ledger.utterances == (
        Utterance("agent", "Hello", 0),
        Utterance("user", "Pay it.", 1),
    )
