"""Whose reservation it is."""

from __future__ import annotations

import pytest

from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision
from tests.packs.airline.talk import (
    BEN,
    CANCEL,
    NORA,
    AirlineTalk,
    booked,
    booking,
    known,
    profile,
)
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


def talk_of(*texts: str, read: tuple[str, ...]) -> AirlineTalk:
    """Texts of the user, then the profiles read, then both people's reservations."""
    talk = AirlineTalk()
    for text in texts:
        talk.user(text)
    for user_id in read:
        talk.profile(profile(user_id))
    return talk.reservation(booked(cabin="business")).reservation(
        booked(reservation_id="RV0002", user_id=OTTO, cabin="business")
    )


OTTOS = ToolCall(name="cancel_reservation", arguments={"reservation_id": "RV0002"})


@pytest.mark.parametrize(
    ("texts", "read", "nora", "otto"),
    [
        ((f"I am {NORA}", "cancel RV0002"), (NORA, OTTO), True, False),
        ((f"I am {NORA}, book for my friend {OTTO}",), (NORA, OTTO), True, False),
        ((f"My friend is {OTTO}, and I am {NORA}",), (NORA, OTTO), True, False),
        ((f"I am {OTTO}", f"Sorry, I meant {NORA}"), (OTTO, NORA), True, True),
        ((f"I am {NORA}",), (OTTO, NORA), True, False),
        (("my id is Nora Vale 1001",), (NORA, OTTO), True, False),
        ((f"I am {NORA}55",), (NORA, OTTO), True, False),
        (("hello",), (NORA, OTTO), True, False),
        ((), (NORA, OTTO), True, True),
        (("hello",), (), True, True),
    ],
)
def test_the_customer_is_whose_id_was_given_first_or_corrected_later(
    texts: tuple[str, ...], read: tuple[str, ...], nora: bool, otto: bool
) -> None:
    talk = talk_of(*texts, read=read)
    assert talk.judge(CANCEL).allowed == nora
    assert talk.judge(OTTOS).allowed == otto


def test_after_a_write_nobody_else_becomes_the_customer() -> None:
    talk = talk_of(f"I am {OTTO}", f"Sorry, I meant {NORA}", read=(OTTO, NORA))
    talk.wrote(CANCEL, booked(cabin="business", status="cancelled"))
    assert violated(talk.judge(OTTOS)) == {"airline/acting-user"}


def test_whose_reservation_it_is_comes_before_all_else_that_is_wrong() -> None:
    talk = AirlineTalk().user(f"I am {NORA}").profile().reservation(booked(user_id=OTTO))
    verdict = talk.judge(CANCEL)
    assert violated(verdict) == {"airline/acting-user"}
    assert NORA in verdict.findings[0].reason
    assert NORA not in str(verdict.findings[0].public)
