"""Which payment methods may pay."""

from __future__ import annotations

from tests.packs.airline.talk import REPROFILE, SAME, UPGRADE, AirlineTalk, booked, change, profile
from tests.packs.talk import asked, violated


def test_a_card_that_paid_before_needs_no_profile_a_certificate_does() -> None:
    paid = [{"payment_id": name, "amount": 50} for name in ("credit_card_11", "certificate_31")]
    talk = AirlineTalk().reservation(booked(payment_history=paid))
    assert talk.judge(UPGRADE).allowed
    assert asked(talk.judge(change(SAME, cabin="business", pay="gift_card_21"))) == {REPROFILE}
    used = talk.judge(change(SAME, cabin="business", pay="certificate_31"))
    assert asked(used) == {REPROFILE}
    assert violated(used) == {"airline/change-payment-type"}


def test_the_kind_of_a_method_is_what_the_profile_says() -> None:
    odd = profile()
    odd["payment_methods"]["voucher-7"] = {"id": "voucher-7", "source": "certificate"}
    verdict = (
        AirlineTalk()
        .profile(odd)
        .reservation()
        .judge(change(SAME, cabin="business", pay="voucher-7"))
    )
    assert violated(verdict) == {"airline/change-payment-type"}
