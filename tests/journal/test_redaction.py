"""A secret planted in every place of a conversation is in none of the journal's outputs, in no encoding."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledgeragent import Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.cli.main import main
from ledgeragent.journal import REDACTED, Journal
from ledgeragent.journal.secrecy import SecretValues
from ledgeragent.paths import Path as RecordPath
from ledgeragent.session import Session
from ledgeragent.verdict import Decision, Finding, Kind, Verdict
from tests.journal.reading import chain_of
from tests.journal.test_journal import BANK

REDACT = ["accounts.*.owner", "args.owner"]


def encodings(secret: str) -> Iterator[bytes]:
    raw = secret.encode()
    yield raw
    yield json.dumps(secret)[1:-1].encode()
    yield json.dumps(json.dumps(secret)[1:-1])[1:-1].encode()
    yield quote(secret, safe="").encode()
    yield quote_plus(secret).encode()
    yield base64.b64encode(raw).rstrip(b"=")[:-1]
    yield base64.b64encode(b"x" + raw)[2:-4]


def planted(journal: Journal, secret: str, name: str) -> None:
    """A conversation with the secret wherever a model, a tool, a user or a rule can put it."""
    session = Session(BANK)
    session.heard()
    asked = ToolCall(name="get_account", arguments={"account_id": "A1", "owner": secret}, id="c1")
    journal.proposed(name, Reply(calls=(asked,)))
    filtered = session.filter(Reply(calls=(asked,)))
    journal.judged(name, filtered)
    content = json.dumps({"account_id": "A1", "owner": secret, "status": "frozen"})
    returned = ToolReturn(call_id="c1", content=content)
    journal.observed(name, asked, returned, session.observe(returned))
    token = base64.b64encode(secret.encode()).decode()
    said = f"I am {secret}, {quote(secret)}, {json.dumps(secret)} or {token}"
    journal.heard(f"session of {secret}", UserMessage(text=said))
    arguments = {"note": said, secret: [secret], "list": [{"deep": quote_plus(secret)}]}
    calls = (
        ToolCall(name="close_account", arguments=arguments, id=f"call-{secret}"),
        ToolCall(name="close_account", id="c3", malformed=f'{{"owner": "{secret}"'),
        ToolCall(name=f"tool_{secret}", id="c4"),
    )
    journal.proposed(name, Reply(text=said, calls=calls))
    finding = Finding(
        kind=Kind.ERROR,
        predicate="bank/account-open",
        clause=None,
        decision=Decision.BLOCK,
        reason=said,
        reads=(calls[0],),
        error=f"KeyError: {said}",
        public=said,
    )
    verdicts = tuple(Verdict(call=c, decision=Decision.BLOCK, findings=(finding,)) for c in calls)
    journal.judged(name, replace(filtered, verdicts=verdicts))
    stored = RecordPath(("accounts", secret))
    failed = session.observe(ToolReturn(call_id="c3", content=said))
    odd = failed._replace(stored=(stored,), skipped=said, problems=(said,))
    journal.executed(name, calls[0], ToolReturn(call_id="c3", content=said, error=True), odd)


@pytest.mark.parametrize("name", ["j.jsonl", "j.sqlite"])
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(secret=st.text(st.sampled_from('abcXYZ0189 @."\\/äß€%+&'), min_size=8, max_size=30))
def test_a_secret_is_in_no_output(
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
    name: str,
    secret: str,
) -> None:
    folder = tmp_path_factory.mktemp("planted")
    file, secret = folder / name, f"q{secret.strip()}q"
    with Journal.open(file, BANK, redact=REDACT) as journal:
        planted(journal, secret, "s1")
        outputs = [f.read_bytes() for f in folder.iterdir()]  # with the log of SQLite, if any
    capsys.readouterr()
    page = folder / "page.html"
    for words in (
        ["journal", "show", str(file)],
        ["journal", "export", str(file)],
        ["journal", "verify", str(file)],
        ["view", str(file), "--domain", "tests.journal.test_journal:BANK", "-o", str(page)],
    ):
        assert main(words) == 0, capsys.readouterr()
        outputs.append("".join(capsys.readouterr()).encode())
    outputs += [f.read_bytes() for f in folder.iterdir()]
    for form in encodings(secret):
        assert not any(form in output for output in outputs), form


def test_a_short_value_goes_as_a_whole_word_and_the_gates_own_words_stay() -> None:
    values = SecretValues()
    values.add(["open", "BLOCK", 12345, "no", True])
    record = {"decision": "BLOCK", "text": "open, reopened, BLOCK, no", "sum": 12345, "turn": 12345}
    assert values.without(record, {"decision", "BLOCK"}) == {
        "decision": "BLOCK",
        "text": "[redacted], reopened, BLOCK, no",
        "sum": "[redacted]",
        "turn": 12345,
    }


def test_what_one_policy_redacted_is_a_secret_to_the_next(tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl"
    with Journal.open(file, BANK, redact=REDACT) as journal:
        planted(journal, "Ines Okafor", "s1")
        journal.under(BANK, redact=["text"]).heard("s2", UserMessage(text="Hi"))
        journal.under(BANK).proposed("s2", Reply(text="Hello Ines Okafor"))
    assert "Okafor" not in file.read_text()
    assert chain_of(file).intact


@pytest.mark.parametrize(
    "content",
    [{"x": float("inf")}, {1: "a", "1": "b"}, {"x": "\ud800"}, {"x": {2, 3}}, float("nan")],
)
def test_what_json_cannot_hold_is_written_so_that_it_can_be_read(
    tmp_path: Path, content: object
) -> None:
    file = tmp_path / "j.sqlite"
    session = Session(BANK)
    call = ToolCall(name="close_account", arguments={"account_id": "A1"}, id="c1")
    with Journal.open(file, BANK) as journal:
        returned = ToolReturn(call_id="c1", content=content)
        journal.executed("s", call, returned, session.observe(returned))
    assert chain_of(file).intact
    assert main(["journal", "export", str(file)]) == 0
    with sqlite3.connect(file) as base:
        [(line,)] = base.execute("SELECT record FROM journal")
    base.close()
    assert "Infinity" not in line and "NaN" not in line


@pytest.mark.parametrize(
    "secret", ["status", "account", "close", "content", "decision", "get_acc", "1", "c1"]
)
def test_a_secret_that_is_also_a_name_takes_no_name_out(tmp_path: Path, secret: str) -> None:
    """Names of fields, tools and rules, and the journal's own keys, are no customer's value."""

    def shapes(redact: list[str], owner: str) -> list[object]:
        file = tmp_path / f"{len(redact)}.jsonl"
        with Journal.open(file, BANK, redact=redact) as journal:
            session = Session(BANK)
            session.heard()
            call = ToolCall(name="get_account", arguments={"account_id": "A7"}, id="k")
            close = ToolCall(name="close_account", arguments={"account_id": "A7"}, id="k2")
            journal.proposed("s", Reply(calls=(call,)))
            session.filter(Reply(calls=(call,)))
            record = {"account_id": "A7", "owner": owner, "status": "frozen"}
            returned = ToolReturn(call_id="k", content=json.dumps(record))
            journal.observed("s", call, returned, session.observe(returned))
            journal.proposed("s", Reply(calls=(close,)))
            journal.judged("s", session.filter(Reply(calls=(close,))))
            journal.heard("s", UserMessage(text="the rest"))
        return [_shape(json.loads(line)) for line in file.read_text().splitlines()]

    assert shapes(REDACT, secret) == shapes(["nothing"], secret)


def _shape(value: object, key: str = "") -> object:
    """The keys of a record, and its texts where these are names."""
    if isinstance(value, dict):
        return {name: _shape(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return [_shape(part, key) for part in value]
    names = ("name", "source", "path", "stored", "fields", "decision", "kind", "predicate", "word")
    return value if key in names else None


def test_a_field_called_as_the_gates_own_is_no_hiding_place() -> None:
    values = SecretValues()
    values.add("Ines Okafor")
    assert values.without({"kind": "Ines Okafor"}) == {"kind": REDACTED}


def test_two_keys_that_hold_a_secret_stay_two() -> None:
    values = SecretValues()
    values.add("Ines Okafor")
    record = {"Ines Okafor": 1, "INES OKAFOR": 2, "x": 3}
    assert list(values.without(record).values()) == [1, 2, 3]
