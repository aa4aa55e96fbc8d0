"""`ledgeragent bench tau2 …` is the harness's own command line, with what we bring to it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.bench.arms.arms import ARMS
from ledgeragent.bench.tau2.data import keep_results, own_folder
from tests.bench.tau2.model_server import Moody, serving
from tests.cli.command import Done, ledgeragent

TASKS = ("ours-1", "ours-2")

HARNESS = find_spec("tau2")
OFFICIAL = HARNESS is not None and Path(str(HARNESS.origin)).with_name("runner").is_dir()

needs_harness = pytest.mark.skipif(
    HARNESS is None, reason="the tau2 harness is not installed (extra tau2)"
)
needs_official = pytest.mark.skipif(
    not OFFICIAL,
    reason="the installed tau2 harness is not of the official v1.x line (make test-tau2-official)",
)


class Steady(Moody):
    """Never fails; counts what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.failures = []
        self.asked = 0

    def reply(self, arm: str, body: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        return super().reply(arm, body)


def tau2(*arguments: str, answer: str = "", data: str = "", code: int = 0) -> Done:
    environment = {"LEDGERAGENT_DATA_DIR": data, "OPENAI_API_KEY": "sk-of-the-environment"}
    done = ledgeragent("bench", "tau2", *arguments, stdin=answer.encode(), env=environment)
    assert done.code == code, done.out[-2000:] + done.err[-4000:]
    return done


@pytest.fixture
def shared(tmp_path: Path) -> str:
    """A data folder in which retail has two tasks, under names that the harness's own do not have."""
    own = own_folder() / "tau2"
    inside = tmp_path / "data" / "benchmarks" / "tau2"
    (inside / "retail").mkdir(parents=True)
    (inside / "user_simulator").symlink_to(own / "user_simulator")
    for file in (own / "domains" / "retail").iterdir():
        (inside / "retail" / file.name).symlink_to(file)
    tasks = json.loads((own / "domains" / "retail" / "tasks.json").read_text())
    named = [{**task, "id": name} for task, name in zip(tasks, TASKS, strict=False)]
    for name, content in (("tasks", named), ("split_tasks", {"base": list(TASKS)})):
        (inside / "retail" / f"{name}.json").unlink(missing_ok=True)
        (inside / "retail" / f"{name}.json").write_text(json.dumps(content))
    clinic = tmp_path / "data" / "benchmarks" / "tau_trait" / "telehealth"
    clinic.mkdir(parents=True)
    return str(tmp_path / "data")


@pytest.fixture
def kept() -> Iterator[tuple[str, Path]]:
    """A name for results, and the file that has them; removed in the end."""
    name = f"ledgeragent-test-{uuid.uuid4().hex}"
    folder = own_folder() / "simulations"
    yield name, folder / name / "results.json" if OFFICIAL else folder / f"{name}.json"
    for file in sorted(folder.rglob(f"{name}*/**/*"), reverse=True):
        file.unlink() if file.is_file() else file.rmdir()
    for file in folder.glob(f"{name}*"):
        file.unlink() if file.is_file() else file.rmdir()


def run_of(name: str, url: str, *more: str) -> list[str]:
    told = json.dumps({"base_url": f"{url}/any"})
    arguments = ["run", "--domain", "retail", "--agent", "ledgeragent", "--save-to", name]
    for side in ("agent", "user"):
        arguments += [f"--{side}-llm", "openai/scripted", f"--{side}-llm-args", told]
    return [*arguments, "--max-steps", "20", *more]


@needs_harness
def test_results_outlive_the_run_and_what_is_missing_is_done_on_resume(
    shared: str, kept: tuple[str, Path]
) -> None:
    name, file = kept
    model = Steady()
    with serving(model) as url:
        tau2(*run_of(name, url, "--max-concurrency", "2"), data=shared)
        whole = json.loads(file.read_text())
        assert {run["task_id"] for run in whole["simulations"]} == set(TASKS)
        assert " data:sha256:" in whole["info"]["git_commit"]
        assert "sk-of-the-environment" not in file.read_text()
        first = model.asked
        part = {**whole, "simulations": whole["simulations"][:1]}
        file.write_text(json.dumps(part))
        tau2(*run_of(name, url), data=shared, answer="y\n" * 3)
    again = json.loads(file.read_text())
    assert again["simulations"][0] == part["simulations"][0]
    assert {run["task_id"] for run in again["simulations"]} == set(TASKS)
    assert model.asked - first == first // 2


@needs_harness
def test_the_harness_parses_its_own_options_and_knows_our_arms() -> None:
    told = tau2("run", "--agent", "nobody", "--num-trials", "2", code=2).err
    assert "invalid choice: 'nobody'" in told
    assert all(repr(arm.name) in told for arm in ARMS.values() if arm.kind != "plain")


@needs_official
def test_worker_processes_know_our_arms(shared: str, kept: tuple[str, Path]) -> None:
    name, file = kept
    with serving(Steady()) as url:
        tau2(*run_of(name, url, "--workers", "1", "--max-concurrency", "2"), data=shared)
    found = json.loads(file.read_text())
    assert {run["termination_reason"] for run in found["simulations"]} == {"user_stop"}
    assert " data:sha256:" in found["info"]["git_commit"]


def test_results_go_below_the_working_directory_where_the_harness_may_not_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "scratch").mkdir()
    monkeypatch.chdir(tmp_path)
    keep_results(tmp_path / "file", tmp_path / "scratch")
    (tmp_path / "scratch" / "simulations" / "run.json").write_text("{}")
    assert (tmp_path / "simulations" / "run.json").exists()
