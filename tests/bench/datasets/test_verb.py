"""`bench data`: finds, converts, checks; what is missing is a line, and nothing is overwritten."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.bench.datasets import places
from ledgeragent.bench.datasets.needs import NEEDS, digest
from ledgeragent.bench.datasets.places import place_of
from ledgeragent.bench.telehealth.clinic import TOOLS
from ledgeragent.bench.telehealth.data import read_tasks
from ledgeragent.cli.main import main
from tests.bench.datasets.checkouts import TASKS, tau2_checkout, trait_checkout

SHARED = os.environ.get(DATA_DIR, "")


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No data folder is named and no harness is installed."""
    monkeypatch.delenv(DATA_DIR, raising=False)
    monkeypatch.setattr(places, "own_folder", lambda: None)


def test_where_nothing_is_each_domain_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "data"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines if line[0] != " "] == list(NEEDS)
    assert all("missing" in line for line in lines if line[0] != " ")


def test_two_checkouts_become_a_data_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tau2, trait = tau2_checkout(tmp_path / "tau2"), trait_checkout(tmp_path / "trait")
    assert main(["bench", "data", str(tau2), str(trait), "-o", str(tmp_path / "data")]) == 0
    written = capsys.readouterr().out
    assert written.count("sha256:") == 4
    assert main(["bench", "data", str(tmp_path / "data")]) == 0
    assert capsys.readouterr().out.count("sha256:") == 4
    assert read_tasks(tmp_path / "data") == [
        {
            "id": "0",
            "user_id": "ann_1",
            "instruction": 'Say "hello".',
            "actions": [
                {"name": "think", "kwargs": {"thought": "so", "n": -1.5, "of": [True, None]}}
            ],
            "outputs": [],
        },
        {"id": "1", "user_id": "bo_2", "instruction": "Wait.", "actions": [], "outputs": ["42"]},
    ]


def test_a_hash_is_that_of_what_sha256sum_prints(tmp_path: Path) -> None:
    need = NEEDS["retail"]
    place = place_of(tau2_checkout(tmp_path / "tau2"))
    sums = [
        f"{hashlib.sha256(place.locate(need, name).read_bytes()).hexdigest()}  {name}\n"
        for name in sorted(need.files)
    ]
    assert digest(place.files(need)) == hashlib.sha256("".join(sums).encode()).hexdigest()


def test_a_hash_rests_on_nothing_but_the_files_that_a_run_reads(tmp_path: Path) -> None:
    one, other = (place_of(tau2_checkout(tmp_path / name)) for name in ("a", "b"))
    need = NEEDS["airline"]
    (tmp_path / "b" / "data" / "tau2" / "domains" / "airline" / "tasks_voice.json").unlink()
    assert digest(one.files(need)) == digest(other.files(need))
    for name in need.files:
        file = other.locate(need, name)
        before = file.read_text()
        file.write_text(before + " ")
        assert digest(one.files(need)) != digest(other.files(need))
        file.write_text(before)


def test_a_checkout_with_a_gap_says_which_file_it_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tau2 = tau2_checkout(tmp_path / "tau2", "airline/db.json")
    assert main(["bench", "data", str(tau2), "-o", str(tmp_path / "data")]) == 1
    report = capsys.readouterr().out
    assert "airline: missing" in report and "lacks airline/db.json" in report
    assert not (tmp_path / "data" / "benchmarks" / "tau2" / "airline").exists()


def test_a_domain_that_the_harness_has_is_not_called_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a named source lacks is not written, but a run takes it from the harness: so says the line."""
    own = tau2_checkout(tmp_path / "harness") / "data"
    monkeypatch.setattr(places, "own_folder", lambda: own)
    sources = [
        tau2_checkout(tmp_path / "tau2", "airline/db.json"),
        trait_checkout(tmp_path / "trait"),
    ]
    data = tmp_path / "data"
    assert main(["bench", "data", *map(str, sources), "-o", str(data)]) == 0
    report = capsys.readouterr().out
    assert f"airline: the installed tau2 harness {own}" in report and "missing" not in report
    assert f"{sources[0]} lacks airline/db.json" in report.replace(
        f"{sources[0]}/data", str(sources[0])
    )
    assert f"retail: the data folder {data}" in report
    assert not (data / "benchmarks" / "tau2" / "airline").exists()


def test_files_that_are_there_and_differ_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tau2, data = tau2_checkout(tmp_path / "tau2"), tmp_path / "data"
    policy = data / "benchmarks" / "tau2" / "retail" / "policy.md"
    policy.parent.mkdir(parents=True)
    policy.write_text("mine")
    assert main(["bench", "data", str(tau2), "-o", str(data)]) == 2
    assert str(policy) in capsys.readouterr().err
    assert [file for file in data.rglob("*") if file.is_file()] == [policy]


@pytest.mark.parametrize(
    "tasks",
    [
        "TASKS = []",
        "not python (",
        TASKS.replace('user_id="bo_2"', "user_id=whoever()"),
        TASKS.replace("actions=[]", "actions=some"),
        TASKS.replace(', outputs=["42"]', ""),
    ],
)
def test_tasks_that_are_no_data_are_refused(
    tasks: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trait = trait_checkout(tmp_path / "trait", tasks)
    assert main(["bench", "data", str(trait), "-o", str(tmp_path / "data")]) == 2
    assert "tasks_test.py" in capsys.readouterr().err


def test_a_folder_with_no_data_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "data", str(tmp_path)]) == 2
    assert "holds no data" in capsys.readouterr().err


def test_our_schemas_are_of_the_tools_that_there_are(tmp_path: Path) -> None:
    trait = place_of(trait_checkout(tmp_path / "trait"))
    made = trait.contents(NEEDS["telehealth"])["telehealth/tools.json"]
    assert [tool["name"] for tool in json.loads(made)] == list(TOOLS)


@pytest.mark.skipif(not SHARED, reason=f"{DATA_DIR} is not set")
def test_published_files_are_recognized(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "data", SHARED]) == 0
    report = capsys.readouterr().out
    assert report.count("the files of tau2-bench at a2c0247") == 3
    assert report.count("the files of tau-trait at 5855e28") == 1


@pytest.mark.skipif(not SHARED, reason=f"{DATA_DIR} is not set")
def test_our_schemas_have_the_arguments_of_the_recorded_ones(tmp_path: Path) -> None:
    trait = place_of(trait_checkout(tmp_path / "trait"))
    ours = json.loads(trait.contents(NEEDS["telehealth"])["telehealth/tools.json"])
    need = NEEDS["telehealth"]
    recorded = json.loads(place_of(Path(SHARED)).locate(need, "telehealth/tools.json").read_text())

    def arguments(tools: list[dict[str, object]]) -> list[object]:
        return [
            (
                tool["name"],
                tool["type"],
                {
                    name: kind["type"]
                    for name, kind in tool["schema"]["function"]["parameters"]["properties"].items()  # type: ignore[index]
                },
                tool["schema"]["function"]["parameters"].get("required", []),  # type: ignore[index]
            )
            for tool in tools
        ]

    assert arguments(ours) == arguments(recorded)
