"""Parameters and the time, wherever a domain is named on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import ledgeragent
from tests.cli.test_configuration import plan
from tests.compiler.small_bank import ACCOUNT, HEAD, rule

pytest.importorskip("cel_expr_python")

RULE = rule(
    "days(account.opened_on, today) >= params.days && args.amount <= params.limit",
    requires='{account: "accounts.{account_id}"}',
    message='"it is {today}, {params.days} days, {params.limit:.0f} at most"',
)


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A pack whose rule has no samples, which `check` calls a fault."""
    monkeypatch.setenv("LEDGERAGENT_ALLOW_FAULTY", "1")
    file = tmp_path / "bank.yaml"
    file.write_text(f"{HEAD}rules:\n{RULE}")
    return str(file)


def run_of(**at: Any) -> dict[str, Any]:
    def asks(id: str, name: str, arguments: Any) -> dict[str, Any]:
        function = {"name": name, "arguments": json.dumps(arguments)}
        calls = [{"id": id, "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls, **at}

    return {
        "id": "run",
        "messages": [
            {"role": "user", "content": "Send 60."},
            asks("r", "get_account", {"account_id": "A"}),
            {"role": "tool", "tool_call_id": "r", "content": json.dumps(ACCOUNT)},
            asks("t", "transfer", {"account_id": "A", "amount": 60.0}),
            {"role": "tool", "tool_call_id": "t", "content": "done"},
        ],
    }


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    file = tmp_path / "runs.jsonl"
    file.write_text(json.dumps(run_of(timestamp="2025-03-14T12:00:00Z")))
    return file


def outcome(report: Any) -> tuple[int, int]:
    return report["writes"]["allow"], report["writes"]["revise_violation"]


def test_replay_goes_by_the_time_of_the_run(pack: str, runs: Path) -> None:
    done = ledgeragent("replay", runs, "--domain", pack, "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert outcome(done.json) == (0, 1)
    runs.write_text(json.dumps(run_of(timestamp="2025-03-15T12:00:00Z")))
    assert outcome(ledgeragent("replay", runs, "--domain", pack, "--format", "json").json) == (1, 0)


def test_a_parameter_counts_before_it(pack: str, runs: Path) -> None:
    for words, expected in (
        (["--param", "now=2025-03-20"], (1, 0)),
        (["--param", "days=3"], (1, 0)),
        (["--param", "days=3", "--param", "limit=50"], (0, 1)),
    ):
        done = ledgeragent("replay", runs, "--domain", pack, "--format", "json", *words)
        assert outcome(done.json) == expected, words


def test_runs_without_a_time_are_told_once(pack: str, runs: Path) -> None:
    runs.write_text("\n".join(json.dumps(run_of() | {"id": name}) for name in "abc"))
    done = ledgeragent("replay", runs, "--domain", pack, "--format", "json")
    assert done.err.count("do not tell the time") == 1
    assert "3 runs" in done.err and "--param now=" in done.err
    assert ledgeragent("replay", runs, "--domain", pack, "--quiet").err == ""
    given = ledgeragent("replay", runs, "--domain", pack, "--param", "now=2025-03-20")
    assert given.err == ""


VERBS: dict[str, list[str]] = {
    "replay": ["replay", "RUNS", "--domain", "PACK"],
    "test": ["test", "--domain", "PACK"],
    "check": ["check", "PACK"],
    "explain": ["explain", "bank/rule", "--domain", "PACK"],
    "view": ["view", "RUNS", "--domain", "PACK", "-o", "-"],
    "coverage": ["coverage", "PACK"],
    "diff": ["diff", "RUNS", "--domain", "PACK", "--against", "PACK"],
    "mcp": ["mcp", "--domain", "PACK", "--", "true"],
    "gateway": ["gateway", "--domain", "PACK", "--upstream", "http://localhost:9"],
    "traces": ["traces", "RUNS", "--domain", "PACK"],
    "mine": ["mine", "RUNS", "--check", "PACK"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_tells_a_wrong_one(verb: str, pack: str, runs: Path) -> None:
    first, *words = [{"PACK": pack, "RUNS": str(runs)}.get(w, w) for w in VERBS[verb]]
    done = ledgeragent(first, "--param", "dais=3", *words)
    assert done.code == 2, done
    assert "bank has no parameter dais; did you mean days?; it has days, limit, now" in done.err


def test_a_file_for_a_tenant(pack: str, runs: Path, tmp_path: Path) -> None:
    tenant = tmp_path / "tenant.toml"
    tenant.write_text("days = 3\nlimit = 50\n")
    words = ["replay", runs, "--domain", pack, "--format", "json", "--params", tenant]
    assert outcome(ledgeragent(*words).json) == (0, 1)
    assert outcome(ledgeragent(*words, "--param", "limit=60").json) == (1, 0)
    tenant.write_text('days = "three"\n')
    assert "should be int, is str (three)" in ledgeragent(*words).err


@pytest.mark.parametrize("text", ["days", "=3"])
def test_what_is_no_parameter(text: str, pack: str) -> None:
    done = ledgeragent("test", "--domain", pack, "--param", text)
    assert done.code == 2
    assert "write NAME=VALUE" in done.err


def test_each_route_of_a_gateway_has_its_own(pack: str, tmp_path: Path) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text(
        'upstream = "http://localhost:9"\n'
        f'[[routes]]\npath = "/a"\ndomain = "{pack}"\nparam = {{ days = 3, limit = 5.5 }}\n'
        f'[[routes]]\npath = "/b"\ndomain = "{pack}"\n'
    )
    first, second = (route.domain().parameters for route in plan(file, "--allow-faulty").routes)
    assert (first["days"], first["limit"]) == (3, 5.5)
    assert (second["days"], second["limit"]) == (14, 100.0)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("NaN", "should be"),
        ("Infinity", "should be"),
        ("-Infinity", "should be"),
        ("1e400", "should be"),
        ("9" * 400, "a number of more than 64 bits"),
        ("[" * 100_000, "should be"),
    ],
)
def test_what_no_number_can_be_compared_with_is_no_number(
    pack: str, value: str, problem: str
) -> None:
    """NaN is neither more nor less than a limit, so that a rule would hold of nothing or of all."""
    done = ledgeragent("check", pack, "--param", f"limit={value}")
    assert done.code == 2 and problem in done.err and "Traceback" not in done.err


def exported(pack: str, file: Path, *redact: str, **values: Any) -> Path:
    """The one conversation of a journal that an agent kept whose pack had these values."""
    from ledgeragent import Reply, Session, ToolCall, ToolReturn, load_domain
    from ledgeragent.journal import Journal

    domain = load_domain(pack, parameters={"now": "2025-03-20", **values}, allow_faulty=True)
    with Journal.open(file, domain=domain, redact=redact) as journal:
        session = Session(domain, journal=journal)
        session.filter(Reply(calls=(ToolCall(name="get_account", arguments=KEY, id="r"),)))
        session.observe(ToolReturn(call_id="r", content=json.dumps(ACCOUNT)))
        asked = {**KEY, "amount": 60.0}
        session.filter(Reply(calls=(ToolCall(name="transfer", arguments=asked, id="t"),)))
        if session.state.pending:
            session.observe(ToolReturn(call_id="t", content="done"))
    runs = file.with_suffix(".runs")
    runs.write_text(ledgeragent("journal", "export", file).out)
    return runs


KEY = {"account_id": "A"}


@pytest.mark.parametrize(
    ("values", "words", "expected"),
    [
        ({"limit": 50.0}, [], (0, 1)),
        ({"limit": 500.0}, [], (1, 0)),
        ({"days": 30}, [], (0, 1)),
        ({"limit": 50.0}, ["--param", "limit=70"], (1, 0)),
        ({"limit": 50.0}, ["--param", "days=30"], (0, 1)),
        ({"limit": 500.0}, ["--param", "limit=50"], (0, 1)),
    ],
)
def test_a_journal_is_judged_with_the_values_that_it_keeps(
    pack: str, tmp_path: Path, values: Any, words: list[str], expected: tuple[int, int]
) -> None:
    runs = exported(pack, tmp_path / "j.jsonl", **values)
    done = ledgeragent("replay", runs, "--domain", pack, "--format", "json", *words)
    assert done.code == 0 and outcome(done.json) == expected
    assert "1 runs were judged with the parameter values that they record" in done.err


@pytest.mark.parametrize("verb", ["replay", "diff", "view"])
def test_so_does_every_verb(pack: str, tmp_path: Path, verb: str) -> None:
    runs = exported(pack, tmp_path / "j.jsonl", limit=50.0)
    words = {
        "replay": ["replay", runs, "--baseline", tmp_path / "b", "--update"],
        "diff": ["diff", runs, "--against", pack],
        "view": ["view", runs, "-o", "-"],
    }[verb]
    done = ledgeragent(*words, "--domain", pack)
    assert done.code == 0, done
    text = (tmp_path / "b").read_text() if verb == "replay" else done.out
    assert verb == "diff" or "50 at most" in text
    assert verb == "view" or "the parameter values that they record" in done.err


def cases_of(runs: Path) -> Path:
    """The transfer of a run as a labelled case, which is to be allowed."""
    (run,) = map(json.loads, runs.read_text().splitlines())
    label = {"kind": "transfer", "expect": {"decision": "allow"}}
    call = {"name": "transfer", "arguments": {**KEY, "amount": 60.0}}
    file = runs.with_suffix(".cases")
    file.write_text(json.dumps({**run, "messages": run["messages"][:2], "call": call, **label}))
    return file


@pytest.mark.parametrize(
    ("values", "words", "code"),
    [
        ({"limit": 50.0}, [], 1),
        ({"limit": 500.0}, [], 0),
        ({"days": 30}, [], 1),
        ({"limit": 50.0}, ["--param", "limit=70"], 0),
        ({"limit": 500.0}, ["--param", "limit=50"], 1),
    ],
)
def test_a_case_of_a_journal_is_judged_with_them_too(
    pack: str, tmp_path: Path, values: Any, words: list[str], code: int
) -> None:
    cases = cases_of(exported(pack, tmp_path / "j.jsonl", **values))
    done = ledgeragent("test", "--cases", cases, "--domain", pack, *words)
    assert done.code == code, done
    assert "1 cases were judged with the parameter values that they record" in done.err


def test_a_case_whose_values_were_redacted_is_told(pack: str, tmp_path: Path) -> None:
    cases = cases_of(exported(pack, tmp_path / "j.jsonl", "params.limit", limit=50.0))
    done = ledgeragent("test", "--cases", cases, "--domain", pack)
    assert done.code == 0 and "1 cases record parameter values that cannot be used" in done.err


def test_a_pack_is_compared_as_it_is_with_them(tmp_path: Path, monkeypatch: Any) -> None:
    """A route that goes by a parameter reads what the journal's pack read, and nothing else."""
    monkeypatch.setenv("LEDGERAGENT_ALLOW_FAULTY", "1")
    pack = tmp_path / "bank.yaml"
    head = HEAD.replace("record: Account}", "record: Account, when: 'params.days > 10'}")
    pack.write_text(f"{head.replace('open: bool', 'open: str')}rules:\n{RULE}")
    for days, words, code in (
        (14, [], 1),
        (3, [], 0),
        (3, ["--param", "days=14"], 1),
        (14, ["--param", "days=3"], 0),
    ):
        runs = exported(str(pack), tmp_path / f"{days}-{len(words)}.jsonl", days=days)
        done = ledgeragent("mine", runs, "--check", pack, *words)
        assert done.code == code and ("accounts" in done.out) is bool(code), done
        assert "the parameter values that they record" in done.err


@pytest.mark.parametrize("redact", ["params.limit", "params.*", "params"])
def test_what_was_redacted_is_told(pack: str, tmp_path: Path, redact: str) -> None:
    runs = exported(pack, tmp_path / "j.jsonl", redact, limit=50.0)
    done = ledgeragent("replay", runs, "--domain", pack, "--param", "now=2025-03-20")
    assert "record parameter values that cannot be used" in done.err


@pytest.mark.parametrize(
    "recorded",
    [{"temperature": 0.5}, [], "high", 7, None, {"limit": {"a": "b"}}, {"limit": None}, {"now": 3}],
)
def test_other_records_may_hold_anything_there(pack: str, runs: Path, recorded: Any) -> None:
    run = run_of(timestamp="2025-03-15T12:00:00Z") | {"parameters": recorded}
    runs.write_text(json.dumps(run))
    done = ledgeragent("replay", runs, "--domain", pack, "--format", "json")
    assert done.code == 0 and outcome(done.json) == (1, 0)
    is_known = isinstance(recorded, dict) and not recorded.keys().isdisjoint({"limit", "now"})
    assert ("cannot be used" in done.err) is is_known
