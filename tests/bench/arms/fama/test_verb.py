"""`ledgeragent bench fama` from result files to a choice, its judges behind a real local server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.bench.arms.fama.causes import CAUSES
from ledgeragent.bench.arms.fama.choice import chosen, read
from ledgeragent.bench.arms.helpers import HELPERS
from ledgeragent.cli.main import main
from ledgeragent.errors import DataError
from tests.bench.chat_server import Body, chat_server
from tests.bench.results.runs import CANCEL, READ, simulation, write


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Policies and splits are those that a test names."""
    monkeypatch.delenv("LEDGERAGENT_DATA_DIR", raising=False)


class Bench:
    """Judges by script: the analyst of each cause finds it where the run's text has its name."""

    def __init__(self, covers: dict[str, list[str]] | None = None, garbage: str = "") -> None:
        self.covers = covers or {"DCV": ["constraints"], "IFU": ["memory", "verifier"]}
        self.garbage = garbage
        self.asked: list[Body] = []

    def __call__(self, body: Body) -> str:
        self.asked.append(body)
        instructions, question = (m["content"] for m in body["messages"])
        wanted = body["response_format"]["json_schema"]["schema"]["required"][0]
        if wanted == "violation":
            [cause] = [c for c in CAUSES.values() if c.is_that in instructions]
            if cause.id == self.garbage:
                return "I cannot say."
            seen = f"[{cause.id}]" in question
            return json.dumps({"violation": "Yes" if seen else "No", "rationale": "seen"})
        if wanted == "causes":
            said = question.rpartition("The analysts:")[2]
            names = [name for name in CAUSES if f"{name}: Yes" in said]
            return json.dumps({"causes": [*names, "INVENTED"], "rationale": "w"})
        helpers = [h for name, hs in self.covers.items() if name in question for h in hs]
        return f"Here: {json.dumps({'helpers': [*helpers, 'oracle']})} as asked"

    def kinds(self) -> list[str]:
        """What each request was for, in order."""
        schemas = (body["response_format"]["json_schema"]["schema"] for body in self.asked)
        return [schema["required"][0] for schema in schemas]


def failed(task: str, *causes: str) -> dict[str, Any]:
    one = simulation(task, 0, 0.0, [READ])
    one["messages"][0]["content"] = " ".join(f"[{cause}]" for cause in causes) + f" run {task}"
    return one


def results(tmp_path: Path, simulations: list[dict[str, Any]], **options: Any) -> str:
    return write(tmp_path / "plain.json", simulations, agent="llm_agent", **options)


def choose(bench: Bench, file: str, output: Path, *options: str) -> None:
    with chat_server(bench) as url:
        command = ["bench", "fama", file, "--model", "judge", "--url", url, "-o", str(output)]
        assert main([*command, *options]) == 0


def test_the_helpers_that_most_failures_call_for_are_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, output = Bench(), tmp_path / "choice.json"
    simulations = [failed("1", "DCV"), failed("2", "DCV", "IFU"), failed("3", "DCV")]
    file = results(tmp_path, [*simulations, simulation("4", 0, 1.0, [CANCEL])])
    choose(bench, file, output, "--oracle")
    [choice] = read(str(output))
    assert choice.helpers == ("constraints",) == chosen(str(output), "a-model", "retail")
    assert (choice.failed, choice.tasks) == (3, ("1", "2", "3", "4"))
    assert choice.causes == {"DCV": 3, "WRCO": 0, "CM": 0, "IFU": 1}
    assert {n: v for n, v in choice.votes.items() if v} == {
        "memory": 1,
        "constraints": 3,
        "verifier": 1,
    }
    assert bench.kinds() == [*["violation"] * 4, "causes", "helpers"] * 3
    assert "a-model, retail: constraints\n" in capsys.readouterr().out
    made_by = json.loads(output.read_text())["made_by"]
    assert (made_by["requests"], made_by["prompt_tokens"], made_by["oracle"]) == (18, 180, True)


def test_each_analyst_knows_one_cause_and_the_last_two_know_what_was_said(tmp_path: Path) -> None:
    bench = Bench()
    choose(bench, results(tmp_path, [failed("1", "DCV")]), tmp_path / "c.json", "--oracle")
    analysts = [body["messages"][0]["content"] for body in bench.asked[:4]]
    for text, cause in zip(analysts, CAUSES.values(), strict=True):
        others = [other.is_that for other in CAUSES.values() if other != cause]
        assert cause.is_that in text and not any(other in text for other in others)
        assert all(sign in text for sign in cause.signs)
    whole = bench.asked[4]["messages"][1]["content"]
    assert "Agent: get_order_details" in whole and "DCV: Yes. seen" in whole
    pool = bench.asked[5]["messages"][0]["content"]
    assert all(f"{helper.name}: {helper.does}" in pool for helper in HELPERS.values())


def test_where_failures_disagree_the_most_wanted_helper_is_taken(tmp_path: Path) -> None:
    causes = {"DCV": "constraints", "WRCO": "output", "CM": "planner", "IFU": "memory"}
    bench = Bench({cause: [helper] for cause, helper in causes.items()})
    runs = [failed(str(n), cause) for n, cause in enumerate([*causes, "CM"])]
    choose(bench, results(tmp_path, runs), tmp_path / "c.json", "--oracle")
    assert chosen(str(tmp_path / "c.json"), "a-model", "retail") == ("planner",)


def test_without_a_failure_or_a_cause_there_is_no_helper(tmp_path: Path) -> None:
    for runs in ([simulation("1", 0, 1.0)], [failed("1")]):
        choose(Bench(), results(tmp_path, runs), tmp_path / "c.json", "--oracle")
        assert chosen(str(tmp_path / "c.json"), "a-model", "retail") == ()


def test_an_answer_that_is_none_counts_as_no_and_is_told(tmp_path: Path) -> None:
    bench, output = Bench(garbage="DCV"), tmp_path / "c.json"
    choose(bench, results(tmp_path, [failed("1", "DCV", "IFU")]), output, "--oracle")
    [choice] = read(str(output))
    assert choice.causes["DCV"] == 0 and choice.helpers == ("memory", "verifier")
    assert json.loads(output.read_text())["made_by"]["unread_answers"] == 1


def test_only_the_train_tasks_are_learnt_from(tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks" / "tau2" / "retail"
    folder.mkdir(parents=True)
    (folder / "split_tasks.json").write_text(json.dumps({"train": ["1", "3"], "test": ["2"]}))
    (folder / "policy.md").write_text("Be just.")
    (folder / "tools.json").write_text("[]")
    bench = Bench()
    file = results(tmp_path, [failed("1", "DCV"), failed("2", "IFU"), simulation("3", 0, 1.0)])
    choose(bench, file, tmp_path / "c.json", "--data-dir", str(tmp_path))
    [choice] = read(str(tmp_path / "c.json"))
    assert (choice.tasks, choice.failed, choice.causes["IFU"]) == (("1", "3"), 1, 0)
    assert bench.asked[0]["messages"][1]["content"].startswith("Policy:\nBe just.")


def test_where_no_split_is_known_half_of_the_tasks_are(tmp_path: Path) -> None:
    runs = [failed(str(n), "DCV") for n in range(40)]
    choose(Bench(), results(tmp_path, runs), tmp_path / "c.json", "--jobs", "4", "--limit", "2")
    [choice] = read(str(tmp_path / "c.json"))
    assert 10 < len(choice.tasks) < 30 and choice.failed == 2


def test_kept_judgements_are_not_made_again(tmp_path: Path) -> None:
    bench, kept, output = Bench(), tmp_path / "kept.jsonl", tmp_path / "c.json"
    file = results(tmp_path, [failed("1", "DCV"), failed("2", "IFU")])
    choose(bench, file, output, "--oracle", "--keep", str(kept))
    before = output.read_text()
    kept.write_text(kept.read_text()[:-30])
    choose(bench, file, output, "--oracle", "--keep", str(kept))
    assert output.read_text() == before and len(bench.asked) == 18
    choose(bench, file, output, "--oracle", "--keep", str(kept), "--model", "another judge")
    assert len(bench.asked) == 30


def test_a_run_without_a_conversation_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = failed("1", "DCV")
    one["messages"].append({"role": "oracle", "content": "x"})
    file = results(tmp_path, [one])
    command = ["bench", "fama", file, "--model", "m", "--url", "http://127.0.0.1:9", "--oracle"]
    assert main([*command, "-o", str(tmp_path / "c.json")]) == 2
    assert "retail task 1: no conversation" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--arm", "irma", "--oracle"], "no run of irma to learn from"),
        (["--share", "0"], "--share above 0"),
        (["--data-dir", "/nowhere"], "/nowhere is no folder"),
    ],
)
def test_what_cannot_be_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    file = results(tmp_path, [failed("1", "DCV")])
    command = ["bench", "fama", file, "--model", "m", "--url", "http://127.0.0.1:9"]
    assert main([*command, "-o", str(tmp_path / "c.json"), *options]) == 2
    assert told in capsys.readouterr().err


def test_a_choice_for_another_model_is_no_choice(tmp_path: Path) -> None:
    choose(Bench(), results(tmp_path, [failed("1", "DCV")]), tmp_path / "c.json", "--oracle")
    with pytest.raises(DataError, match="no choice for other in retail"):
        chosen(str(tmp_path / "c.json"), "other", "retail")
    (tmp_path / "c.json").write_text("[]")
    with pytest.raises(DataError, match="no choice of helpers"):
        read(str(tmp_path / "c.json"))
