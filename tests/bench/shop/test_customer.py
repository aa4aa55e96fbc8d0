"""Customers by script: what they answer, when they correct themselves, when they leave."""

from __future__ import annotations

import pytest

from ledgeragent.bench.shop.customer import ALL_RIGHT, NOTHING_MORE, YES, ScriptedCustomer, means
from ledgeragent.bench.shop.tasks import tasks

TASKS = {task.id: task for task in tasks()}


def _talk(task: str, *said: str) -> list[str | None]:
    customer = ScriptedCustomer(TASKS[task])
    return [customer.answer(text) for text in said]


def test_the_email_is_told_when_asked_for_and_a_summary_is_agreed_to() -> None:
    assert _talk(
        "refund-secateurs",
        "Could you tell me the email address of your account?",
        "I would refund 24.50 for one of them. Shall I go ahead?",
        "Done: 24.50 are on the way back.",
    ) == ["It is elena.ricci@example.net.", YES, None]


def test_a_customer_insists_as_often_as_the_script_says_and_then_leaves() -> None:
    no = "I can't cancel G-1007, it has been packed."
    first, second, third = _talk("cancel-packed", no, no, no)
    assert first and second and first != second and third is None


def test_a_slip_is_corrected_once_it_is_pointed_out() -> None:
    (corrected,) = _talk("wrong-price", "You paid 11.00 for it, shall I refund that?")
    assert corrected == "Eleven? Then it was eleven. Yes, please."


def test_a_wish_comes_after_the_one_before_was_done_not_after_a_refusal() -> None:
    refused, done = _talk(
        "less-then-voucher", "I can't do that, it has been packed.", "The trough has been removed."
    )
    assert refused is None
    assert done and "WREN-80" in done


def test_a_mind_is_changed_at_the_first_answer() -> None:
    (changed,) = _talk("keep-but-less", "Yes, it is still open. Shall I cancel it?")
    assert changed and "stone trough" in changed


def test_open_questions_and_waiting_are_borne_for_a_while() -> None:
    question = "What colour is your house?"
    assert _talk("cancel-open", question, "One moment, let me look.", question) == [
        NOTHING_MORE,
        ALL_RIGHT,
        None,
    ]


def test_agreeing_has_an_end() -> None:
    assert _talk("cancel-open", *["Shall I cancel it?"] * 6)[-1] is None


@pytest.mark.parametrize(
    ("when", "text", "met"),
    [
        ("done", "Your order has been cancelled.", True),
        ("done", "Your order can't be cancelled.", False),
        ("done", "Has it been cancelled?", False),
        ("done", "It is cancelled. Anything else?", True),
        ("refusal", "There is no account with that email.", True),
        ("confirm", "I will cancel it. Is that okay?", True),
        ("69", "Only 69.00 are due.", True),
    ],
)
def test_meanings(when: str, text: str, met: bool) -> None:
    assert means(when, text) is met
