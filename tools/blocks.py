"""The generated blocks of the docs: each is Markdown made from a committed result file, or run now."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ledgeragent import load_domain

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
DOMAINS = ("airline", "retail", "telecom", "telehealth")


def demo() -> str:
    """The second scene of the demo, as it is printed, without the introduction above it."""
    command = [sys.executable, "-m", "ledgeragent", "demo", "--scenario", "2"]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    scene = done.stdout[done.stdout.index("━━") :]
    return f"```\n$ ledgeragent demo --scenario 2\n{scene.rstrip()}\n```\n"


def rules() -> str:
    """Per domain: clauses, those that records can decide, and the predicates that enforce them."""
    rows = []
    for name in DOMAINS:
        domain = load_domain(name)
        covered = [clause for clause in domain.clauses if clause.predicates]
        rows.append(
            (
                name,
                len(domain.clauses),
                sum(clause.checkable == "state" for clause in domain.clauses),
                len(covered),
                len(domain.predicates),
            )
        )
    head = ("domain", "policy clauses", "decided by records", "clauses with a rule", "predicates")
    return _table(head, rows)


def replay_rewards() -> str:
    """Reward against rejected executed writes and requests for evidence, per domain."""
    rows = []
    for domain, report in _recorded("replay").items():
        for reward in ("1", "0"):
            counts = report["by_reward"][reward]
            rows.append(
                (
                    domain,
                    reward,
                    counts["runs"],
                    counts["runs_with_executed_write"],
                    _share(counts["runs_with_rejected_executed_write"], counts["runs"]),
                    _share(counts["runs_asked_before_an_executed_write"], counts["runs"]),
                    _share(counts["runs_asked_for_a_read"], counts["runs"]),
                )
            )
    head = (
        "domain",
        "reward",
        "runs",
        "… that executed a write",
        "… with a rejected executed write",
        "… asked for a read before an executed write",
        "… asked for a read before any write, also one that failed",
    )
    return _table(head, rows) + _made_by("recorded.json", "python -m benchmarks.recorded")


def replay_labels() -> str:
    """The rejected executed writes of runs with reward 1, by clause and task."""
    rows: list[tuple[object, ...]] = []
    for report in _recorded("replay").values():
        found: dict[tuple[str, str], list[str]] = {}
        for row in report["rejected_reward_1"]:
            label = f"{row['task_id']} ({row['runs']})"
            found.setdefault((row["clause"], row["benchmark"]), []).append(label)
        rows += [(clause, benchmark, ", ".join(t)) for (clause, benchmark), t in found.items()]
    return _table(("clause", "benchmark", "task (runs)"), rows)


def replay_requests() -> str:
    """Per clause, the share of reward-1 runs that were asked for a read."""
    rows = []
    for report in _recorded("replay").values():
        runs = report["by_reward"]["1"]["runs"]
        for clause, counts in report["asked_by_clause"].items():
            before = counts["before_an_executed_write"]["1"]
            if counts["asked"]["1"]:
                rows.append((clause, _share(before, runs), _share(counts["asked"]["1"], runs)))
    head = ("clause", "before an executed write", "before any write")
    return _table(head, rows)


def transfers() -> str:
    """What the rules on handing a conversation over catch, and what they disturb, in runs."""
    rows = []
    for report in _recorded("replay").values():
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
    return _table(head, rows) + _made_by("recorded.json", "python -m benchmarks.recorded")


def cases() -> str:
    """Labelled cases judged right, per domain and kind."""
    kinds = ("compliant", "violation", "reread", "stale", "missing", "adversarial")
    rows = []
    for domain, report in _recorded("cases").items():
        by_kind = report["by_kind"]
        cells = (_of(by_kind.get(kind)) for kind in kinds)
        rows.append((domain, f"{report['correct']}/{report['cases']}", *cells))
    head = ("domain", "right", *kinds)
    return _table(head, rows) + _made_by("recorded.json", "python -m benchmarks.recorded")


def speed() -> str:
    """What a decision, an absorption and a render cost, as ratios of one run."""
    report = json.loads((RESULTS / "speed.json").read_text())
    figures, ratios = report["figures"], report["ratios"]
    decision = figures["decision"]
    loads = f"one `json.loads` of a {decision['order_bytes'] / 1000:.1f} KB order"
    rows = [
        (
            f"{decision['predicates']} rules, allowed",
            _us(decision["decision_allowed_us"]),
            f"{ratios['decision_allowed_per_json_loads']:.2f} × {loads}",
        ),
        (
            f"{decision['predicates']} rules, rejected, with reasons and evidence",
            _us(decision["decision_rejected_us"]),
            f"{ratios['decision_rejected_per_json_loads']:.2f} × the same",
        ),
        (
            "the same two on records that no rule has read yet",
            f"{_us(decision['first_decision_allowed_us'])}, "
            f"{_us(decision['first_decision_rejected_us'])}",
            f"{ratios['first_decision_allowed_per_json_loads']:.2f} ×, "
            f"{ratios['first_decision_rejected_per_json_loads']:.2f} × the same",
        ),
        (
            f"{decision['predicates']} rules, allowed, on a ledger of 10,000 records",
            _us(decision["decision_allowed_10000_records_us"]),
            f"{ratios['decision_large_per_small_ledger']:.2f} × that on a small ledger",
        ),
        (
            "absorbing a return",
            _us(figures["absorb"]["absorb_us"]),
            f"{ratios['absorb_per_json_loads']:.2f} × its `json.loads`",
        ),
        (
            "rendering 1,000 records after one changed",
            _us(figures["render"]["render_after_one_change_us"]),
            f"{figures['render']['records_serialised_per_change']:.0f} record serialised",
        ),
    ]
    if figures["replay"]:
        each = f"{figures['replay']['calls_per_second']:,.0f} recorded tool calls a second and core"
        rows.append(("replay of the tau2 retail runs, reading and parsing included", each, ""))
    return _table(("what", "cost", "in proportion"), rows) + _made_by("speed.json", "make bench")


def cost() -> str:
    """Prompt tokens per run without the ledger and in each render mode, as counted and in money."""
    report = json.loads((RESULTS / "cost.json").read_text())
    tables = []
    for domain, figures in report["domains"].items():
        rows = [
            (
                arm,
                *(f"{tokens[c]:,.0f} (×{tokens[f'{c}_ratio']:.2f})" for c in _COST_COLUMNS),
            )
            for arm, tokens in figures["arms"].items()
        ]
        head = (
            f"{domain}, {figures['runs']:,} runs",
            "prompt tokens a run",
            "uncached",
            "in money",
        )
        tables.append(_table(head, rows))
    made = _made_by("cost.json", "python -m benchmarks.cost")
    return "\n".join(tables) + made


def gateway() -> str:
    """What the gateway adds to a request, beside the LiteLLM proxy in the same run."""
    report = json.loads((RESULTS / "gateway.json").read_text())
    direct = report["figures"]["upstream"]
    rows = [
        (
            label,
            f"{told['p50_ms'] - direct['p50_ms']:.2f} ms",
            f"{told['p99_ms'] - direct['p99_ms']:.1f} ms",
            f"{told['cpu_ms_per_request']:.2f} ms",
            f"{told['requests_per_second']:,.0f}",
        )
        for name, label in _PROXIES.items()
        if (told := report["figures"].get(name))
    ]
    head = ("one process", "added p50", "added p99", "processor time", "requests a second")
    return _table(head, rows) + _made_by("gateway.json", report["command"])


_PROXIES = {
    "gateway": "gateway",
    "gateway_streamed": "gateway, streamed",
    "gateway_traced": "gateway with `--otel`",
    "litellm": "LiteLLM proxy",
}


def conversations() -> str:
    """What came of many conversations at once, and the gateway's memory while they ran."""
    report = json.loads((RESULTS / "conversations.json").read_text())
    told = report["figures"]
    memory = told["gateway_memory_mib"]
    rows = [
        ("requests", f"{told['requests']:,}"),
        ("conversations finished", f"{told['conversations_finished']:,}"),
        ("errors", told["errors"]),
        (
            "answers, verdicts or ledgers that were not the conversation's own",
            told["wrong_or_crossed"],
        ),
        *((f"memory, {name.replace('_', ' ')}", f"{mib:.0f} MiB") for name, mib in memory.items()),
    ]
    return _table(("what", "count"), rows) + _made_by("conversations.json", report["command"])


_COST_COLUMNS = ("total", "uncached", "price_weighted")


def helpers() -> str:
    """What helpers add to the agent's own tokens, per recipe and domain."""
    report = json.loads((RESULTS / "helpers.json").read_text())
    domains = report["domains"]
    grown = {domain: found["growth"] for domain, found in domains.items()}
    rows = [
        (recipe, *(f"{100 * grown[domain][recipe]:+.1f}%" for domain in domains))
        for recipe in next(iter(grown.values()))
    ]
    head = ("helpers", *(f"{name}, {found['runs']:,} runs" for name, found in domains.items()))
    return _table(head, rows) + _made_by("helpers.json", "python -m benchmarks.helpers")


def probe_tiny() -> str:
    """What a tiny model proposes for each write, plain and in each render mode."""
    report = json.loads((RESULTS / "probe-tiny.json").read_text())
    rows = [
        (arm, *(f"{100 * told[name]:.1f}%" for name in ("exact", "arguments")), _against(told))
        for arm, told in report["arms"].items()
    ]
    head = (f"{report['probes']} writes", "exact", "arguments right", "exact, against plain")
    made = _made_by("probe-tiny.json", "python -m benchmarks.probe_tiny")
    return f"{_table(head, rows)}\n{report['model']}, {report['asked']}.\n{made}"


def _against(told: dict[str, Any]) -> str:
    if "difference" not in told:
        return ""
    low, high = told["interval"]
    points = f"{100 * told['difference']:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}]"
    return f"{told['wins']} better, {told['losses']} worse, {points}"


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
        for run in _gold()
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
    return _table(head, rows) + _made_by("gold.json", "python -m benchmarks.gold")


def gold_short() -> str:
    """The gold runs on the v1.x tasks: per domain, what they earned on each harness, what was rejected."""
    runs = [run for run in _gold() if _tasks_of(run) == "v1.x"]
    lines = sorted({run["harness"] for run in runs})
    rows = []
    for domain in DOMAINS:
        own = {run["harness"]: run for run in runs if run["domain"] == domain}
        earned = (f"{own[line]['reward_1']}/{own[line]['tasks']}" for line in lines)
        rejected = (str(own[line]["rejected_gold_writes"]) for line in lines)
        rows.append((domain, *earned, own[lines[0]]["gold_writes"], " / ".join(rejected)))
    head = (
        "domain",
        *(f"reward 1, {line}" for line in lines),
        "gold writes judged",
        "rejected",
    )
    return _table(head, rows) + _made_by("gold.json", "python -m benchmarks.gold")


def gold_rejections() -> str:
    """The gold writes that the gate rejects, once per data set, with the reason it gives."""
    rows: dict[tuple[str, ...], None] = {}
    for run in _gold():
        for task in run["noted"]:
            for found in task["rejections"]:
                tool = found["call"].partition("(")[0]
                changes = "yes" if found["effective"] else "no"
                row = (_tasks_of(run), run["domain"], task["task"], f"`{tool}`", changes)
                rows[(*row, found["reason"])] = None
    head = ("tasks", "domain", "task", "gold write", "changes a record", "the gate's reason")
    return _table(head, rows)


def _gold() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((RESULTS / "gold.json").read_text())["runs"]
    return found


def _tasks_of(run: dict[str, Any]) -> str:
    return "shipped with it" if run["tasks_from"] == "the harness" else "v1.x"


def _us(value: float) -> str:
    return f"{value:,.1f} µs"


def _recorded(part: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / "recorded.json").read_text())[part]
    return found


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.1f}%)" if whole else str(part)


def _of(counts: dict[str, int] | None) -> str:
    return f"{counts['correct']}/{counts['cases']}" if counts else ""


def _table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def _made_by(file: str, command: str) -> str:
    return f"\n*From `benchmarks/results/{file}`, made by `{command}`.*\n"
