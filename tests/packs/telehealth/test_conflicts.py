"""Slots that are taken: by what was read, and by what this conversation has booked or moved."""

from __future__ import annotations

import pytest

from ledgeragent.ledger import Stale
from tests.packs.telehealth.talk import (
    ANA,
    Talk,
    booking,
    cancelling,
    details,
    listing,
    moving,
    provider,
    rescheduled,
    scheduled,
    violated,
)

BOOKED = ["Done.", scheduled()]
MOVED = ["Done.", rescheduled("2025-11-05", "10:00")]
CANCELLED = "Appointment successfully cancelled."


def open_talk() -> Talk:
    return Talk().located().provider(provider()).details(details())


def test_a_slot_taken_by_an_observed_appointment() -> None:
    talk = open_talk()
    assert violated(talk.book(time="09:00")) == {"slot-conflict"}
    assert talk.details(details(status="Cancelled")).book(time="09:00").allowed


def test_a_slot_conflict_is_never_asked_about() -> None:
    talk = Talk().located().provider(provider()).list(listing(("APPT900", "Scheduled")))
    assert talk.book(time="09:00").allowed


def test_an_appointment_is_not_in_its_own_way() -> None:
    assert open_talk().move("2025-11-05", "09:00").allowed


@pytest.mark.parametrize("answer", BOOKED)
def test_what_was_just_booked_takes_its_slot(answer: str) -> None:
    talk = open_talk().done(booking(), answer)
    assert violated(talk.book()) == {"slot-conflict"}
    assert violated(talk.move("2025-11-05", "10:00")) == {"slot-conflict"}
    assert talk.book(date="2025-11-12").allowed


@pytest.mark.parametrize("answer", MOVED)
def test_what_was_just_moved_takes_its_slot_and_leaves_the_other(answer: str) -> None:
    talk = open_talk().done(moving("APPT900", "2025-11-05", "10:00"), answer)
    assert violated(talk.book()) == {"slot-conflict"}
    assert talk.book(time="09:00").allowed


def test_what_was_cancelled_leaves_its_slot() -> None:
    talk = open_talk().done(cancelling(), CANCELLED)
    assert talk.book(time="09:00").allowed


def test_a_booking_that_was_cancelled_or_moved_since_leaves_its_slot() -> None:
    talk = open_talk().done(booking(), scheduled())
    assert talk.done(cancelling("APPT950"), CANCELLED).book().allowed
    talk = open_talk().done(booking(), scheduled())
    talk.done(
        moving("APPT950", "2025-11-07", "09:00"), rescheduled("2025-11-07", "09:00", "APPT950")
    )
    assert talk.book().allowed
    assert violated(talk.book(date="2025-11-07", time="09:00")) == {"slot-conflict"}


def test_a_booking_that_nobody_can_tell_from_a_cancelled_one_is_not_held_against_the_next() -> None:
    talk = open_talk().done(booking(), "Done.")
    talk.list(listing(("APPT950", "Scheduled"), time="10:00"))
    assert violated(talk.done(cancelling(), CANCELLED).book()) == {"slot-conflict"}
    assert talk.done(cancelling("APPT950"), CANCELLED).book().allowed


def test_a_booking_is_not_freed_by_the_end_of_an_appointment_at_another_time() -> None:
    talk = open_talk().done(booking(), "Done.")
    talk.list(listing(("APPT950", "Scheduled")))
    assert violated(talk.done(cancelling("APPT950"), CANCELLED).book()) == {"slot-conflict"}
    stays = open_talk().done(booking(), "Done.").list(listing(("APPT950", "Scheduled")))
    stays.done(moving("APPT950", "2025-11-05", "09:00"), "Done.")
    assert violated(stays.book()) == {"slot-conflict"}
    moved = open_talk().done(booking(), "Done.")
    moved.done(moving("APPT960", "2025-11-07", "09:00"), "Done.")
    assert moved.book().allowed


def test_an_appointment_with_a_word_for_its_status_that_is_no_status_is_asked_for() -> None:
    talk = (
        open_talk().done(booking(), scheduled()).list(listing(("APPT950", "Parked"), time="10:00"))
    )
    verdict = talk.book()
    assert not verdict.allowed and not violated(verdict)
    assert 'get_appointment_details(appointment_id="APPT950")' in verdict.feedback
    assert "Parked" not in verdict.feedback


def test_a_booking_whose_result_comes_late_holds_its_slot_whatever_was_done_meanwhile() -> None:
    talk = open_talk().done(booking(), scheduled())
    entry = talk.entry("appointments.APPT950")
    other = moving("APPT900", "2025-11-07", "09:00")
    overlapped = entry.marked([Stale((), other), Stale((), booking())])
    talk.ledger = talk.ledger.wrote(other, []).put(overlapped)
    assert violated(talk.book()) == {"slot-conflict"}


@pytest.mark.parametrize("answer", MOVED)
def test_a_move_whose_result_comes_late_holds_its_slot_whatever_was_done_meanwhile(
    answer: str,
) -> None:
    move = moving("APPT900", "2025-11-05", "10:00")
    talk = open_talk().done(move, answer)
    talk.ledger = talk.ledger.put(talk.entry("appointments.APPT900").marked([Stale((), move)]))
    assert not talk.book().allowed
    assert talk.book(time="09:00").allowed


def test_what_a_later_read_says_counts() -> None:
    talk = open_talk().done(booking(), scheduled())
    assert violated(talk.book()) == {"slot-conflict"}
    assert talk.list(listing(("APPT950", "Cancelled"))).book().allowed


def test_a_failed_booking_takes_no_slot() -> None:
    talk = open_talk().done(booking(), "Error: 'copay'")
    assert talk.book().allowed


def test_a_booking_whose_result_was_lost_is_no_violation_and_no_allowance() -> None:
    verdict = open_talk().done(booking(), "Error: timeout").book()
    assert not verdict.allowed
    assert not violated(verdict)
    assert "its result never came" in verdict.feedback


def test_a_confirmation_is_read_as_the_appointment_it_confirms() -> None:
    talk = open_talk().done(booking(), scheduled())
    value = talk.entry("appointments.APPT950").value
    assert value["patient_id"] == ANA
    assert (value["date"], value["time"], value["status"]) == ("2025-11-05", "10:00", "scheduled")
    talk.done(
        moving("APPT950", "2025-11-07", "09:00"), rescheduled("2025-11-07", "09:00", "APPT950")
    )
    moved = talk.entry("appointments.APPT950")
    assert (moved.value["date"], moved.value["time"]) == ("2025-11-07", "09:00")
    assert not moved.stale
    verdict = talk.judge("cancel_appointment", appointment_id="APPT950")
    assert verdict.allowed


def test_a_cancellation_is_not_read_back_from_its_answer() -> None:
    talk = open_talk().done(cancelling(), CANCELLED)
    assert talk.entry("appointments.APPT900").stale
    assert talk.move().missing
