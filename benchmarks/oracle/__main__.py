"""Measures the gate against SOPBench's own verdict on each run, by model and by half of the tasks.

    python -m benchmarks.oracle CHECKOUT -o benchmarks/results/sopbench-oracle.json

CHECKOUT is a checkout of SOPBench with the trajectories of its `output/`. Every run there has the
oracle's `constraint_not_violated`. A run counts as stopped where the gate, with the rules that the
task states, rejects a write that was done. The pack was written by the even tasks; odd ones are new.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.oracle.pack import HEALTHCARE
from ledgeragent.domain import EVERY_RULE, Domain
from ledgeragent.effects import Effect
from ledgeragent.offline.judging import gate_of_records, judge
from ledgeragent.offline.traces import Trace
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Enforcement

_STATED = re.compile(r'"single", "(\w+)"')
_SAME = {"provider_authorized": "provider_covers_policy"}
_WROTE = ("login_user", "logout_user")


def messages(interaction: list[dict[str, Any]]) -> Iterator[Message]:
    """The conversation as our messages."""
    for entry in interaction:
        if "tool_call_id" in entry:
            content = str(entry.get("content") or "")
            yield ToolReturn(call_id=str(entry["tool_call_id"]), content=content)
        elif entry.get("sender") == "user":
            yield UserMessage(text=entry.get("content") or "")
        else:
            calls = tuple(
                ToolCall.parse(
                    name=call["function"]["name"],
                    arguments=call["function"]["arguments"],
                    id=call["id"],
                )
                for call in entry.get("tool_calls") or ()
            )
            yield Reply(text=entry.get("content") or "", calls=calls)


def is_whole(record: dict[str, Any]) -> bool:
    """True for a run with a verdict, whose conversation begins with its own task's request.

    One published file has the conversations of other tasks beside its tasks.
    """
    if not record.get("evaluations") or not record.get("interactions"):
        return False
    opening = record["interactions"][0]["interaction"][:1]
    return bool(opening) and opening[0].get("content") == record["task"]["user_prompt"]


def stating(task: dict[str, Any]) -> Domain:
    """The pack with the rules that a task states; the others only watch."""
    names = set(_STATED.findall(json.dumps(task["constraints"])))
    names = {_SAME.get(name, name).replace("_", "-") for name in names}
    known = {rule.id for rule in HEALTHCARE.predicates}
    on = {f"healthcare/{name}" for name in names} & known
    levels = {EVERY_RULE: Enforcement.AUDIT, **dict.fromkeys(on, Enforcement.ENFORCE)}
    return HEALTHCARE.enforcing(levels)


def outcome(record: dict[str, Any]) -> dict[str, bool]:
    """What oracle and gate say of one run."""
    (interaction, *_), (evaluation, *_) = record["interactions"], record["evaluations"]
    trace = Trace(run="", messages=tuple(messages(interaction["interaction"])))
    gate = gate_of_records(stating(record["task"]))
    judged = [
        call
        for call in judge(trace, gate)
        if call.executed
        and call.call.name not in _WROTE
        and gate.domain.effect(call.call.name) is Effect.WRITE
    ]
    stopped = [call for call in judged if not call.verdict.allowed]
    return {
        "wrote": bool(judged),
        "broken": not evaluation["constraint_not_violated"],
        "stopped": bool(stopped),
        "violated": any(call.verdict.violations for call in stopped),
        "solved": bool(evaluation["success"]),
    }


def counts(outcomes: list[dict[str, bool]]) -> dict[str, int]:
    """How often gate and oracle agree, and how."""
    wrote = [one for one in outcomes if one["wrote"]]
    return {
        "runs": len(outcomes),
        "solved": sum(one["solved"] for one in outcomes),
        "broken": sum(one["broken"] for one in outcomes),
        "wrote": len(wrote),
        "broken_and_stopped": sum(one["broken"] and one["stopped"] for one in wrote),
        "broken_and_passed": sum(one["broken"] and not one["stopped"] for one in wrote),
        "kept_and_stopped": sum(not one["broken"] and one["stopped"] for one in wrote),
        "kept_and_violated": sum(not one["broken"] and one["violated"] for one in wrote),
        "kept_and_passed": sum(not one["broken"] and not one["stopped"] for one in wrote),
        "broken_without_a_write": sum(one["broken"] and not one["wrote"] for one in outcomes),
    }


def measured(folder: Path) -> dict[str, Any]:
    """The counts of the insurer, by model and half; of the other domains, the oracle's own."""
    halves: dict[str, list[dict[str, bool]]] = {"even": [], "odd": []}
    models, domains = {}, {}
    for domain in sorted(path for path in folder.iterdir() if path.is_dir()):
        runs = broken = solved = left_out = 0
        for file in sorted(domain.glob("ast_*-mode_fc-*tool_full-*.json")):
            published = json.loads(file.read_text())
            records = [record for record in published if is_whole(record)]
            left_out += len(published) - len(records)
            runs += len(records)
            broken += sum(not r["evaluations"][0]["constraint_not_violated"] for r in records)
            solved += sum(bool(r["evaluations"][0]["success"]) for r in records)
            if domain.name == HEALTHCARE.name:
                outcomes = {
                    number: outcome(record)
                    for number, record in enumerate(published)
                    if is_whole(record)
                }
                if outcomes:
                    name = file.name[4:].partition("-mode_fc")[0]
                    models[name] = counts(list(outcomes.values()))
                for number, one in outcomes.items():
                    halves["odd" if number % 2 else "even"].append(one)
        if runs:
            domains[domain.name] = {
                "runs": runs,
                "solved": solved,
                "broken": broken,
                "left_out": left_out,
            }
    return {
        "domains": domains,
        "halves": {name: counts(outcomes) for name, outcomes in halves.items()},
        "models": models,
    }


def main(arguments: list[str] | None = None) -> int:
    """Measures and writes; 2 where the folder is no checkout with trajectories."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.oracle", description=__doc__)
    parser.add_argument("checkout", type=Path, help="a checkout of SOPBench")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the result, as JSON")
    args = parser.parse_args(arguments)
    folder = args.checkout / "output"
    if not any(folder.glob("healthcare/ast_*.json")):
        sys.stderr.write(f"error: {folder} holds no trajectories (healthcare/ast_*.json)\n")
        return 2
    text = json.dumps(measured(folder), indent=1) + "\n"
    if args.output is None:
        sys.stdout.write(text)
    else:
        args.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
