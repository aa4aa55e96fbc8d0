"""Giving up at once, in every telecom task: `python -m benchmarks.handover`.

Needs the public benchmark data (`LEDGERAGENT_DATA_DIR`). No agent runs. Each of the 114 tasks is set
up as recorded, the caller says what the task has them say, their records are read, and they are handed
over: before and after the writes of the reference solution. The runs at hand are replayed as well.
Writes what the rules on handing over said to the results folder.
"""

from __future__ import annotations

import copy
import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ledgeragent import Effect, Gate, Reply, ToolCall, ToolReturn, UserMessage, load_domain
from ledgeragent.offline.replay import replay
from ledgeragent.state import State

RESULT = Path(__file__).parent / "results" / "handover.json"
TELECOM = load_domain("telecom")
GATE = Gate(domain=TELECOM)
TRANSFER = "transfer_to_human_agents"
PHONE, CUSTOMER, LINE = "555-123-2002", "C1001", "L1002"
ON_LINE = {"customer_id": CUSTOMER, "line_id": LINE}


class Scene:
    """One task: its database as set up, and the conversation so far."""

    def __init__(self, session: Mapping[str, Any], task: Mapping[str, Any], db: Any) -> None:
        changes = session["initial_diff_vs_default"]
        self.db = copy.deepcopy(db)
        for change in changes.get("agent", ()):
            _apply(self.db, change)
        self.state = State()
        self.hear(task["user_scenario"]["instructions"]["reason_for_call"])
        self.hear(f"My number is {PHONE}.")
        if any(c.get("new") == "locked_pin" for c in changes.get("user", ())):
            self.hear("The SIM card status is: locked, it asks for the PIN.")

    def hear(self, text: str) -> None:
        self.state = self.state.observe(UserMessage(text=text), TELECOM)

    def answer(self, name: str, content: str, **arguments: Any) -> None:
        call = ToolCall(name=name, arguments=arguments, id="same")
        self.state = self.state.observe(Reply(calls=(call,)), TELECOM)
        self.state = self.state.observe(ToolReturn(call_id="same", content=content), TELECOM)

    def look_up(self) -> None:
        """The customer and their line are read."""
        record = _record(self.db["customers"], "customer_id", CUSTOMER)
        self.answer("get_customer_by_phone", json.dumps(record), phone_number=PHONE)
        line = _record(self.db["lines"], "line_id", LINE)
        self.answer("get_details_by_id", json.dumps(line), id=LINE)

    def read_all(self) -> None:
        """Usage and bills are read as well."""
        line = _record(self.db["lines"], "line_id", LINE)
        plan = _record(self.db["plans"], "plan_id", line["plan_id"])
        usage = {
            "line_id": LINE,
            "data_used_gb": str(line["data_used_gb"]),
            "data_limit_gb": str(plan["data_limit_gb"]),
            "data_refueling_gb": str(line["data_refueling_gb"]),
        }
        self.answer("get_data_usage", json.dumps(usage), **ON_LINE)
        bills = [bill for bill in self.db["bills"] if bill["customer_id"] == CUSTOMER]
        self.answer("get_bills_for_customer", json.dumps(bills), customer_id=CUSTOMER)

    def play(self, calls: Iterable[Mapping[str, Any]]) -> None:
        """The writes of the reference solution, with their recorded answers."""
        for call in calls:
            effect = TELECOM.effect(call.get("name", ""))
            if call.get("requestor") == "assistant" and effect is Effect.WRITE:
                self.answer(call["name"], call["content"], **call["arguments"])

    def handed_over(self) -> tuple[str, str]:
        """What the enforced rule says of handing over (asks, objects, silent), and the warning."""
        call = ToolCall(name=TRANSFER, arguments={"summary": "The agent cannot help."})
        verdict = GATE.judge(call, self.state.ledger)
        said = "objects" if verdict.violations else "asks" if verdict.missing else "silent"
        return said, "warns" if verdict.shadow else "silent"


def _apply(db: Any, change: Mapping[str, Any]) -> None:
    *parents, last = change["path"]
    for step in parents:
        db = db[step]
    if change["op"] == "add" and isinstance(db, list):
        db.insert(last, change["new"])
    else:
        db[last] = change["new"]


def _record(table: Iterable[Mapping[str, Any]], key: str, value: str) -> Mapping[str, Any]:
    return next(record for record in table if record[key] == value)


def _kinds(task_id: str, gold_hands_over: bool) -> Iterator[str]:
    """The groups that a task is counted in."""
    yield "all tasks"
    if gold_hands_over:
        yield "reference hands over"
    elif "data_usage_exceeded" in task_id:
        yield "data used up"
    elif "overdue_bill_suspension" in task_id:
        yield "overdue bill"
    else:
        yield "trouble on the phone only"


def tasks(data: Path) -> dict[str, dict[str, dict[str, int]]]:
    """For each group of tasks and stage, how often the rules ask, object, warn or are silent."""
    folder = data / "benchmarks/tau2/telecom"
    db = json.loads((folder / "db_resolved.json").read_text())
    named = {task["id"]: task for task in json.loads((folder / "tasks.json").read_text())}
    counts: dict[str, dict[str, Counter[str]]] = {}
    with gzip.open(data / "benchmarks/oracle/telecom_gold.jsonl.gz", "rt") as rows:
        for row in map(json.loads, rows):
            stages = _stages(row, named[row["task_id"]], db)
            gold = any(call.get("name") == TRANSFER for call in row["calls"])
            for kind in _kinds(row["task_id"], gold):
                for stage, answers in stages.items():
                    of_kind = counts.setdefault(kind, {}).setdefault(stage, Counter())
                    of_kind.update(("tasks", f"rule {answers[0]}", f"warning {answers[1]}"))
    return {
        kind: {stage: dict(sorted(found.items())) for stage, found in of_kind.items()}
        for kind, of_kind in counts.items()
    }


def _stages(row: Mapping[str, Any], task: Mapping[str, Any], db: Any) -> dict[str, tuple[str, str]]:
    scene = Scene(row, task, db)
    stages = {"nothing read": scene.handed_over()}
    scene.look_up()
    stages["line read"] = scene.handed_over()
    scene.read_all()
    stages["usage and bills read"] = scene.handed_over()
    scene.play(row["calls"])
    stages["reference writes done"] = scene.handed_over()
    return stages


def runs(data: Path) -> dict[str, Any]:
    """What the rules say of the hand-overs in the recorded runs at hand."""
    files = sorted(map(str, (data / "trajectories").glob("tau2_telecom__*.jsonl.gz")))
    found = replay(files, "telecom")
    told = ("task_id", "reward", "predicate", "enforcement", "reason")
    rows: list[Mapping[str, Any]] = [dict(row) for row in found.neutral.stopped]
    return {
        "hand_overs": dict(found.neutral.outcomes),
        "by_predicate": {rule: dict(c) for rule, c in found.neutral.by_predicate.items()},
        "spoken_against": [{name: row[name] for name in told} for row in rows],
    }


def main() -> int:
    """Judges every hand-over and writes the result file."""
    folder = os.environ.get("LEDGERAGENT_DATA_DIR")
    if folder is None:
        sys.exit("set LEDGERAGENT_DATA_DIR to the folder with benchmarks/ and trajectories/")
    data = Path(folder)
    report = {
        "command": "python -m benchmarks.handover",
        "tasks": tasks(data),
        "runs": runs(data),
    }
    RESULT.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
