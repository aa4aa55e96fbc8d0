"""Whose reservation it is."""

from __future__ import annotations

from ledgeragent.verdict import Decision
from tests.packs.airline.talk import BEN, CANCEL, AirlineTalk, booked, booking, known, profile
from tests.packs.talk import violated

OTTO = "otto_lind_2002"


def test_a_friends_profile_does_not_make_the_customers_reservation_foreign() -> None:
    talk = known(cabin="business").profile(profile(OTTO))
    assert talk.judge(CANCEL).allowed


def test_somebody_elses_reservation_is_blocked_without_naming_them() -> None:
    talk = AirlineTalk().profile().reservation(booked(user_id=OTTO, cabin="business"))
    verdict = talk.judge(CANCEL)
    assert verdict.decision is Decision.BLOCK
    assert violated(verdict) == {"airline/acting-user"}
    assert OTTO not in verdict.feedback
    assert AirlineTalk().reservation(booked(cabin="business")).judge(CANCEL).allowed


def test_a_booking_on_a_profile_never_read_is_somebody_elses() -> None:
    talk = AirlineTalk().profile().direct("OAK", "BOI", "2024-05-21", "NV201")
    assert "airline/acting-user" in violated(talk.judge(booking(user_id=OTTO)))
    assert talk.judge(booking(passengers=[BEN])).allowed, "a friend may well be the passenger"
