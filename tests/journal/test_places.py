"""One secret in each of more than forty places, one at a time: in none of what is written or shown."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from ledgeragent import Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.cli.main import main
from ledgeragent.entry import Evidence
from ledgeragent.journal import Journal
from ledgeragent.paths import Path as RecordPath
from ledgeragent.session import Session
from ledgeragent.types import Json
from ledgeragent.verdict import Decision, Finding, Kind, Verdict
from tests.journal.test_journal import BANK
from tests.journal.test_redaction import REDACT, encodings

SECRET = 'Ines "Q" Okafor/+49 171'
BANK_NAME = "tests.journal.test_journal:BANK"
PLAIN = ToolCall(name="close_account", arguments={"account_id": "A1"}, id="c2")
Place = Callable[[Journal, str], None]


def calls(secret: str) -> Mapping[str, ToolCall]:
    """A call that holds the secret in one place."""
    return {
        "an argument": replace(PLAIN, arguments={"note": secret}),
        "a name of an argument": replace(PLAIN, arguments={secret: 1}),
        "an argument inside": replace(PLAIN, arguments={"a": {"b": [secret]}}),
        "a key inside": replace(PLAIN, arguments={"a": [{secret: None}]}),
        "a sentence": replace(PLAIN, arguments={"note": f"for {secret}, please"}),
        "malformed arguments": replace(PLAIN, arguments={}, malformed=f'{{"x": "{secret}"'),
        "a call's id": replace(PLAIN, id=f"call-{secret}"),
        "a tool's name": replace(PLAIN, name=f"tool {secret}"),
    }


def objection(**told: Any) -> Finding:
    """An objection, but for what is told otherwise."""
    plain = {
        "kind": Kind.VIOLATION,
        "clause": None,
        "decision": Decision.BLOCK,
        "reason": "not open",
    }
    return Finding(**{"predicate": "bank/account-open", **plain, **told})


def findings(secret: str) -> Mapping[str, Finding]:
    """A finding that holds the secret in one place."""
    call = replace(PLAIN, arguments={"note": secret})
    at, elsewhere = RecordPath(("accounts", "A1")), RecordPath(("accounts", secret))
    return {
        "a reason": objection(reason=f"{secret} is not open"),
        "a public reason": objection(public=f"{secret} is not open"),
        "an exception": objection(kind=Kind.ERROR, error=f"KeyError: {secret!r}"),
        "a read": objection(reads=(call,)),
        "what is waited for": objection(waits_for=(call,)),
        "a fact": objection(evidence=(Evidence(at, ("nick",), secret, PLAIN, 1),)),
        "a fact's path": objection(evidence=(Evidence(elsewhere, (), {}, PLAIN, 1),)),
        "a fact's object": objection(evidence=(Evidence(at, (), {"a": [secret]}, PLAIN, 1),)),
    }


def contents(secret: str) -> Mapping[str, Json]:
    """What a tool answers with the secret in one place."""
    return {
        "an answer": f"done for {secret}",
        "an answer as JSON": json.dumps({"x": [secret]}),
        "an answer as an object": {"x": {secret: 1}},
        "JSON in JSON": json.dumps({"x": json.dumps({"y": secret})}),
        "blocks": [{"type": "text", "text": secret}],
        "an address": f"https://example.com/?who={quote(secret)}",
        "Base64": base64.b64encode(f"x{secret}".encode()).decode(),
        "upper case": secret.upper(),
    }


def places() -> Iterator[tuple[str, Place]]:
    """Every place by name, with what puts a secret there."""
    for name in calls(""):
        yield f"{name}, proposed", lambda j, s, n=name: j.proposed("s", Reply(calls=(calls(s)[n],)))
        yield f"{name}, judged", lambda j, s, n=name: _judge(j, calls(s)[n])
    for name in findings(""):
        yield f"{name}, enforced", lambda j, s, n=name: _judge(j, PLAIN, findings(s)[n])
        yield f"{name}, in shadow", lambda j, s, n=name: _judge(j, PLAIN, shadow=findings(s)[n])
    for name in contents(""):
        yield f"{name}, observed", lambda j, s, n=name: _answer(j.observed, contents(s)[n])
        yield f"{name}, executed", lambda j, s, n=name: _answer(j.executed, contents(s)[n])
    for number, content in enumerate(contents("").values()):
        if isinstance(content, str):
            yield f"what was said {number}", lambda j, s, n=number: j.heard("s", _said(s, n))
    yield "what was replied", lambda j, s: j.proposed("s", Reply(text=f"Hello {s}"))
    yield "a session's name", lambda j, s: j.heard(f"of {s}", UserMessage(text="Hello"))
    yield (
        "where it was stored",
        lambda j, s: _answer(j.observed, "ok", stored=(RecordPath(("accounts", s)),)),
    )
    yield "why it was not stored", lambda j, s: _answer(j.observed, "ok", skipped=s, problems=(s,))


def _said(secret: str, number: int) -> UserMessage:
    return UserMessage(text=f"I am {[*contents(secret).values()][number]}")


def _judge(
    journal: Journal, call: ToolCall, finding: Finding | None = None, shadow: Finding | None = None
) -> None:
    session = Session(BANK)
    session.heard()
    verdict = Verdict(
        call=call,
        decision=Decision.BLOCK,
        findings=(finding or objection(),),
        shadow=(shadow,) if shadow else (),
    )
    filtered = session.filter(Reply(calls=(PLAIN,)))
    journal.proposed("s", Reply(calls=(call,)))
    journal.judged("s", replace(filtered, verdicts=(verdict,)))


def _answer(write: Any, content: Json, **found: Any) -> None:
    session = Session(BANK)
    session.heard()
    session.filter(Reply(calls=(PLAIN,)))
    returned = ToolReturn(call_id="c2", content=content)
    write("s", PLAIN, returned, session.observe(returned)._replace(**found))


PLACES = dict(places())


def test_there_are_more_than_forty_places() -> None:
    assert len(PLACES) > 40


@pytest.mark.parametrize("place", PLACES)
def test_no_output_holds_it(tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str) -> None:
    written: list[bytes] = []
    for name in ("j.jsonl", "j.sqlite"):
        file, page = tmp_path / name, tmp_path / f"{name}.html"
        with Journal.open(file, BANK, redact=REDACT) as journal:
            known = ToolCall(name="get_account", arguments={"owner": SECRET}, id="c1")
            journal.proposed("s", Reply(calls=(known,)))
            PLACES[place](journal, SECRET)
            written += [part.read_bytes() for part in tmp_path.iterdir()]
        for words in (
            ["journal", "show", str(file)],
            ["journal", "export", str(file)],
            ["journal", "verify", str(file)],
            ["view", str(file), "--domain", BANK_NAME, "-o", str(page)],
        ):
            assert main(words) == 0, capsys.readouterr()
            out, err = capsys.readouterr()
            written += [out.encode(), err.encode()]
            if "export" in words:
                (tmp_path / "export.jsonl").write_text(out)
    export = str(tmp_path / "export.jsonl")
    for form in ("text", "json", "junit"):
        main(["replay", export, "--domain", BANK_NAME, "--format", form])
    main(["diff", export, "--domain", BANK_NAME, "--baseline", str(tmp_path / "b"), "--update"])
    written += [text.encode() for text in capsys.readouterr()]
    written += [part.read_bytes() for part in tmp_path.iterdir()]
    for form in (*encodings(SECRET), SECRET.upper().encode()):
        assert not [text for text in written if form in text], form
