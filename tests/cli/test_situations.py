"""`ledgeragent test` on situations, on folders, and on every domain at once, through the front door."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledgeragent.cli.main import main
from tests.offline.test_cases import LEND, LONG, case
from tests.offline.test_situations import situation, written

from .branches import NAME
from .command import BOOK, MEMBER, OWES, ledgeragent

DECISIONS = "allow, reject, revise_read"
CALL = 'should be a call, {"name": ..., "arguments": {...}}'
RIGHT = situation((LEND, ["allow"]), (LONG, ["reject"]), steps=(BOOK, MEMBER), id="right")
WRONG = situation((LEND, ["allow"]), steps=(BOOK, OWES), id="wrong", note="fines are owed")
CANCEL = {
    "name": "cancel_pending_order",
    "arguments": {"order_id": "#W1", "reason": "no longer needed"},
}


def domain_situation(domain: str, call: object, *accept: str, **more: object) -> object:
    """A row of a shipped pack in which nothing was read."""
    return {**situation((call, [*accept]), id=domain), "domain": domain, **more}


def test_situations_are_read_by_the_same_option(tmp_path: Path) -> None:
    file = written(tmp_path, RIGHT, case(LEND, BOOK, MEMBER))
    done = ledgeragent("test", "--domain", NAME, "--cases", file, "--format", "json")
    assert (done.code, done.json["cases"], done.json["mismatches"]) == (0, 2, [])
    assert done.json["by_kind"]["situation"] == {"cases": 1, "correct": 1}
    assert done.json["by_file"] == {str(file): {"cases": 2, "correct": 2}}


def test_what_fails_is_told_with_its_note_and_call_and_exits_1(tmp_path: Path) -> None:
    done = ledgeragent("test", "--domain", NAME, "--cases", written(tmp_path, RIGHT, WRONG))
    assert done.code == 1
    assert "wrong: expected allow, got reject (lending/fines)\n    fines are owed\n" in done.out
    assert 'lend_book(member_id="M1", book_id="B1", days=5)' in done.out
    assert "right:" not in done.out


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            {**LEND, "accept": ["reject", "revise_read"]},
            "expected reject or revise_read, got allow",
        ),
        ({**LONG, "accept": ["reject"], "rule_any": ["a", "b"]}, "expected reject by a or b, got"),
    ],
)
def test_what_is_expected_is_told_in_words(
    tmp_path: Path, call: dict[str, object], told: str
) -> None:
    row = {**situation(steps=(BOOK, MEMBER)), "calls": [call]}
    assert told in ledgeragent("test", "--domain", NAME, "--cases", written(tmp_path, row)).out


def test_what_is_expected_of_the_whole_reply_is_told_in_words(tmp_path: Path) -> None:
    row = situation((LEND, ["allow"]), steps=(BOOK, MEMBER), not_all_allowed=True)
    done = ledgeragent("test", "--domain", NAME, "--cases", written(tmp_path, row))
    assert "s1: expected not every call of the reply allowed, got allow (no predicate)" in done.out


def test_a_label_without_a_decision_is_told_by_what_it_accepts(tmp_path: Path) -> None:
    row = {**case(LEND, BOOK, OWES), "expect": {"accept": ["allow", "revise_read"]}}
    done = ledgeragent("test", "--domain", NAME, "--cases", written(tmp_path, row))
    assert "c1: expected allow or revise_read, got reject (lending/fines)" in done.out


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"calls": []}, "calls: should be a list of calls, not []"),
        ({"calls": {}}, "calls: should be a list of calls, not {}"),
        ({"calls": ["lend"]}, f'calls[0]: {CALL}, not "lend"'),
        ({"calls": [{**LEND, "accept": ["allow"]}, {}]}, "calls[1].name: should be text, but is"),
        (
            {"calls": [{**LEND, "accept": ["allow"], "name": 5}]},
            "calls[0].name: should be text, not",
        ),
        (
            {"calls": [{**LEND, "arguments": [1]}]},
            "calls[0].arguments: should be an object, or text",
        ),
        (
            {"calls": [LEND]},
            f"calls[0].accept: should be a list of decisions ({DECISIONS}), but is",
        ),
        ({"calls": [{**LEND, "accept": []}]}, "calls[0].accept: should be a list of decisions ("),
        (
            {"calls": [{**LEND, "accept": ["no"]}]},
            "calls[0].accept: should be a list of decisions (",
        ),
        (
            {"calls": [{**LEND, "accept": ["allow"], "rule_any": "days"}]},
            'calls[0].rule_any: should be a list of rule names, not "days"',
        ),
        ({"call": LEND}, "call: should not stand beside calls"),
        ({"expect": {"decision": "allow"}}, "expect: should not stand beside calls"),
        ({"not_all_allowed": "yes"}, 'not_all_allowed: should be true or false, not "yes"'),
        ({"note": 5}, "note: should be text or null, not 5"),
        ({"kind": 5}, "kind: should be text, not 5"),
        ({"messages": [1]}, "messages: message 1: it is no message object"),
    ],
    ids=lambda value: json.dumps(value)[:40] if isinstance(value, dict) else "",
)
def test_a_field_that_is_not_as_it_should_be_is_named(
    tmp_path: Path, changed: dict[str, object], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, RIGHT, {**WRONG, **changed})
    assert main(["test", "--domain", NAME, "--cases", str(file)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"ledgeragent: error: {file}:2: {told}")


def data(folder: Path) -> Path:
    """A data folder with a labelled case of a library and situations of two shipped packs."""
    for name in ("cases", "situations"):
        (folder / "benchmarks" / name).mkdir(parents=True)
    refuel = {"name": "refuel_data", "arguments": {"customer_id": "C1"}}
    labelled = {**case(CANCEL, decision="revise_read", id="labelled"), "domain": "retail"}
    written(folder / "benchmarks" / "cases", labelled)
    written(
        folder / "benchmarks" / "situations",
        domain_situation("retail", CANCEL, "allow"),
        domain_situation("telecom", refuel, "reject"),
    )
    return folder


def test_without_a_domain_every_row_is_judged_in_the_pack_that_it_names(tmp_path: Path) -> None:
    folder = data(tmp_path) / "benchmarks" / "situations"
    done = ledgeragent("test", "--cases", folder, "--format", "json")
    scores = {name: (r["cases"], r["correct"]) for name, r in done.json["domains"].items()}
    assert scores == {"retail": (1, 0), "telecom": (1, 1)}
    text = ledgeragent("test", "--cases", folder)
    assert (done.code, text.code) == (1, 1)
    assert text.out.index("# retail\n") < text.out.index("# telecom\n")


@pytest.mark.parametrize("named", ["option", "environment"])
def test_a_data_folder_gives_its_cases_and_situations(
    tmp_path: Path, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LEDGERAGENT_DATA_DIR", raising=False)
    if named == "environment":
        monkeypatch.setenv("LEDGERAGENT_DATA_DIR", str(data(tmp_path)))
        done = ledgeragent("test", "--format", "json")
    else:
        done = ledgeragent("test", "--data-dir", data(tmp_path), "--format", "json")
    retail = done.json["domains"]["retail"]
    assert [Path(file).parent.name for file in retail["by_file"]] == ["cases", "situations"]
    assert [row["id"] for row in retail["mismatches"]] == ["retail"]
    assert retail["by_kind"]["compliant"] == {"cases": 1, "correct": 1}


def test_a_data_folder_and_a_domain_are_the_rows_of_that_domain(tmp_path: Path) -> None:
    done = ledgeragent("test", "--domain", "telecom", "--data-dir", data(tmp_path))
    assert done.code == 0
    assert "Skipped 2 cases of other domains" in done.out


def test_the_scores_of_several_files_are_told_by_file(tmp_path: Path) -> None:
    done = ledgeragent("test", "--domain", "retail", "--data-dir", data(tmp_path))
    assert done.code == 1
    lines = [line.split() for line in done.out.splitlines() if "situations.jsonl" in line]
    assert [line[1:] for line in lines] == [["1", "1"], ["1", "0"]]


def test_a_domain_without_cases_is_its_samples_whatever_data_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEDGERAGENT_DATA_DIR", str(data(tmp_path)))
    done = ledgeragent("test", "--domain", "shop", "--format", "json")
    assert done.code == 0
    assert "by_rule" in done.json


def test_rows_of_no_shipped_pack_need_a_domain(tmp_path: Path) -> None:
    for domain, told in (
        (None, "case s1 names no domain; judge it with --domain"),
        (
            "retial",
            "case s1 names retial, which is no shipped pack; did you mean retail?",
        ),
        ("nowhere/pack.yaml", "names nowhere/pack.yaml, which is no shipped pack"),
    ):
        row = {**situation((LEND, ["allow"])), "domain": domain}
        done = ledgeragent("test", "--cases", written(tmp_path, row))
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert told in done.err and "--domain" in done.err


@pytest.mark.parametrize(
    "option", [("--version", "tau"), ("--tools", "get_book"), ("--enforce", "*=warn")]
)
def test_options_about_a_domain_need_one(tmp_path: Path, option: tuple[str, str]) -> None:
    done = ledgeragent("test", "--cases", written(tmp_path, RIGHT), *option)
    assert (done.code, done.out) == (2, "")
    assert "--version, --tools, --param and --enforce need --domain" in done.err


def test_nothing_to_judge_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEDGERAGENT_DATA_DIR", raising=False)
    done = ledgeragent("test")
    assert (done.code, done.out) == (2, "")
    assert "nothing to judge: name a pack with --domain" in done.err
    done = ledgeragent("test", "--data-dir", tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "has neither benchmarks/cases nor benchmarks/situations" in done.err.replace("\\", "/")
