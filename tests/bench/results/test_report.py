"""From result files to tables: what is read, counted, classified and drawn."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ledgeragent.bench.arms.fama.choice import HelperChoice
from ledgeragent.bench.arms.fama.choice import write as write_choice
from ledgeragent.bench.results import paper
from ledgeragent.bench.results.classify import (
    ARGUMENTS,
    AUTHENTICATION,
    COMMUNICATION,
    EXTRA,
    LOOP,
    MISSED,
    OTHER,
    POLICY,
    failure,
    is_write,
    is_write_task,
    write_rate,
)
from ledgeragent.bench.results.metrics import interval, overhead, reliability
from ledgeragent.bench.results.reading import read_results
from ledgeragent.bench.results.results import Gold, MadeCall, Run
from ledgeragent.bench.results.tables import tables
from ledgeragent.cli.main import main
from ledgeragent.errors import DataError
from tests.bench.results.runs import CANCEL, READ, call, simulation, write


def runs_of(tmp_path: Path, simulations: list[dict[str, Any]], **options: Any) -> list[Run]:
    return list(read_results(write(tmp_path / "r.json", simulations, **options)))


def test_a_harness_file_is_read_whole(tmp_path: Path) -> None:
    [run] = runs_of(tmp_path, [simulation("1", 0, 1.0, [READ, CANCEL])], agent="llm_agent")
    assert (run.arm, run.model, run.domain, run.task) == ("fc", "a-model", "retail", "1")
    assert run.success
    assert [call.name for call in run.calls] == ["get_order_details", "cancel_pending_order"]
    assert (run.spent.prompt, run.spent.completion, run.spent.generations) == (200, 20, 2)
    assert is_write_task(run)
    assert write_rate(run) == (1, 1)


def test_a_recorded_list_is_read_too(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    record = {
        "task_id": 4,
        "reward": 0,
        "domain": "retail",
        "agent_model": "m",
        "gold_actions": [],
        "messages": [
            {
                "role": "assistant",
                "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"a": 1}'}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "Error: no"},
        ],
    }
    file.write_text(json.dumps(record) + "\n")
    [run] = read_results(str(file))
    assert run.calls == (MadeCall(name="f", arguments={"a": 1}, failed=True),)
    assert (run.task, run.arm, run.gold) == ("4", "fc", ())


def test_a_file_without_a_run_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('[{"messages": []}]')
    with pytest.raises(DataError, match="no scored run"):
        list(read_results(str(file)))


def test_pass_hat_k_is_the_share_of_samples_of_k_that_all_succeed(tmp_path: Path) -> None:
    rewards = {"a": [1, 1, 1, 0], "b": [1, 0, 0, 0], "c": [1, 1, 1, 1]}
    simulations = [
        simulation(task, trial, float(r))
        for task, rs in rewards.items()
        for trial, r in enumerate(rs)
    ]
    measured = reliability(runs_of(tmp_path, simulations))
    for k in (1, 2, 3, 4):
        shares = [
            sum(all(some) for some in combinations(rs, k)) / len(list(combinations(rs, k)))
            for rs in rewards.values()
        ]
        assert measured.by_k[k].value == pytest.approx(sum(shares) / 3)
    assert measured.average is not None
    assert measured.average.value == pytest.approx(sum(r.value for r in measured.by_k.values()) / 4)
    assert (measured.tasks, measured.runs) == (3, 12)


def test_a_task_counts_for_k_if_it_has_k_trials_and_harness_failures_for_nothing(
    tmp_path: Path,
) -> None:
    simulations = [
        simulation("a", 0, 1.0),
        simulation("a", 1, 1.0),
        simulation("b", 0, 0.0),
        simulation("b", 1, 0.0, termination="infrastructure_error"),
    ]
    measured = reliability(runs_of(tmp_path, simulations))
    assert (measured.by_k[1].value, measured.by_k[1].tasks) == (0.5, 2)
    assert (measured.by_k[2].value, measured.by_k[2].tasks) == (1.0, 1)
    assert measured.average is None


def test_an_interval_holds_the_mean_and_is_the_same_every_time() -> None:
    values = [0.0] * 30 + [1.0] * 20
    first = interval(values)
    assert first == interval(values)
    assert 0.2 < first.low < first.value == 0.4 < first.high < 0.6
    assert interval([1.0, 1.0]).low == 1.0


def test_overhead_is_over_the_plain_agent_on_shared_tasks(tmp_path: Path) -> None:
    plain = runs_of(tmp_path, [simulation("a", 0, 1.0, [READ])], agent="llm_agent")
    ours = runs_of(
        tmp_path,
        [simulation("a", 0, 1.0, [READ], prompt=155, helpers=2), simulation("b", 0, 1.0, [READ])],
    )
    cost = overhead(ours, plain)
    assert cost.tokens == pytest.approx(0.5)
    assert cost.calls == pytest.approx(2.0)
    assert cost.tasks == 1


@pytest.mark.parametrize(
    ("made", "options", "expected"),
    [
        ([READ], {}, MISSED),
        ([READ, call("cancel_pending_order", order_id="#W2", reason="x")], {}, ARGUMENTS),
        ([call("transfer_to_human_agents", summary="s")], {}, AUTHENTICATION),
        ([READ], {"termination": "max_steps"}, LOOP),
        ([CANCEL], {"breakdown": {"DB": 1.0, "COMMUNICATE": 0.0}}, COMMUNICATION),
        ([CANCEL, READ, READ, READ, READ], {}, LOOP),
        ([CANCEL], {}, OTHER),
        (
            [CANCEL, call("modify_user_address", user_id="u", address1="a")],
            {},
            EXTRA,
        ),
        (
            [
                READ,
                call(
                    "return_delivered_order_items",
                    order_id="#W1",
                    item_ids=["1"],
                    payment_method_id="p",
                ),
                CANCEL,
            ],
            {"content": '{"order_id": "#W1", "user_id": "u", "status": "pending", "items": []}'},
            POLICY,
        ),
    ],
)
def test_failures_have_a_class(
    tmp_path: Path, made: list[dict[str, Any]], options: dict[str, Any], expected: str
) -> None:
    [run] = runs_of(tmp_path, [simulation("1", 0, 0.0, made, **options)])
    assert failure(run) == expected


def test_gold_is_met_as_the_evaluator_has_it() -> None:
    gold = Gold(name="f", arguments={"a": 1, "b": 2})
    assert gold.is_met_by(MadeCall(name="f", arguments={"a": 1}))
    assert not gold.is_met_by(MadeCall(name="f", arguments={"a": 1, "c": 3}))
    assert Gold(name="f", arguments={"a": 1}, compare=()).is_met_by(
        MadeCall(name="f", arguments={})
    )


@pytest.mark.parametrize("domain", paper.DOMAINS)
def test_tasks_that_change_the_world_are_counted_as_the_paper_does(
    data_dir: Path, domain: str
) -> None:
    folder = data_dir / "benchmarks" / ("tau_trait" if domain == "telehealth" else "tau2") / domain
    tasks = json.loads((folder / "tasks.json").read_text())
    actions = [(t.get("evaluation_criteria") or t).get("actions") or [] for t in tasks]
    writing = sum(
        any(is_write(domain, a["name"], a.get("requestor") == "user") for a in some)
        for some in actions
    )
    assert (writing, len(tasks)) == paper.WRITE_TASKS[domain]


def test_the_report_has_every_table_with_the_paper_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = write(
        tmp_path / "ours.json",
        [simulation("1", n, float(n > 0), [READ, CANCEL] if n else [READ]) for n in range(4)],
    )
    plain = write(
        tmp_path / "plain.json",
        [simulation("1", n, 0.0, [READ]) for n in range(4)],
        agent="llm_agent",
    )
    assert main(["bench", "report", ours, plain]) == 0
    text = capsys.readouterr().out
    assert "| retail | a-model | fc | 0.0 [0.0, 0.0] |" in text
    assert "| retail | a-model | ledgeragent | 37.5 [37.5, 37.5] | 75.0 [75.0, 75.0] |" in text
    assert "| retail | GLM-5 | ledgeragent (paper) | 48.5 | 67.1 |" in text
    assert (
        "| retail | a-model | ledgeragent | 75.0 [75.0, 75.0] | 75.0 [75.0, 75.0] | – | 3 | 4 |"
        in text
    )
    assert "| retail |  | ledgeragent (paper) | 69.9 | 20.0 |" in text


def test_the_report_as_files(tmp_path: Path) -> None:
    results = write(
        tmp_path / "r.json", [simulation("1", n, 1.0, [READ, CANCEL]) for n in range(4)]
    )
    folder = tmp_path / "report"
    assert main(["bench", "report", results, "-o", str(folder), "--figures", "svg"]) == 0
    rows = list(csv.DictReader(io.StringIO((folder / "main.csv").read_text())))
    assert rows[0]["pass^4"] == "100.0 [100.0, 100.0]"
    assert "![pass_1](pass_1.svg)" in (folder / "report.md").read_text()
    drawing = ElementTree.fromstring((folder / "pass_4.svg").read_text())
    assert "ledgeragent" in [text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")]


def test_a_count_stands_where_not_every_task_has_so_many_trials(tmp_path: Path) -> None:
    runs = [simulation("1", n, 1.0, [READ]) for n in range(4)] + [simulation("2", 0, 0.0, [READ])]
    rows = {
        row[0]: row
        for table in tables(list(read_results(write(tmp_path / "r.json", runs))))
        if table.name == "main"
        for row in table.rows
        if row[1] == "a-model"
    }
    main_row = rows["retail"]
    assert main_row[4] == "50.0 [0.0, 100.0]" and main_row[7] == "100.0 [100.0, 100.0] (1 tasks)"


def test_the_papers_gains_are_those_of_its_main_results() -> None:
    for model in paper.MODELS:
        told = paper.GAINS[model]
        for place, name in enumerate(("pass_1", "pass_4")):
            gained = [
                getattr(paper.MAIN[model, "ledgeragent", d], name)
                - getattr(paper.MAIN[model, "fc", d], name)
                for d in paper.DOMAINS
            ]
            # It rounds 7.25 up.
            assert told[place] == pytest.approx(sum(gained) / 4, abs=0.0501)


def test_tasks_that_chose_famas_helpers_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [simulation(str(task), 0, float(task > 1), [READ]) for task in range(4)]
    ours, other = write(tmp_path / "a.json", runs), write(tmp_path / "b.json", runs, domain="shop")
    choice = tmp_path / "choice.json"
    told = HelperChoice(
        model="a-model",
        domain="retail",
        helpers=(),
        failed=2,
        causes={},
        votes={},
        tasks=("0", "1", "2"),
    )
    write_choice(choice, [told], {})
    assert main(["bench", "report", ours, other, "--held-out", str(choice), "--format", "csv"]) == 0
    out, err = capsys.readouterr()
    assert 'retail,a-model,ledgeragent,–,"100.0 [100.0, 100.0]",–,–,–,1,1' in out
    assert 'shop,a-model,ledgeragent,–,"50.0 [0.0, 100.0]",–,–,–,4,4' in out
    assert "3 runs are left out" in err
    write_choice(choice, [dataclasses.replace(told, tasks=("0", "1", "2", "3"))], {})
    assert main(["bench", "report", ours, "--held-out", str(choice)]) == 2
    assert "every task there is a run of" in capsys.readouterr().err


def test_the_same_id_in_two_benchmarks_is_two_tasks(tmp_path: Path) -> None:
    record = {"task_id": 1, "reward": 1, "domain": "retail", "agent_model": "m", "messages": []}
    file = tmp_path / "runs.jsonl"
    kinds = [{}, {"benchmark": "tau2"}, {"benchmark": "tau"}]
    file.write_text("".join(json.dumps({**record, **kind}) + "\n" for kind in kinds))
    assert [run.task for run in read_results(str(file))] == ["1", "1", "tau/1"]


def test_the_papers_arm_brings_the_list_of_its_predicates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [simulation("1", 0, 1.0, [READ])]
    for agent, count in (("ledgeragent", 0), ("ledgeragent-paper", 28)):
        assert main(["bench", "report", write(tmp_path / "r.json", runs, agent=agent)]) == 0
        _, _, listed = capsys.readouterr().out.partition("## Predicates of ledgeragent-paper")
        rows = [line for line in listed.splitlines() if line.startswith("| ")]
        assert max(len(rows) - 2, 0) == count
    assert "cancel_requires_basis" in listed
    assert "retail_refund_payment_in_order_history" in listed and "names 2 of them" in listed
