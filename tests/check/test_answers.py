"""Python rules: what they return, the facts of their messages, touches that are no tuple."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgeragent.packs.checking import check

PACK = '''
from ledgeragent import Domain, PathTemplate, Read, Write, predicate, violation

ACCOUNT = PathTemplate("accounts.{account_id}", dict)


@predicate("desk/open", guards="close")
def is_open(call, ledger):
    """Only an open account is closed."""
    status = ledger[ACCOUNT(call["account_id"])]["status"]
    ANSWER


PACK = Domain(
    name="desk",
    version="1",
    tools=(
        Read(tool="get", to=ACCOUNT, parameters=("account_id",)),
        Write(tool="close", arguments=dict, touches=TOUCHES),
    ),
    predicates=(is_open,),
)
'''
SOUND = 'return None if status == "open" else violation("it is {status}", status=status)'
MARKED = "(lambda arguments, ledger: [],)"


def told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, touches: str = MARKED
) -> list[tuple[str, int, str]]:
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"desk_{abs(hash((answer, touches)))}"
    text = PACK.replace("ANSWER", answer).replace("TOUCHES", touches)
    (tmp_path / f"{name}.py").write_text(text)
    findings = check(f"{name}:PACK")
    return [(f.code, f.place.line, f.message) for f in findings if f.code != "missing-samples"]


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        ('return status == "open" or True', "", ""),
        ("return True", "type-error", "never True"),
        ('return "no"', "type-error", "never 'no'"),
        ('return violation("it is {state}", status=status)', "bad-message", "{state}"),
        ('return violation("it is {status[0]}", status=status)', "", ""),
        ('return violation("{{}} {status}", **{"status": status})', "", ""),
        (SOUND, "", ""),
    ],
)
def test_answers_that_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: str, message: str
) -> None:
    findings = told(tmp_path, monkeypatch, answer)
    if not code:
        assert [f for f in findings if f[0] in ("type-error", "bad-message")] == []
        return
    (finding,) = [f for f in findings if f[0] == code]
    assert finding[1] == 11
    assert message in finding[2]


def test_touches_that_are_one_function_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = told(tmp_path, monkeypatch, SOUND, "lambda arguments, ledger: []")
    assert [code for code, *_ in findings] == ["syntax"]
    assert "touches of close should be a tuple" in findings[0][2]
