"""What was said, by the sentence: topics, switches, offers, phone numbers."""

from __future__ import annotations

import pytest

from ledgeragent.packs.telecom import speech


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I cannot send MMS messages.", True),
        ("Picture messages fail", True),
        ("My photos won't send: sending a photo fails.", True),
        ("Group texts work, calls fail.", False),
        ("Please send me an invoice.", False),
        ("", False),
    ],
)
def test_mms(text: str, told: bool) -> None:
    assert speech.is_about_mms([text]) is told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("My mobile data is slow", True),
        ("the INTERNET does not load", True),
        ("No data connection.", True),
        ("What personal data do you keep?", False),
        ("I was born at a later date", False),
    ],
)
def test_data(text: str, told: bool) -> None:
    assert speech.is_about_data([text]) is told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Turn on data roaming.", True),
        ("Your line has roaming; is it also on in the phone settings?", True),
        ("Roaming is enabled on your line. Is your phone on?", False),
        ("I turned roaming on for your account", False),
        ("Are you at home?", False),
    ],
)
def test_roaming_of_the_phone_is_not_that_of_the_line(text: str, told: bool) -> None:
    assert speech.names_roaming_of_phone([text]) is told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("SIM status: Locked (PIN)", True),
        ("It is locked and asks for a PUK", True),
        ("The SIM wants its PIN", True),
        ("The SIM is not locked", False),
        ("My SIM isn't locked any more", False),
        ("I unlocked it. The SIM is fine.", False),
        ("I am locked out of my account", False),
    ],
)
def test_a_locked_sim(text: str, told: bool) -> None:
    assert speech.tells_locked_sim([text]) is told


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("I am at 555-010-0071.", True),
        ("(555) 010 0071", True),
        ("+1 555 010 0071", True),
        ("5550100071", True),
        ("555-010-00712", False),
        ("9555-010-0071", False),
        ("555-010-0072", False),
        ("", False),
    ],
)
def test_a_number_however_it_is_grouped(text: str, named: bool) -> None:
    assert speech.names_number(text, "555-010-0071") is named


def test_a_number_that_is_none_is_never_named() -> None:
    assert not speech.names_number("anything", "")
    assert not speech.names_number("call 1 or 2", "1")


def test_offers() -> None:
    assert speech.offers_data(["Do you want to refuel?"])
    assert speech.offers_data(["I can add 2 GB."])
    assert not speech.offers_data(["You have used 5 GB of data."])
    assert speech.asks_to_pay(["Would you like to pay the bill?"])
    assert speech.asks_to_pay(["I sent a payment request."])
    assert not speech.asks_to_pay(["Your bill is overdue."])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I could not resume your line.", True),
        ("Reactivation was refused.", True),
        ("The suspension cannot be lifted.", True),
        ("I will lift the suspension.", True),
        ("Your line is suspended.", False),
        ("Please lift the phone. Its suspension is another matter.", False),
    ],
)
def test_resuming(text: str, told: bool) -> None:
    assert speech.speaks_of_resuming([text]) is told
