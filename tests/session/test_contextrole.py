"""The ledger's role: `auto` goes on where an API refuses it, remembers, and hides no other failure."""

from __future__ import annotations

import pytest

from ledgeragent.session import contextrole
from ledgeragent.session.contextrole import FORMS, is_about_roles, placed, send


class Refusal(Exception):
    """What an API says of roles it does not take."""


class Api:
    """Takes some forms; counts what it was sent."""

    def __init__(self, *takes: str) -> None:
        self.takes, self.sent = takes, list[str]()

    def __call__(self, form: str) -> str:
        self.sent.append(form)
        if form not in self.takes:
            raise Refusal(form)
        return form

    def ask(self, role: str = "auto") -> str:
        return send(role, id(self), self, lambda error: isinstance(error, Refusal))


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contextrole, "_taken", {})


@pytest.mark.parametrize("form", FORMS)
def test_auto_finds_what_is_taken_and_asks_for_it_at_once_next_time(form: str) -> None:
    api = Api(form)
    assert [api.ask(), api.ask()] == [form, form]
    assert api.sent == [*FORMS[: FORMS.index(form) + 1], form]


@pytest.mark.parametrize("form", FORMS)
def test_a_role_that_is_named_is_the_only_one_that_is_tried(form: str) -> None:
    api = Api()
    with pytest.raises(Refusal):
        api.ask(form)
    assert api.sent == [form]


def test_where_nothing_helps_the_first_refusal_is_told() -> None:
    with pytest.raises(Refusal, match=FORMS[0]):
        Api().ask()


def test_a_failure_of_another_kind_is_not_tried_again() -> None:
    def attempt(form: str) -> str:
        raise TimeoutError(form)

    with pytest.raises(TimeoutError, match=FORMS[0]):
        send("auto", "x", attempt, lambda error: isinstance(error, Refusal))


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        (400, "System message must be at the beginning.", True),
        (500, "Conversation roles must alternate user/assistant", True),
        (400, "context length exceeded", False),
        (429, "too many system messages", False),
        (None, "system message", False),
    ],
)
def test_a_refusal_of_roles_is_told_by_status_and_words(
    status: int | None, text: str, expected: bool
) -> None:
    assert is_about_roles(status, text) == expected


def test_the_text_stands_behind_the_history_in_every_form() -> None:
    history = [{"role": "system", "content": "p"}, {"role": "tool", "content": "r"}]
    for form in FORMS:
        messages = placed(history, "LEDGER", form)
        assert messages[-1]["content"].endswith("LEDGER")
        assert len(messages) == (2 if form == "last" else 3)
    assert history[-1] == {"role": "tool", "content": "r"}
