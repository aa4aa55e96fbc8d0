"""Each side's model: its options are recorded, its key goes to its own endpoint and nowhere else."""

from __future__ import annotations

import argparse

import pytest

from ledgeragent.bench.running.sides import add_sides, agent_side, judge_side, user_side
from ledgeragent.errors import UsageError

HERE, THERE = "http://here/v1", "http://there/v1"


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "AGENT", "USER", "JUDGE"):
        monkeypatch.setenv(name, f"key-of-{name}")


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_sides(parser)
    return parser.parse_args(["--model", "m", "--url", HERE, "--key-env", "AGENT", *arguments])


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ((), "key-of-AGENT"),
        (("--user-url", HERE), "key-of-AGENT"),
        (("--user-url", THERE), ""),
        (("--user-model", "u"), "key-of-AGENT"),
        (("--user-model", "u", "--user-url", THERE), ""),
        (("--user-url", THERE, "--user-key-env", "USER"), "key-of-USER"),
        (("--user-key-env", "USER"), "key-of-USER"),
    ],
)
def test_the_agents_key_goes_to_the_agents_endpoint_alone(
    arguments: tuple[str, ...], key: str
) -> None:
    side = user_side(parsed(*arguments))
    assert side.key == key
    assert agent_side(parsed(*arguments)).key == "key-of-AGENT"
    judged = tuple(
        argument.replace("user", "judge").replace("USER", "JUDGE") for argument in arguments
    )
    judge = judge_side(parsed("--judge-model", "j", *judged))
    assert judge is not None and judge.key == key.replace("USER", "JUDGE")


def test_a_variable_that_is_named_and_empty_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in None, "":
        for name in "AGENT", "USER", "JUDGE":
            monkeypatch.delenv(name) if value is None else monkeypatch.setenv(name, value)
        with pytest.raises(UsageError, match=r"--key-env: AGENT is not set"):
            agent_side(parsed())
        monkeypatch.setenv("AGENT", "k")
        with pytest.raises(UsageError, match=r"--user-key-env: USER is not set"):
            user_side(parsed("--user-key-env", "USER"))
        with pytest.raises(UsageError, match=r"--judge-key-env: JUDGE is not set"):
            judge_side(parsed("--judge-model", "j", "--judge-key-env", "JUDGE"))


def test_without_a_named_variable_a_server_that_needs_no_key_gets_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    parser = argparse.ArgumentParser()
    add_sides(parser)
    assert agent_side(parser.parse_args(["--model", "m", "--url", HERE])).key == ""


def test_every_option_is_in_the_record_and_no_key_or_address() -> None:
    args = parsed(
        *("--temperature", "0.7", "--max-tokens", "9", "--thinking", "off"),
        *("--reasoning-effort", "low", "--option", "top_p=0.9", "--user-model", "u"),
        *("--user-temperature", "none", "--user-option", 'x={"y": 1}'),
    )
    assert agent_side(args).recorded == {
        "model": "m",
        "options": {
            "temperature": 0.7,
            "max_tokens": 9,
            "chat_template_kwargs": {"enable_thinking": False},
            "reasoning_effort": "low",
            "top_p": 0.9,
        },
    }
    assert user_side(args).recorded == {"model": "u", "options": {"x": {"y": 1}}}


def test_the_customer_is_the_agents_model_with_its_options_unless_named() -> None:
    args = parsed("--temperature", "0.7")
    assert user_side(args).recorded == agent_side(args).recorded


@pytest.mark.parametrize("option", ["--judge-url", "--judge-key-env"])
def test_a_judge_without_a_model_is_refused(option: str) -> None:
    with pytest.raises(UsageError, match="need --judge-model"):
        judge_side(parsed(option, "JUDGE"))


@pytest.mark.parametrize("value", ["--temperature=warm", "--option=top_p", "--option=top_p=oops"])
def test_what_cannot_be_read_is_refused(value: str) -> None:
    with pytest.raises(SystemExit):
        parsed(value)
