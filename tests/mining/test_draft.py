"""Drafts: what tools are, where records go, what writes change, told from conversations alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ledgeragent.mining.draft import Draft
from tests.mining.runs import Answered, drafted


def order(number: int, **changes: Any) -> Answered:
    record = {"order_id": f"W{number}", "user_id": f"u_{number}", "status": "open", "note": None}
    return "get_order", {"order_id": f"W{number}"}, {**record, **changes}


def user(number: int, balance: float = 5.0) -> Answered:
    card = {f"card_{number}": {"id": f"card_{number}", "balance": balance}}
    return "get_user", {"user_id": f"u_{number}"}, {"user_id": f"u_{number}", "cards": card}


def pay(number: int) -> Answered:
    return "pay_order", {"order_id": f"W{number}", "card": f"card_{number}"}, "paid"


def paths(draft: Draft, tool: str) -> list[str]:
    return [route.family.path for route in draft.routes_of(tool)]


def touched(draft: Draft, tool: str) -> set[tuple[str, str, bool]]:
    return {(t.path, t.field, t.seen) for t in draft.touches[tool]}


def test_a_change_is_found_by_reading_again(tmp_path: Path) -> None:
    runs = [[order(n), pay(n), order(n, status="paid")] for n in range(1, 7)]
    draft = drafted(tmp_path, *runs)
    assert touched(draft, "pay_order") == {("orders.{order_id}", "status", True)}


def test_a_change_on_another_record_marks_every_one_of_its_kind(tmp_path: Path) -> None:
    runs = [[user(n), order(n), pay(n), user(n, 1.0)] for n in range(1, 7)]
    marks = touched(drafted(tmp_path, *runs), "pay_order")
    assert ("users.*", "cards", True) in marks
    assert ("orders.{order_id}", "", False) in marks  # named, and nobody looked


def test_a_number_that_calls_name_is_taken_to_change_until_looks_speak_against(
    tmp_path: Path,
) -> None:
    guessed = drafted(tmp_path, *[[user(n), pay(n)] for n in range(1, 7)])
    assert ("users.*", "cards", False) in touched(guessed, "pay_order")
    looked = drafted(tmp_path, *[[user(n), pay(n), user(n)] for n in range(1, 7)])
    assert not any(path.startswith("users") for path, _, _ in touched(looked, "pay_order"))


def test_of_two_writes_between_two_looks_the_one_that_is_known_to_change_it_did(
    tmp_path: Path,
) -> None:
    close: Answered = ("close_order", {"order_id": "W9"}, "closed")
    runs = [[order(n), pay(n), order(n, status="paid")] for n in range(1, 7)]
    both = [order(9), pay(9), close, order(9, status="paid")]
    marks = touched(drafted(tmp_path, *runs, both, both), "close_order")
    assert ("orders.{order_id}", "status", True) not in marks


def test_answers_of_writes_are_records_and_what_they_get_wrong_is_left_out(tmp_path: Path) -> None:
    def run(n: int) -> list[Answered]:
        before, after = order(n), order(n, status="shut")
        return [before, ("close_order", {"order_id": f"W{n}"}, before[2]), after]

    answer = drafted(tmp_path, *map(run, range(1, 7))).answers["close_order"]
    assert (answer.family.path, answer.omit) == ("orders.{order_id}", ("status",))


def flight(number: int, day: str, seats: int) -> dict[str, Any]:
    return {"flight_number": f"F{number}", "seats": seats, "gate": f"g{day[-1]}"}


def search(day: str) -> Answered:
    return "search_flights", {"day": day, "to": "OSL"}, [flight(n, day, n) for n in range(3)]


def test_flights_of_two_days_do_not_land_on_one_path(tmp_path: Path) -> None:
    draft = drafted(tmp_path, *[[search("2025-01-01"), search("2025-01-02")]] * 3)
    assert paths(draft, "search_flights") == [
        "flights.{flight_number}.{day}",
        "flight_lists.{day}.{to}",
    ]


def test_elements_inside_a_wrapper_and_inside_lists(tmp_path: Path) -> None:
    wrapped: Answered = ("list_parts", {}, {"parts": [{"id": 1}, {"id": 2}], "total": 2})
    legs: Answered = ("search_trips", {"to": "x"}, [[flight(1, "d1", 1), flight(2, "d1", 2)]])
    draft = drafted(tmp_path, [wrapped, legs], [wrapped, legs])
    assert paths(draft, "list_parts") == ["parts.{id}", "part_lists"]
    assert [r.inside for r in draft.routes_of("list_parts")] == ["parts", "parts"]
    assert paths(draft, "search_trips")[0] == "flights.{flight_number}"


def test_a_lookup_answers_with_a_key_of_other_records(tmp_path: Path) -> None:
    runs = [[("find_user", {"email": f"{n}@x.com"}, f"u_{n}"), user(n)] for n in range(1, 7)]
    draft = drafted(tmp_path, *runs)
    assert paths(draft, "find_user") == ["located.user_id"]


def test_renamed_arguments_and_ids_that_were_not_asked_for(tmp_path: Path) -> None:
    reads = [("get_pet", {"petId": n}, {"id": n, "name": f"p{n}", "tags": []}) for n in range(8)]
    (route,) = drafted(tmp_path, [*reads]).routes_of("get_pet")
    assert (route.family.path, dict(route.renames)) == ("pets.{id}", {"id": "petId"})


def test_what_a_tool_did_makes_a_guess_stricter_only(tmp_path: Path) -> None:
    touch: Answered = ("get_next", {"order_id": "W1"}, "ok")
    run = [order(1), touch, order(1, status="seen"), touch, order(1, status="b")]
    note: Answered = ("note", {"text": "he is angry today"}, "noted")
    draft = drafted(tmp_path, run, run, [note] * 6)
    kinds = {name: kind for name, (kind, _) in draft.kinds.items()}
    assert kinds == {"get_order": "read", "get_next": "write", "note": "neutral"}


def test_refusals_in_words_are_no_records(tmp_path: Path) -> None:
    reads = [order(n) for n in range(1, 9)]
    refused: Answered = ("get_order", {"order_id": "W1"}, "I am sorry, this is not for you to see")
    draft = drafted(tmp_path, [*reads, refused])
    (route,) = draft.routes_of("get_order")
    assert route.family.holds_objects


def test_one_look_that_saw_a_change_outweighs_many_that_saw_none(tmp_path: Path) -> None:
    calm = [[order(n), pay(n), order(n)] for n in range(1, 41)]
    (mark,) = drafted(tmp_path, *calm, [order(50), pay(50), order(50, note="x")]).touches[
        "pay_order"
    ]
    assert (mark.path, mark.field, mark.seen, mark.sure) == (
        "orders.{order_id}",
        "note",
        True,
        False,
    )
    assert mark.why == "changed in 1 of 41 conversations that looked again"


def test_a_change_that_a_wrong_answer_explains_is_left_out_and_told(tmp_path: Path) -> None:
    def stale(n: int) -> list[Answered]:
        return [
            order(n),
            ("close_order", {"order_id": f"W{n}"}, order(n)[2]),
            order(n, status="shut"),
        ]

    def between(n: int) -> list[Answered]:
        return [*stale(n)[:2], pay(n), order(n, status="shut")]

    draft = drafted(tmp_path, *map(stale, range(1, 9)), *map(between, range(11, 19)))
    assert not any(touch.seen for touch in draft.touches["pay_order"])
    assert any("gets it wrong" in why for tool, _, why in draft.left_out if tool == "pay_order")
