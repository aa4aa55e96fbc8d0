"""Checked bags: how many are free, for whom, and what they are counted from."""

from __future__ import annotations

from ledgeragent.domain import Domain
from ledgeragent.gate import MALFORMED
from ledgeragent.verdict import Decision
from tests.packs.airline.talk import (
    REPROFILE,
    REREAD,
    TAU,
    TAU2,
    UPGRADE,
    AirlineTalk,
    bags,
    booked,
    known,
    profile,
)
from tests.packs.talk import asked, violated


def test_bags_of_an_upgraded_reservation_wait_for_the_new_cabin() -> None:
    talk = known().wrote(UPGRADE)
    assert asked(talk.judge(bags(2, 0))) == {REREAD}
    assert talk.reservation(booked(cabin="business")).judge(bags(2, 0)).allowed


def test_the_profile_is_read_only_where_membership_decides_about_bags() -> None:
    talk = AirlineTalk().reservation(booked())
    assert talk.judge(bags(1, 0)).allowed
    assert asked(talk.judge(bags(2, 1))) == {REPROFILE}


def test_a_gold_member_has_one_free_bag_less_in_business_in_the_older_rules() -> None:
    def gold(domain: Domain) -> AirlineTalk:
        talk = AirlineTalk(domain).profile(profile(membership="gold"))
        return talk.reservation(booked(cabin="business"))

    assert gold(TAU2).judge(bags(4, 0)).allowed
    assert violated(gold(TAU).judge(bags(4, 0))) == {"airline/bag-allowance"}
    assert gold(TAU).judge(bags(4, 1)).allowed


def test_numbers_may_be_text_but_must_be_numbers() -> None:
    assert known().judge(bags("2", "1")).allowed
    assert violated(known(total_baggages=2).judge(bags("1", "0"))) == {"airline/bags-no-removal"}
    for odd in ("NaN", float("nan"), "two", None, True, 1.5, [2]):
        verdict = known().judge(bags(odd, 0))
        assert [f.predicate for f in verdict.findings] == [MALFORMED]
        assert verdict.decision is Decision.REVISE
