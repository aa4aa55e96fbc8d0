"""`ledgeragent test --cases` through the front door."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.offline.test_cases import LEND, LONG, READ_MEMBER, case

from .branches import NAME
from .command import BOOK, MEMBER, OWES, ledgeragent

RIGHT = [
    case(LEND, BOOK, MEMBER, id="a"),
    case(LONG, BOOK, MEMBER, id="b", kind="violation", decision="reject", clause="lending/days"),
    case(LEND, BOOK, id="c", kind="missing", decision="revise_read", read=READ_MEMBER),
]
APART = case(LEND, BOOK, MEMBER, id="d", decision="reject", clause="lending/polite")
CALL = 'should be a call, {"name": ..., "arguments": {...}}'
DECISIONS = "allow, reject, revise_read"
WRONG = case(LEND, BOOK, OWES, id="e")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file for cases."""
    return tmp_path / "cases.jsonl"


def write(file: Path, *rows: object) -> Path:
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


def test_all_right_exits_0(file: Path) -> None:
    write(file, *RIGHT, APART)
    done = ledgeragent("test", "--domain", NAME, "--cases", file, "--format", "json")
    assert done.code == 0
    assert {key: done.json[key] for key in ("cases", "correct", "mismatches", "skipped")} == {
        "cases": 3,
        "correct": 3,
        "mismatches": [],
        "skipped": 0,
    }
    assert done.json["by_kind"]["missing"] == {"cases": 1, "correct": 1}
    apart = done.json["apart"]
    assert (apart["cases"], apart["correct"], apart["mismatches"][0]["id"]) == (1, 0, "d")


def test_a_mismatch_exits_1_and_is_told_with_what_was_read(file: Path) -> None:
    write(file, *RIGHT, WRONG)
    done = ledgeragent("test", "--domain", NAME, "--cases", file, "--format", "json")
    (row,) = done.json["mismatches"]
    assert done.code == 1
    assert set(row) == {
        "id",
        "kind",
        "note",
        "call",
        "expected",
        "decision",
        "predicates",
        "shadow",
        "reads",
        "reason",
        "evidence",
    }
    assert (row["id"], row["decision"], row["predicates"]) == ("e", "reject", ["lending/fines"])


def test_people_read_the_same(file: Path) -> None:
    write(file, *RIGHT, WRONG, APART)
    done = ledgeragent("test", "--domain", NAME, "--cases", file)
    assert done.code == 1
    for there in ("e: expected allow, got reject (lending/fines)", "2.50 are owed", "Apart"):
        assert there in done.out


def test_gzip_stdin_and_several_files(file: Path) -> None:
    rows = write(file, *RIGHT).read_bytes()
    zipped = file.with_suffix(".gz")
    zipped.write_bytes(gzip.compress(rows))
    flags = ("test", "--domain", NAME, "--format", "json", "--cases")
    assert ledgeragent(*flags, zipped).json["cases"] == 3
    assert ledgeragent(*flags, "-", stdin=rows).json["cases"] == 3
    assert ledgeragent(*flags, file, "--cases", zipped).json["cases"] == 6


def test_a_folder_in_the_environment_adds_nothing_to_the_files_named(
    file: Path, tmp_path: Path
) -> None:
    write(file, *RIGHT)
    folder = tmp_path / "data" / "benchmarks" / "cases"
    folder.mkdir(parents=True)
    write(folder / f"{NAME}.jsonl", *RIGHT)
    env = {"LEDGERAGENT_DATA_DIR": str(tmp_path / "data")}
    done = ledgeragent("test", "--domain", NAME, "--cases", file, "--format", "json", env=env)
    assert done.json["cases"] == 3


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "the file is empty"),
        ("{\n", "cases.jsonl:1: not JSON"),
        ('{"id": "a"}\n', "cases.jsonl:1: kind: should be text, but is missing"),
        ("[7]\n", "cases.jsonl:1: not a labelled case: it is no JSON object"),
        (json.dumps([WRONG, WRONG]), "cases.jsonl:1: id: should be unique, but line 1 has it"),
        (json.dumps({**WRONG, "domain": "retail"}), "no case of domain lending"),
    ],
    ids=["empty", "cut", "other", "number", "twice", "foreign"],
)
def test_what_holds_no_case_exits_2_in_one_line(file: Path, content: str, told: str) -> None:
    file.write_text(content)
    done = ledgeragent("test", "--domain", NAME, "--cases", file)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert told in done.err


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"id": {}}, "id: should be text or a whole number, not {}"),
        ({"id": ""}, 'id: should be text or a whole number, not ""'),
        ({"id": True}, "id: should be text or a whole number, not true"),
        ({"id": "a"}, "id: should be unique, but line 1 has it"),
        ({"kind": None}, "kind: should be text, not null"),
        ({"clause": 5}, "clause: should be text or null, not 5"),
        ({"domain": ["lending"]}, 'domain: should be text or null, not ["lending"]'),
        ({"messages": "hi"}, 'messages: should be a list of messages, not "hi"'),
        ({"messages": [1]}, "messages: message 1: it is no message object"),
        ({"call": "lend_book"}, f'call: {CALL}, not "lend_book"'),
        ({"call": {"arguments": {}}}, "call.name: should be text, but is missing"),
        ({"call": {"name": 5}}, "call.name: should be text, not 5"),
        ({"call": {**LEND, "arguments": [1]}}, "call.arguments: should be an object, or text, not"),
        ({"expect": "allow"}, 'expect: should be an object, not "allow"'),
        ({"expect": {}}, f"expect.decision: should be one of {DECISIONS}, but is missing"),
        (
            {"expect": {"decision": "deny"}},
            f'expect.decision: should be one of {DECISIONS}, not "deny"',
        ),
        ({"expect.decision": ["allow"]}, f"expect.decision: should be one of {DECISIONS}, not"),
        ({"expect.accept": "allow"}, f"expect.accept: should be a list of decisions ({DECISIONS})"),
        ({"expect.accept": ["allow", "no"]}, "expect.accept: should be a list of decisions ("),
        ({"expect.accept": [{}]}, "expect.accept: should be a list of decisions ("),
        ({"expect.clause": 5}, "expect.clause: should be text or null, not 5"),
        ({"expect.clause_any": "x"}, 'expect.clause_any: should be a list of clause ids, not "x"'),
        ({"expect.clause_any": [5]}, "expect.clause_any: should be a list of clause ids, not [5]"),
        ({"expect.read": "get_book"}, f'expect.read: {CALL}, not "get_book"'),
        ({"expect.read": {"name": 5}}, "expect.read.name: should be text, not 5"),
        (
            {"expect.read": {"name": "a", "arguments": "{"}},
            "expect.read.arguments: should be a JSON",
        ),
        ({"expect.read_any": READ_MEMBER}, "expect.read_any: should be a list of calls, not {"),
        ({"expect.read_any": ["get_book"]}, "expect.read_any: should be a list of calls, not ["),
        ({"expect.read_any": [READ_MEMBER, {}]}, "expect.read_any[1].name: should be text, but is"),
        ({"call": "x" * 500}, f'call: {CALL}, not "{"x" * 59}...'),
    ],
    ids=lambda value: json.dumps(value)[:40] if isinstance(value, dict) else "",
)
def test_a_field_that_is_not_as_it_should_be_is_named(
    file: Path, changed: dict[str, object], told: str
) -> None:
    ((name, value),) = changed.items()
    holder, _, inner = name.partition(".")
    row = {**WRONG, holder: {**WRONG["expect"], inner: value} if inner else value}
    write(file, RIGHT[0], row)
    done = ledgeragent("test", "--domain", NAME, "--cases", file)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"ledgeragent: error: {file}:2: {told}")


@pytest.mark.parametrize("name", ["id", "kind", "messages", "call", "expect"])
def test_a_field_that_is_missing_is_named(file: Path, name: str) -> None:
    write(file, {key: value for key, value in WRONG.items() if key != name})
    done = ledgeragent("test", "--domain", NAME, "--cases", file)
    assert done.code == 2
    assert done.err.startswith(f"ledgeragent: error: {file}:1: {name}: should be ")
    assert done.err.endswith(", but is missing\n")


def test_what_a_row_may_leave_out(file: Path) -> None:
    bare = {key: RIGHT[0][key] for key in ("kind", "messages", "call")}
    rows = [
        {**bare, "id": 1, "expect": {"decision": "allow"}},
        {**bare, "id": 2, "expect": {"accept": ["allow", "reject"]}, "note": "why"},
        {**bare, "id": 3, "expect": {"decision": "allow", "accept": None, "read_any": None}},
        {
            **RIGHT[2],
            "id": 4,
            "expect": {"decision": "revise_read", "read": {"name": "get_member"}},
        },
        {**bare, "id": 5, "call": {**LEND, "arguments": "{"}, "expect": {"decision": "reject"}},
    ]
    write(file, *rows)
    done = ledgeragent("test", "--domain", NAME, "--cases", file, "--format", "json")
    assert done.err == ""
    assert [row["id"] for row in done.json["mismatches"]] == ["4"]


def test_a_missing_file_exits_2(tmp_path: Path) -> None:
    done = ledgeragent("test", "--domain", NAME, "--cases", tmp_path / "nowhere")
    assert done == (2, "", f"ledgeragent: error: {tmp_path}/nowhere: No such file or directory\n")


def test_the_cases_of_a_real_pack(data_dir: Path) -> None:
    file = data_dir / "benchmarks" / "cases" / "retail.jsonl.gz"
    done = ledgeragent("test", "--domain", "retail", "--cases", file, "--format", "json")
    assert (done.code, done.json["mismatches"]) == (0, [])
    assert done.json["apart"]["cases"] > 0
