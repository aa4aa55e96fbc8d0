"""Small checkouts of both benchmarks, in their layout, with contents of our own."""

from __future__ import annotations

import json
from pathlib import Path

from ledgeragent.bench.datasets.needs import NEEDS

TASKS = '''
from elsewhere import Task, Action

def helper(value):
    raise SystemExit("data is never run")

TASKS_TEST = [
    Task(annotator="0", user_id="ann_1", instruction="""Say "hello".""",
         actions=[Action(name="think", kwargs={"thought": "so", "n": -1.5, "of": [True, None]})],
         outputs=[]),
    Task(annotator="1", user_id="bo_2", instruction="Wait.", actions=[], outputs=["42"]),
]
'''


def tau2_checkout(root: Path, *but: str) -> Path:
    """A checkout of tau2-bench, without the named files."""
    for domain in ("airline", "retail", "telecom"):
        for name in set(NEEDS[domain].files) - set(but):
            at = name if name.startswith("user_simulator/") else f"domains/{name}"
            _write(root / "data" / "tau2" / at, f"{name} of the checkout")
    _write(root / "data" / "tau2" / "domains" / "airline" / "tasks_voice.json", "not read by a run")
    return root


def trait_checkout(root: Path, tasks: str = TASKS) -> Path:
    """A checkout of tau-trait."""
    folder = root / "tau_trait" / "envs" / "telehealth"
    for name in NEEDS["telehealth"].files:
        _write(folder / "data" / Path(name).name, json.dumps({}))
    for name in ("policy.md", "tasks.json", "tools.json"):
        (folder / "data" / name).unlink()
    _write(folder / "wiki.md", "# Policy\n")
    _write(folder / "tasks_test.py", tasks)
    return root


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
