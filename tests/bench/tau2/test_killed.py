"""`bench run`, killed at random twenty times against a server that fails, ends as if undisturbed."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.bench.tau2.data import own_folder
from tests.bench.tau2.model_server import HANG, Body, Moody, serving

pytestmark = pytest.mark.skipif(
    find_spec("tau2") is None, reason="the tau2 harness is not installed (extra tau2)"
)

SOURCE = Path(__file__).parents[3] / "src"
OFFICIAL = find_spec("tau2") is not None and (own_folder().parent / "src").is_dir()
KEY = "sk-never-to-be-written"
TASKS, ARMS = 8, ("fc", "ledgeragent")


class Failing(Moody):
    """Fails now and then: 429, 500, garbage, no answer at all."""

    def __init__(self) -> None:
        super().__init__()
        self._chance = random.Random(5)
        self._lock = threading.Lock()
        self.failures = []
        self.made: list[int] = []

    def reply(self, arm: str, body: Body) -> Body:
        with self._lock:
            if self._chance.random() < 0.06:
                self.made.append(self._chance.choice((429, 500, 0, HANG)))
                self.failures.append(self.made[-1])
        return super().reply(arm, body)


def command(url: str, results: Path) -> list[str]:
    made = ["bench", "run", "--domain", "retail", "--tasks", str(TASKS), "--trials", "1"]
    for arm in ARMS:
        made += ["--arm", arm]
    made += ["--model", "scripted", "--url", f"{url}/any", "--workers", "2", "--timeout", "1"]
    return [*made, "--judge-model", "judge", "-o", str(results)]


@dataclass(frozen=True)
class Played:
    """An experiment: how each of its lives ended, its result file, and all that was printed."""

    model: Moody
    ends: list[int]
    results: Path
    told: str


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Played]:
    """The experiment left alone, killed, and before a server that hangs."""
    folder = tmp_path_factory.mktemp("killed")
    models = {"undisturbed": steady(), "killed": Failing(), "hanging": steady(HANG, HANG)}
    experiments = []
    with ExitStack() as stack:
        for name, model in models.items():
            url = stack.enter_context(serving(model))
            made = command(url, folder / f"{name}.jsonl")
            kills = 21 if name == "killed" else 0
            log = str(folder / f"{name}.log")
            experiments.append({"command": made, "output": log, "kills": kills})
        request = folder / "request.json"
        request.write_text(json.dumps(experiments))
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("kill.py")), str(request)],
            env={
                **os.environ,
                "PYTHONPATH": f"{SOURCE}:{SOURCE.parent}",
                "LEDGERAGENT_DATA_DIR": "",
                "OPENAI_API_KEY": KEY,
            },
            capture_output=True,
            text=True,
            check=True,
        )
    ends = json.loads(done.stdout.splitlines()[-1])
    return {
        name: Played(model, ends[n], folder / f"{name}.jsonl", (folder / f"{name}.log").read_text())
        for n, (name, model) in enumerate(models.items())
    }


def steady(*failures: int) -> Moody:
    model = Moody()
    model.failures = list(failures)
    return model


def outcome(results: Path) -> dict[tuple[str, str], Any]:
    """What each run came to, without what differs between any two: ids, times, costs."""
    first, *records = map(json.loads, results.read_text().splitlines())
    assert "settings" in first
    found = {}
    for record in records:
        job = (record["arm"], record["task_id"])
        assert job not in found, f"{job} was done twice"
        said = [
            (m["role"], m["content"], [c["name"] for c in m.get("tool_calls") or ()])
            for m in record["messages"]
        ]
        found[job] = (record["termination_reason"], record["reward"], said)
    return found


def test_killed_twenty_times_and_resumed_it_ends_as_if_undisturbed(
    played: dict[str, Played],
) -> None:
    undisturbed, killed = played["undisturbed"], played["killed"]
    assert undisturbed.ends == [0]
    *kills, interrupted, last = killed.ends
    assert len(kills) == 20 and set(kills) <= {-9, 0} and kills.count(-9) >= 5
    assert len(set(re.findall(r"(\d+) done before", killed.told))) >= 3
    assert interrupted in (0, 130)
    assert last == 0
    assert isinstance(killed.model, Failing) and len(killed.model.made) >= 3
    assert len(outcome(killed.results)) == TASKS * len(ARMS)
    assert outcome(killed.results) == outcome(undisturbed.results)


@pytest.mark.skipif(not OFFICIAL, reason="only the tasks of the official line need a judge")
def test_the_judge_chosen_is_asked(played: dict[str, Played]) -> None:
    assert set(played["undisturbed"].model.judged) == {"judge"}


def test_a_server_that_never_answers_is_given_up_on(played: dict[str, Played]) -> None:
    hanging = played["hanging"]
    assert hanging.ends == [0]
    assert hanging.model.abandoned == 2
    assert outcome(hanging.results) == outcome(played["undisturbed"].results)


def test_the_key_is_in_no_file(played: dict[str, Played]) -> None:
    for one in played.values():
        assert KEY not in one.told
        assert KEY not in one.results.read_text()
