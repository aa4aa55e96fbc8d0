"""Certificates for cancelled and delayed flights."""

from __future__ import annotations

import pytest

from ledgeragent.gate import Gate
from ledgeragent.plan import Order
from tests.packs.airline.talk import (
    BACK,
    CANCEL,
    HURT,
    NEW,
    OUT,
    REPROFILE,
    REREAD,
    UPGRADE,
    AirlineTalk,
    booked,
    booking,
    certificate,
    change,
    known,
    looked_up,
    on,
    profile,
)
from tests.packs.talk import asked, violated


def test_a_certificate_waits_for_the_facts() -> None:
    talk = AirlineTalk().user()
    assert asked(talk.judge(certificate(100))) == {REPROFILE}
    talk.profile(profile(reservations=["RV0001", "RV0002"]))
    assert asked(talk.judge(certificate(100))) == {
        REREAD,
        'get_reservation_details(reservation_id="RV0002")',
    }
    talk.reservation(booked(OUT, BACK, **HURT))
    assert asked(talk.judge(certificate(200))) == {
        looked_up("NV101", "2024-05-20"),
        looked_up("NV102", "2024-05-25"),
    }
    talk.status("NV102", "2024-05-25", "cancelled")
    assert talk.judge(certificate(200)).allowed
    assert talk.judge(certificate("200")).allowed
    assert violated(talk.judge(certificate("250"))) == {"airline/compensation-amount"}


def test_the_reservation_that_justifies_the_amount_is_the_one_that_is_eligible() -> None:
    talk = known(**HURT).status("NV101", "2024-05-20", "cancelled")
    talk.reservation(booked(BACK, reservation_id="RV0002")).status(
        "NV102", "2024-05-25", "cancelled"
    )
    assert talk.judge(certificate(200)).allowed
    assert violated(talk.judge(certificate(100))) == {"airline/compensation-amount"}
    assert talk.profile(profile(membership="gold")).judge(certificate(100)).allowed


@pytest.mark.parametrize("membership", ["regular", "gold"])
def test_a_trip_whose_flight_nobody_looked_up_may_justify_what_another_does_not(
    membership: str,
) -> None:
    talk = known(**HURT).profile(profile(membership=membership))
    talk.status("NV101", "2024-05-20", "cancelled")
    talk.reservation(booked(BACK, reservation_id="RV0002", insurance="yes"))
    assert asked(talk.judge(certificate(50))) == {looked_up("NV102", "2024-05-25")}
    assert violated(talk.judge(certificate(75))) == {"airline/compensation-amount"}
    talk.status("NV102", "2024-05-25", "on time")
    assert violated(talk.judge(certificate(50))) == {"airline/compensation-amount"}


def test_a_trip_whose_flight_nobody_looked_up_may_be_the_one_that_is_eligible() -> None:
    talk = known().status("NV101", "2024-05-20", "cancelled")
    talk.reservation(booked(BACK, reservation_id="RV0002", insurance="yes"))
    assert asked(talk.judge(certificate(100))) == {looked_up("NV102", "2024-05-25")}
    talk.status("NV102", "2024-05-25", "on time")
    assert violated(talk.judge(certificate(100))) == {"airline/compensation-eligibility"}


@pytest.mark.parametrize(("answer", "amount"), [("cancelle", 200), ("?", 100)])
@pytest.mark.parametrize("others", ["delayed", "available"])
def test_a_status_that_nobody_understands_may_be_what_justifies_the_amount(
    answer: str, amount: int, others: str
) -> None:
    talk = known(flights=[OUT, BACK], **HURT).status("NV102", "2024-05-25", others)
    talk.status("NV101", "2024-05-20", answer)
    verdict = talk.judge(certificate(amount))
    assert not violated(verdict)
    assert asked(verdict) == {looked_up("NV101", "2024-05-20")}
    talk.status("NV101", "2024-05-20", "cancelled" if amount == 200 else "delayed")
    assert talk.judge(certificate(amount)).allowed is (amount == 200)
    assert violated(talk.judge(certificate(999)))


@pytest.mark.parametrize("order", ["any", "listed"])
def test_a_booking_whose_result_is_still_to_come_may_justify_what_nothing_read_does(
    order: Order,
) -> None:
    talk = known(**HURT).status("NV101", "2024-05-20", "cancelled")
    talk.reservation(booked(OUT, insurance="no")).profile(profile(membership="regular"))
    gate = Gate(domain=talk.domain, order=order)
    own, other = booking(insurance="yes"), booking(user_id="somebody_else_1")
    for call, rule in ((certificate(100), "eligibility"), (certificate(999), "amount")):
        assert violated(talk.judge(call)) >= {f"airline/compensation-{rule}"}
        verdict = gate.judge(call, talk.ledger.doubted(own, [], running=True))
        assert not verdict.allowed and not violated(verdict)
        assert "wait for the result of book_reservation" in verdict.feedback
        strangers = gate.judge(call, talk.ledger.doubted(other, [], running=True))
        assert violated(strangers) >= {f"airline/compensation-{rule}"}


def test_without_an_incident_in_any_reservation_there_is_no_certificate() -> None:
    talk = known(**HURT).status("NV101", "2024-05-20", "available")
    assert violated(talk.judge(certificate(200))) == {"airline/compensation-facts"}
    talk = (
        AirlineTalk()
        .profile(profile(reservations=["RV0001", "RV0002"]))
        .reservation(booked(**HURT))
    )
    verdict = talk.status("NV101", "2024-05-20", "landed").judge(certificate(200))
    assert asked(verdict) == {'get_reservation_details(reservation_id="RV0002")'}


def test_a_delay_pays_after_a_change_or_cancellation() -> None:
    def delayed() -> AirlineTalk:
        return known(flights=[on("2024-05-15")], **HURT).status("NV101", "2024-05-15", "delayed")

    assert violated(delayed().judge(certificate(100))) == {
        "airline/compensation-delay-after-change"
    }
    assert delayed().wrote(CANCEL).judge(certificate(100)).allowed
    assert (
        delayed()
        .reservation(booked(on("2024-05-15"), status="cancelled", **HURT))
        .judge(certificate(100))
        .allowed
    )
    rebooked = delayed().wrote(change(NEW)).reservation(booked(on("2024-05-21"), **HURT))
    assert rebooked.judge(certificate(100)).allowed
    assert violated(rebooked.judge(certificate(200))) == {"airline/compensation-amount"}


def test_the_membership_is_asked_for_only_where_the_reservation_leaves_it_open() -> None:
    talk = AirlineTalk().reservation(booked()).status("NV101", "2024-05-20", "cancelled")
    assert asked(talk.judge(certificate(100))) == {REPROFILE}
    assert violated(talk.profile().judge(certificate(100))) == {"airline/compensation-eligibility"}
    assert talk.profile(profile(membership="silver")).judge(certificate(100)).allowed


def test_an_incident_is_compensated_once() -> None:
    talk = known(**HURT).status("NV101", "2024-05-20", "cancelled").wrote(certificate(200))
    verdict = talk.user("another one, please").judge(certificate("200"))
    assert violated(verdict) == {"airline/compensation-repeated"}


def test_another_incident_is_compensated_too() -> None:
    talk = known(**HURT).status("NV101", "2024-05-20", "cancelled").wrote(certificate(200))
    talk.profile(profile(reservations=["RV0001", "RV0002"]))
    assert asked(talk.judge(certificate(200))) == {
        'get_reservation_details(reservation_id="RV0002")'
    }
    talk.reservation(booked(BACK, reservation_id="RV0002", **HURT))
    assert asked(talk.judge(certificate(200))) == {looked_up("NV102", "2024-05-25")}
    talk.status("NV102", "2024-05-25", "cancelled")
    assert talk.judge(certificate(200)).allowed
    talk.wrote(certificate(200)).profile(profile(reservations=["RV0001", "RV0002"]))
    assert violated(talk.judge(certificate(200))) == {"airline/compensation-repeated"}


def test_a_strangers_cancelled_flight_justifies_nothing_after_an_own_change() -> None:
    for call, after in (
        (UPGRADE, booked(cabin="business")),
        (change(("NV101", "2024-05-21")), booked(on("2024-05-21"))),
    ):
        talk = known(**HURT).status("NV101", "2024-05-20", "available")
        talk.status("NV101", "2024-05-21", "available").wrote(call, {**after, **HURT})
        talk.reservation(booked(BACK, reservation_id="RV0002", user_id="otto_lind_2002"))
        talk.status("NV102", "2024-05-25", "cancelled")
        verdict = talk.judge(certificate(200))
        assert violated(verdict) == {"airline/compensation-facts"}
        assert "NV102" not in verdict.feedback


@pytest.mark.parametrize("number", ["NV102", "NV999"])
def test_a_cancelled_flight_of_a_reservation_never_read_justifies_nothing_after_an_own_change(
    number: str,
) -> None:
    for call, after in (
        (UPGRADE, booked(cabin="business", **HURT)),
        (change(("NV101", "2024-05-21")), booked(on("2024-05-21"), **HURT)),
    ):
        talk = known(**HURT).status("NV101", "2024-05-20", "available")
        talk.status("NV101", "2024-05-21", "available").status(number, "2024-05-25", "cancelled")
        talk.wrote(call, after)
        assert violated(talk.judge(certificate(100))) == {"airline/compensation-facts"}
        talk.status("NV101", "2024-05-20", "cancelled")  # what it was booked with
        assert talk.judge(certificate(200)).allowed


def test_a_flight_booked_and_exchanged_in_one_conversation_was_in_its_reservation() -> None:
    made = booked(on("2024-05-22"), reservation_id="RV0001", **HURT)
    chosen = [{"flight_number": "NV101", "date": "2024-05-22"}]
    talk = AirlineTalk().user("hello").profile().wrote(booking(flights=chosen), made)
    talk.status("NV101", "2024-05-22", "cancelled").status("NV101", "2024-05-21", "available")
    talk.wrote(change(("NV101", "2024-05-21")), booked(on("2024-05-21"), **HURT))
    assert talk.judge(certificate(200)).allowed
