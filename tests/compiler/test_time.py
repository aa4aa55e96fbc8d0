"""The time in rules: by the host's clock, by a parameter, in the pack's zone."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgeragent.compiler.loader import read_outline
from ledgeragent.compiler.parameters import with_parameters
from ledgeragent.gate import Gate
from ledgeragent.session import Session
from ledgeragent.state import ledger_of
from ledgeragent.types import Reply
from ledgeragent.verdict import Decision
from tests.compiler.small_bank import ACCOUNT, HEAD, bank, read, rule, session_at, transfer

pytest.importorskip("cel_expr_python")

DAYS = "days(account.opened_on, today) >= params.days"
REQUIRES = {"requires": '{account: "accounts.{account_id}"}'}


@pytest.mark.parametrize(
    ("now", "allowed"),
    [
        ("2025-03-14T12:00:00+00:00", False),
        ("2025-03-14T22:59:59+00:00", False),
        ("2025-03-14T23:00:00+00:00", True),  # midnight in Berlin
        ("2025-03-15T00:00:00+01:00", True),
    ],
)
def test_today_is_the_day_in_the_zone_of_the_pack(tmp_path: Path, now: str, allowed: bool) -> None:
    session = session_at(bank(tmp_path, rule(DAYS, **REQUIRES)), now, now)
    read(session)
    verdict = session.filter(Reply(calls=(transfer(),))).verdicts[0]
    assert not verdict.errors
    assert verdict.allowed is allowed


@pytest.mark.parametrize(
    ("check", "allowed"),
    [
        ("now > timestamp('2025-03-14T11:59:59Z')", True),
        ("now - timestamp('2025-03-14T00:00:00Z') < duration('12h')", False),
        ("now.getHours(timezone) == 13", True),
        ("now.getHours() == 12", True),
        ("today == '2025-03-14'", True),
        ("date(today) < now", True),
        ("timezone == 'Europe/Berlin'", True),
    ],
)
def test_what_a_rule_can_ask(tmp_path: Path, check: str, allowed: bool) -> None:
    session = session_at(bank(tmp_path, rule(check)), "2025-03-14T12:00:00Z")
    verdict = session.filter(Reply(calls=(transfer(),))).verdicts[0]
    assert not verdict.errors, verdict.errors
    assert verdict.allowed is allowed


def test_the_clock_is_asked_once_for_a_reply(tmp_path: Path) -> None:
    domain = bank(tmp_path, rule("now < timestamp('2025-01-02T00:00:00Z')"))
    session = session_at(domain, "2025-01-01T00:00:00Z", "2025-01-03T00:00:00Z")
    both = (transfer(1, account_id="A"), transfer(2, account_id="B"))
    assert [v.allowed for v in session.filter(Reply(calls=both)).verdicts] == [True, True]
    assert [v.allowed for v in session.filter(Reply(calls=both)).verdicts] == [False, False]


def test_a_reply_that_tells_its_time_needs_no_clock(tmp_path: Path) -> None:
    session = session_at(bank(tmp_path, rule("today == '2024-12-31'")))
    reply = Reply(calls=(transfer(),), at="2024-12-31T08:00:00+01:00")
    filtered = session.filter(reply)
    assert filtered.verdicts[0].allowed
    assert filtered.now == reply.at


def test_a_parameter_counts_before_every_clock(tmp_path: Path) -> None:
    domain = with_parameters(bank(tmp_path, rule("today == '2030-01-01'")), {"now": "2030-01-01"})
    filtered = session_at(domain, "2025-01-01T00:00:00Z").filter(Reply(calls=(transfer(),)))
    assert filtered.verdicts[0].allowed


def test_without_a_time_the_call_is_refused_and_says_why(tmp_path: Path) -> None:
    domain = bank(tmp_path, rule("today > '2000-01-01'"))
    verdict = Gate(domain=domain).judge(transfer(), ledger_of({}))
    assert verdict.decision is Decision.BLOCK
    (error,) = verdict.errors
    assert error.error is not None and error.error.startswith("UnknownTimeError")


def test_a_session_has_a_clock_of_its_own(tmp_path: Path) -> None:
    domain = bank(tmp_path, rule("today > '2000-01-01' && now > timestamp('2000-01-01T00:00:00Z')"))
    filtered = Session(domain).filter(Reply(calls=(transfer(),)))
    assert filtered.verdicts[0].allowed
    assert filtered.now


def test_who_asks_for_no_time_is_told_none(tmp_path: Path) -> None:
    domain = bank(tmp_path, rule("args.amount < 100.0"))
    assert not domain.timed
    assert not session_at(domain).filter(Reply(calls=(transfer(),))).now


def test_names_of_ones_own_count_before_those_of_the_time(tmp_path: Path) -> None:
    more = {"let": "{today: params.days, now: args.amount}"}
    domain = bank(tmp_path, rule("today == 14 && now == 60.0", **more))
    assert not domain.timed
    assert session_at(domain).filter(Reply(calls=(transfer(),))).verdicts[0].allowed


def test_a_path_can_name_the_day(tmp_path: Path) -> None:
    head = HEAD.replace(
        "writes:\n", '  get_rate: {to: "rates.{day}", record: {day: str, rate: float}}\nwrites:\n'
    )
    rules = rule("rate.rate > 1.0", requires='{rate: "rates.{today}"}')
    session = session_at(bank(tmp_path, rules, head), "2025-03-14T12:00:00Z")
    (verdict,) = session.filter(Reply(calls=(transfer(),))).verdicts
    assert [str(call) for call in verdict.missing[0].reads] == ['get_rate(day="2025-03-14")']


def test_a_zone_that_there_is_none_of(tmp_path: Path) -> None:
    file = tmp_path / "bank.yaml"
    file.write_text(f"{HEAD.replace('Berlin', 'Brelin')}rules: []\n")
    (problem,) = read_outline(file).findings
    assert (problem.place.line, problem.code) == (3, "syntax")
    assert "Europe/Brelin" in problem.message


def test_samples_tell_their_own_time(tmp_path: Path) -> None:
    from ledgeragent.compiler.samples import run

    call = "call: {name: transfer, arguments: {account_id: A, amount: 1.0}}"
    samples = (
        "\n      now: '2025-03-20T10:00'\n"
        f"      allowed: [{{{call}}}]\n"
        f"      rejected: [{{now: '2025-03-10T10:00', {call}}}, {{params: {{days: 20}}, {call}}}]"
    )
    rules = rule("days('2025-03-01', today) >= params.days", samples=samples)
    domain = bank(tmp_path, rules)
    outline = read_outline(tmp_path / "bank.yaml")
    assert [run(sample, domain).problem for sample in outline.samples] == ["", "", ""]
    assert len(ACCOUNT) == 4
