"""Blocks about recorded runs, labelled cases and gold solutions."""

from __future__ import annotations

from typing import Any

from tools.markdown import DOMAINS, made_by, result, share, table

KINDS = ("compliant", "violation", "reread", "stale", "missing", "adversarial")


def replay_rewards() -> str:
    """Reward against rejected executed writes and requests for evidence, per domain."""
    rows = []
    for domain, report in result("recorded.json")["replay"].items():
        for reward in ("1", "0"):
            counts = report["by_reward"][reward]
            runs, writing = counts["runs"], counts["runs_with_executed_write"]
            rows.append(
                (
                    domain,
                    reward,
                    runs,
                    writing,
                    share(counts["runs_with_rejected_executed_write"], runs),
                    share(counts["runs_with_rejected_executed_write"], writing),
                    share(counts["runs_asked_before_an_executed_write"], writing),
                    share(counts["runs_asked_for_a_read"], runs),
                )
            )
    head = (
        "domain",
        "reward",
        "runs",
        "… that executed a write",
        "… with a rejected executed write (share of all)",
        "… the same (share of the runs that executed one)",
        "… asked for a read before an executed write (share of the runs that executed one)",
        "… asked for a read before a write (executed or failed)",
    )
    return table(head, rows) + made_by("recorded.json", "python -m benchmarks.recorded")


def replay_labels() -> str:
    """The rejected executed writes of runs with reward 1, by clause and task."""
    rows: list[tuple[object, ...]] = []
    for report in result("recorded.json")["replay"].values():
        tasks: dict[tuple[str, str], list[str]] = {}
        for row in report["rejected_reward_1"]:
            label = f"{row['task_id']} ({row['runs']})"
            tasks.setdefault((row["clause"], row["benchmark"]), []).append(label)
        rows += [(clause, benchmark, ", ".join(t)) for (clause, benchmark), t in tasks.items()]
    made = made_by("recorded.json", "python -m benchmarks.recorded")
    return table(("clause", "benchmark", "task (runs)"), rows) + made


def replay_requests() -> str:
    """Per clause, the share of reward-1 runs that were asked for a read."""
    rows = []
    for report in result("recorded.json")["replay"].values():
        runs = report["by_reward"]["1"]["runs"]
        for clause, counts in report["asked_by_clause"].items():
            before = counts["before_an_executed_write"]["1"]
            if counts["asked"]["1"]:
                rows.append((clause, share(before, runs), share(counts["asked"]["1"], runs)))
    head = ("clause", "before an executed write", "before any write")
    return table(head, rows) + made_by("recorded.json", "python -m benchmarks.recorded")


def transfers() -> str:
    """The rules on hand-overs: what they catch, and what they disturb, in runs."""
    rows = []
    for report in result("recorded.json")["replay"].values():
        for rule, counts in report["neutral_calls"]["by_predicate"].items():
            premature, correct, solved = (
                counts[group] for group in ("premature", "correct", "solved")
            )
            rows.append(
                (
                    f"`{rule}`",
                    counts["enforcement"],
                    f"{premature['caught']} of {premature['runs']}",
                    f"{correct['disturbed']} of {correct['runs']}",
                    f"{solved['disturbed']} of {solved['runs']}",
                )
            )
    head = ("rule", "level", "premature, caught", "correct, disturbed", "solved, disturbed")
    return table(head, rows) + made_by("recorded.json", "python -m benchmarks.recorded")


def cases() -> str:
    """Labelled cases and situations judged right, per domain and kind."""
    rows, labelled = [], result("recorded.json")
    for domain, report in labelled["cases"].items():
        cells = (_of(report["by_kind"].get(kind)) for kind in KINDS)
        situations = _of(labelled["situations"][domain])
        rows.append((domain, f"{report['correct']}/{report['cases']}", *cells, situations))
    head = ("domain", "right", *KINDS, "situations")
    return table(head, rows) + made_by("recorded.json", "python -m benchmarks.recorded")


def _of(counts: dict[str, int] | None) -> str:
    return f"{counts['correct']}/{counts['cases']}" if counts else ""


def gold() -> str:
    """Each task's gold actions through the gate: per harness, data set and domain."""
    rows = [
        (
            run["harness"],
            _tasks_of(run),
            run["domain"],
            run["data"].removeprefix("sha256:")[:8],
            f"{run['reward_1']}/{run['tasks']}",
            run["gold_writes"],
            run["rejected_gold_writes"],
            run["rejected_without_effect"],
            run["extra_reads"],
        )
        for run in result("gold.json")["runs"]
    ]
    head = (
        "harness",
        "tasks",
        "domain",
        "data, SHA-256",
        "reward 1",
        "gold writes judged",
        "rejected that change a record",
        "rejected that their tool refuses too",
        "reads the gate asked for",
    )
    return table(head, rows) + made_by("gold.json", "python -m benchmarks.gold")


def gold_short() -> str:
    """The gold runs on the v1.x tasks: per domain, what they earned on each harness."""
    runs = current_gold()
    harnesses = sorted({run["harness"] for run in runs})
    rows = []
    for domain in DOMAINS:
        own = {run["harness"]: run for run in runs if run["domain"] == domain}
        earned = (f"{own[name]['reward_1']}/{own[name]['tasks']}" for name in harnesses)
        rejected = (str(own[name]["rejected_gold_writes"]) for name in harnesses)
        rows.append((domain, *earned, own[harnesses[0]]["gold_writes"], " / ".join(rejected)))
    head = (
        "domain",
        *(f"reward 1, {name}" for name in harnesses),
        "gold writes judged",
        "rejected",
    )
    return table(head, rows) + made_by("gold.json", "python -m benchmarks.gold")


def gold_rejections() -> str:
    """The gold writes that the gate rejects, once per data set, with the reason it gives."""
    rows: dict[tuple[str, ...], None] = {}
    for run in result("gold.json")["runs"]:
        for task in run["noted"]:
            for rejection in task["rejections"]:
                tool = rejection["call"].partition("(")[0]
                changes = "yes" if rejection["effective"] else "no"
                row = (_tasks_of(run), run["domain"], task["task"], f"`{tool}`", changes)
                rows[(*row, rejection["reason"])] = None
    head = ("tasks", "domain", "task", "gold write", "changes a record", "the gate's reason")
    return table(head, rows) + made_by("gold.json", "python -m benchmarks.gold")


def current_gold() -> list[dict[str, Any]]:
    """The gold runs on the corrected tasks."""
    return [run for run in result("gold.json")["runs"] if _tasks_of(run) == "v1.x"]


def _tasks_of(run: dict[str, Any]) -> str:
    return "shipped with it" if run["tasks_from"] == "the harness" else "v1.x"
