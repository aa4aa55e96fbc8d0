"""`ledgeragent replay` through the front door: reports, input of every kind, exit codes."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.lending.domain import BOOK_IN

from .branches import NAME
from .command import BOOK, MEMBER, ROOT, RUNS, called, jsonl, ledgeragent, lend, run, said

GOLDEN = ROOT / "tests" / "golden" / "replay.json"
BROKEN = '{"id": \n'


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Ten recorded runs, and a broken line among them."""
    file = tmp_path / "runs.jsonl"
    file.write_text(jsonl(*RUNS[:4]) + BROKEN + jsonl(*RUNS[4:]))
    return file


def report(*files: str | Path, stdin: bytes = b"", domain: str = NAME, **options: Any) -> Any:
    """The JSON report on some files; fails unless the command went well."""
    flags = [flag for name, value in options.items() for flag in (f"--{name}", str(value))]
    done = ledgeragent(
        "replay", *files, "--domain", domain, "--format", "json", *flags, stdin=stdin
    )
    assert (done.code, done.err) == (0, "")
    return done.json


def test_the_json_report_is_as_documented(runs: Path) -> None:
    done = ledgeragent("replay", runs, "--domain", NAME, "--format", "json")
    assert done.code == 0
    assert done.out.replace(str(runs), "runs.jsonl") == GOLDEN.read_text()


def test_a_broken_line_is_told_with_file_and_line_and_counted(runs: Path) -> None:
    done = ledgeragent("replay", runs, "--domain", NAME, "--format", "json")
    place = f"{runs}:5: not JSON: Expecting value at column 7"
    assert done.err == f"ledgeragent: skipped: {place}\n"
    assert done.json["skipped_by_reason"]["broken"] == 1
    assert done.json["runs"] == 8


def test_the_text_report_says_what_people_need(runs: Path) -> None:
    done = ledgeragent("replay", runs, "--domain", NAME)
    assert done.code == 0
    for said_there in (
        "lending: 8 runs, 17 calls, 9 writes judged",
        "skipped 3 (1 broken, 1 nonstandard tools, 1 other domain)",
        "a loan of 99 days is too long: 28 at most",
        'read members.M1.fines = 2.5, from get_member(member_id="M1")',
        "lending/fines: tau2 task 3, 1 runs",
        "members.M1 was never read",
        "lending/fines could not decide",
        "RuntimeError: there are no shelves",
    ):
        assert said_there in done.out


def test_the_junit_report_fails_the_predicates_that_reject(runs: Path) -> None:
    done = ledgeragent("replay", runs, "--domain", NAME, "--format", "junit")
    suite = ElementTree.fromstring(done.out)
    failed = {
        case.get("name"): [element.tag for element in case] for case in suite.iter("testcase")
    }
    assert done.code == 0
    assert suite.attrib["tests"] == "5"
    assert failed == {
        "lending/days": ["failure"],
        "lending/available": [],
        "lending/fines": ["failure"],
        "lending/shelves": ["error"],
        "gate/arguments": ["failure"],
    }


def test_junit_is_xml_whatever_the_records_say(tmp_path: Path) -> None:
    odd = called("lend_book", {"member_id": "M1", "book_id": "\x00<&\ud800", "days": 99}, "lent")
    file = tmp_path / "odd.json"
    file.write_text(json.dumps(run("\x1b[2J", odd)))
    done = ledgeragent("replay", file, "--domain", NAME, "--format", "junit")
    assert done.code == 0
    assert ElementTree.fromstring(done.out).get("failures") == "1"


def test_text_shows_nothing_that_moves_the_cursor(tmp_path: Path) -> None:
    odd = called("lend_book", {"member_id": "M1", "book_id": "B1\x1b[2J\n", "days": 99}, "lent")
    file = tmp_path / "odd.json"
    file.write_text(json.dumps(run("\x1b[2J", odd)))
    done = ledgeragent("replay", file, "--domain", NAME)
    assert done.code == 0
    assert "\x1b" not in done.out


@pytest.mark.parametrize("copies", [1, 400])
def test_the_report_does_not_depend_on_the_number_of_processes(tmp_path: Path, copies: int) -> None:
    file, other = tmp_path / "runs.jsonl", tmp_path / "other.json"
    padded = [{**RUNS[n % len(RUNS)], "id": str(n), "note": "x" * 5000} for n in range(copies)]
    file.write_text(jsonl(*padded) + BROKEN)
    other.write_text(json.dumps([RUNS[0]["messages"]]))
    reports = [
        ledgeragent("replay", file, other, "--domain", NAME, "--format", "json", "--jobs", jobs)
        for jobs in ("1", "2")
    ]
    assert reports[0] == reports[1]
    assert reports[0].json["runs"] > 0


def test_gzip_and_stdin_give_the_same_report(tmp_path: Path) -> None:
    text = jsonl(*RUNS).encode()
    plain, zipped = tmp_path / "runs.jsonl", tmp_path / "runs.jsonl.gz"
    plain.write_bytes(text)
    zipped.write_bytes(gzip.compress(text))
    wanted = report(plain)
    assert wanted["runs"] == 8
    assert report(zipped) == wanted
    assert report("-", stdin=text) == wanted
    assert report("-", stdin=gzip.compress(text)) == wanted


def test_every_form_of_a_run_is_judged_alike(tmp_path: Path) -> None:
    messages = run("", BOOK, MEMBER, lend(99))["messages"]
    forms = {
        "list.json": messages,
        "object.json": {"messages": messages},
        "lists.json": [messages],
        "tau.json": [{"task_id": 1, "reward": 0, "info": {}, "traj": messages, "trial": 0}],
        "tau2.json": {"info": {}, "tasks": [], "simulations": [{"id": "1", "messages": messages}]},
    }
    for name, form in forms.items():
        file = tmp_path / name
        file.write_text(json.dumps(form, indent=2))
        found = report(file)
        assert (found["runs"], found["writes"]["judged"]) == (1, 1), name
        assert [row["predicate"] for row in found["rejected_executed_writes"]] == ["lending/days"]


def test_a_return_of_a_megabyte_and_a_list_of_them(tmp_path: Path) -> None:
    long = {**BOOK_IN, "title": "x" * 1_000_000}
    listed = called("list_books", {"word": "x"}, [long, {**BOOK_IN, "book_id": "B2"}])
    steps = (called("get_book", {"book_id": "B1"}, long), listed, MEMBER, lend())
    file = tmp_path / "long.jsonl"
    file.write_text(jsonl(run("long", *steps, reward=1)))
    assert report(file)["writes"]["allow"] == 1


def test_runs_with_nonstandard_tools_are_judged_on_request(tmp_path: Path) -> None:
    burn = called("burn_book", {"book_id": "B1"}, "burnt")
    file = tmp_path / "runs.jsonl"
    file.write_text(jsonl(run("strange", burn, lend(99), nonstandard_tools=["burn_book"])))
    assert report(file)["skipped_by_reason"] == {"nonstandard tools": 1}
    done = ledgeragent("replay", file, "--domain", NAME, "--format", "json", "--nonstandard")
    assert done.json["runs"] == 1
    assert done.json["writes"]["judged"] == 1


def test_the_version_follows_the_benchmark_unless_one_is_given(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(
        jsonl(*(run(b, BOOK, MEMBER, lend(14), benchmark=b) for b in ("tau2", "tau", "tau_trait")))
    )
    rejected = [row["run"] for row in report(file)["rejected_executed_writes"]]
    assert rejected == ["tau", "tau_trait"]
    assert report(file, version="tau2")["rejected_executed_writes"] == []
    assert len(report(file, version="tau")["rejected_executed_writes"]) == 3


def test_no_rule_asks_for_a_tool_that_the_agent_lacks(tmp_path: Path) -> None:
    file, tools = tmp_path / "runs.jsonl", tmp_path / "tools.json"
    tools.write_text(json.dumps([{"type": "function", "function": {"name": "get_book"}}]))
    file.write_text(jsonl(run("r", BOOK, lend())))
    assert report(file)["writes"]["revise_evidence"] == 1
    for given in ("get_book,lend_book", tools):
        bound = report(file, tools=given)
        assert bound["writes"]["allow"] == 1
        assert bound["near_misses"][0]["undecided"] == ["lending/fines"]


def test_a_run_that_lists_its_tools_is_bound_to_them(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(jsonl(run("r", BOOK, lend(), tools=["get_book", "lend_book"])))
    assert report(file)["writes"]["allow"] == 1


def test_an_unanswered_write_did_not_execute(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(jsonl(run("cut", lend(99)[:1], reward=0)))
    found = report(file)
    assert (found["writes"]["judged"], found["writes"]["executed"]) == (1, 0)
    assert found["rejected_executed_writes"] == []


def test_only_runs_of_other_domains_is_a_report_too(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(jsonl(run("r", BOOK, domain="shop")))
    found = report(file)
    assert (found["runs"], found["skipped"]) == (0, 1)


def test_telecom_of_another_benchmark_is_another_domain(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    steps = called("record_payment", {"amount": 5}, "recorded")
    file.write_text(jsonl(run("r", steps, domain="telecom", benchmark="tau_trait")))
    assert report(file, domain="telecom")["skipped_by_reason"] == {"other domain": 1}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "the file is empty"),
        (b"\x89PNG\r\n\x1a\n\x00\xff\xfe", "it holds no conversation: it is a PNG image"),
        (bytes(range(256)) * 50, "1: not JSON: Expecting value at column 1"),
        (b'{"id": ', "1: not JSON: Expecting value at column 7"),
        (b"17", "1: a recorded conversation is a JSON object or a list of messages"),
        (b"{}", '1: no conversation: expected a list under "messages" or "traj"'),
        (b"[]", "1: no conversation: the list is empty"),
        (b'{"messages": []}', '1: no conversation: "messages" is empty'),
        (b'{"simulations": 5}', '1: no conversation: "simulations" is no list'),
        (b'{"simulations": []}', '1: no conversation: "simulations" is empty'),
        (b'{"settings": {}}', "there is no run in it"),
        (b'{"messages": [[]]}', "1: message 1: it is no message object"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_input_without_any_run_is_an_error(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    done = ledgeragent("replay", file, "--domain", NAME)
    assert (done.code, done.out) == (2, "")
    *tried, last = done.err.splitlines()
    assert all(re.match("ledgeragent: it is no [a-z0-9-]+: ", line) for line in tried)
    assert re.fullmatch(rf"ledgeragent: error: {re.escape(str(file))}: ?{re.escape(told)}", last)


def test_a_missing_file_is_an_error_in_one_line(tmp_path: Path) -> None:
    done = ledgeragent("replay", tmp_path / "nowhere", "--domain", NAME)
    assert done == (2, "", f"ledgeragent: error: {tmp_path}/nowhere: No such file or directory\n")


def test_a_pattern_stands_for_the_files_that_fit_it(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.txt"):
        (tmp_path / name).write_text(jsonl(*RUNS))
    pattern = ledgeragent("replay", tmp_path / "*.jsonl", "--domain", NAME, "--format", "json")
    both = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    assert pattern == ledgeragent("replay", *both, "--domain", NAME, "--format", "json")
    nothing = ledgeragent("replay", tmp_path / "*.csv", "--domain", NAME)
    assert nothing.code == 2 and "no file fits this pattern" in nothing.err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--address", "auto"), "--address goes with --engine ray"),
        (("--engine", "ray", "--jobs", "2"), "--jobs goes with --engine local"),
    ],
)
def test_options_of_another_engine_are_refused(options: tuple[str, ...], problem: str) -> None:
    done = ledgeragent("replay", "-", "--domain", NAME, *options, stdin=jsonl(*RUNS).encode())
    assert done.code == 2 and problem in done.err and done.out == ""


def test_a_folder_stands_for_the_files_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "monday"
    folder.mkdir(parents=True)
    (folder / "one.jsonl").write_text(jsonl(run("a", BOOK)))
    (folder / "two.jsonl.gz").write_bytes(gzip.compress(jsonl(run("b", BOOK)).encode()))
    (folder / "notes.txt").write_text("no run")
    assert report(tmp_path)["runs"] == 2


def test_a_folder_without_any_file_is_an_error_in_one_line(tmp_path: Path) -> None:
    done = ledgeragent("replay", tmp_path, "--domain", NAME)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"ledgeragent: error: {tmp_path}: no file in it ends in .json,")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--domain", "nowhere"), "there is no domain 'nowhere'"),
        (("--domain", "tests.cli.nowhere:IT"), "cannot load domain 'tests.cli.nowhere:IT'"),
        (("--domain", "tests.cli.branches:NAME"), "is neither a Domain nor a dict of them"),
        (("--domain", NAME, "--version", "9"), "has no version '9'; choose one of: tau2, tau"),
        (("--domain", NAME, "--tools", ","), "no tool is named"),
        (("--domain", NAME, "--jobs", "0"), "give a number of processes, 1 or more"),
        (("--domain", NAME, "--format", "yaml"), "invalid choice: 'yaml'"),
        ((), "the following arguments are required: --domain"),
    ],
)
def test_options_that_cannot_be_used_are_told(
    runs: Path, options: tuple[str, ...], told: str
) -> None:
    done = ledgeragent("replay", runs, *options)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert "Traceback" not in done.err


def test_many_broken_lines_are_counted_not_all_told(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(jsonl(RUNS[0]) + BROKEN * 150)
    done = ledgeragent("replay", file, "--domain", NAME, "--format", "json")
    assert done.json["skipped"] == 150
    assert len(done.json["problems"]) == 100
    assert done.err.splitlines()[-1] == "ledgeragent: skipped: 130 more broken records"


def test_what_the_user_calls_is_not_judged(tmp_path: Path) -> None:
    device = {"id": "u", "name": "lend_book", "arguments": {"days": 99}, "requestor": "user"}
    file = tmp_path / "runs.json"
    file.write_text(
        json.dumps(
            [
                said("Hello"),
                {"role": "user", "content": None, "tool_calls": [device]},
                *called("get_book", {"book_id": "B1"}, BOOK_IN),
            ]
        )
    )
    found = report(file)
    assert (found["writes"]["judged"], found["calls"]) == (0, 1)


def test_recorded_runs_of_real_models(data_dir: Path) -> None:
    files = sorted((data_dir / "trajectories").glob("tau2_airline__*.jsonl.gz"))
    found = report(*files, domain="airline", jobs=2)
    assert found["runs"] > 50
    assert found["by_reward"]["1"]["runs_with_rejected_executed_write"] == 0
    assert found["by_reward"]["0"]["runs_with_rejected_executed_write"] > 0
    assert (found["errors"], found["problems"]) == ([], [])


def test_recorded_runs_with_nonstandard_tools(data_dir: Path) -> None:
    file = data_dir / "trajectories" / "tau_retail__Reapor-Yurnero__tau-bench.jsonl.gz"
    found = report(file, domain="retail")
    assert found["skipped_by_reason"] == {"nonstandard tools": 2}
    assert found["by_reward"]["1"]["runs_with_rejected_executed_write"] == 0
