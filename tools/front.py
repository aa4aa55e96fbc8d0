"""Blocks of the front page: the demo, the packs, and the measured sentences."""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
import sys
from functools import cache

from ledgeragent import load_domain
from tools.markdown import DOMAINS, ROOT, result, table
from tools.recorded import current_gold

_LINK = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")


@cache
def _scene() -> str:
    command = [sys.executable, "-m", "ledgeragent", "demo", "--scenario", "2"]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", check=True, env=environment
    )
    return done.stdout[done.stdout.index("━━") :].rstrip()


def demo() -> str:
    """The second scene of the demo, as it is printed, without the introduction above it."""
    return f"```text\n$ ledgeragent demo --scenario 2\n{_scene()}\n```\n"


def demo_short() -> str:
    """The lines of that scene in which the gate answers."""
    lines = _scene().splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("plain agent ──"))
    last = next(n for n, line in enumerate(lines) if "shop/price-paid" in line and n > first)
    shown = "\n".join(line.rstrip() for line in lines[first : last + 1])
    return f"```text\n{shown}\n```\n"


def rules() -> str:
    """Per domain: clauses, those that records can decide, and the rules that enforce them."""
    rows = []
    for name in DOMAINS:
        domain = load_domain(name)
        rows.append(
            (
                f"[{name}](docs/reference/coverage/{name}.md)",
                len(domain.clauses),
                sum(clause.checkable == "state" for clause in domain.clauses),
                sum(bool(clause.predicates) for clause in domain.clauses),
                len(domain.predicates),
            )
        )
    head = ("pack", "policy clauses", "decided by records", "clauses with a rule", "rules")
    return table(head, rows)


def measured() -> str:
    """Five sentences, one number each, from the committed result files."""
    recorded = result("recorded.json")
    cases = recorded["cases"].values()
    solved = [report["by_reward"]["1"] for report in recorded["replay"].values()]
    gold = [run for run in current_gold() if run["harness"] == current_gold()[0]["harness"]]
    money = [
        figures["arms"]["index, tail"]["price_weighted_ratio"]
        for figures in result("cost.json")["domains"].values()
    ]
    ratios = result("speed.json")["ratios"]
    allowed, held = (
        ratios[f"decision_{which}_per_json_loads"] for which in ("allowed", "rejected")
    )
    rejected = sum(counts["runs_with_rejected_executed_write"] for counts in solved)
    sentences = (
        f"**{sum(report['correct'] for report in cases):,} of "
        f"{sum(report['cases'] for report in cases):,}** labelled cases get the verdict of their "
        "label ([cases](docs/measured/cases.md)).",
        f"**{sum(run['reward_1'] for run in gold)} of {sum(run['tasks'] for run in gold)}** of the "
        "benchmark's own solutions still earn their reward behind the gate "
        "([gold](docs/measured/gold.md)).",
        f"**{rejected} of {sum(counts['runs_with_executed_write'] for counts in solved):,}** recorded "
        "runs that wrote and solved their task made a write that the gate rejects "
        "([replay](docs/measured/replay.md)).",
        f"**×{max(money):.2f}** is what the prompt costs in money with the ledger as an index at its "
        "tail ([cost](docs/measured/cost.md)).",
        f"**×{allowed:.2f}** of one `json.loads` of an order is what a decision takes that allows, "
        f"×{held:.2f} one that rejects ([speed](docs/measured/speed.md)).",
    )
    return "".join(f"* {sentence}\n" for sentence in sentences)


def readme() -> str:
    """The README with its links as seen from docs/."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    kept = re.sub(r"<!-- (generated: [\w-]+|end generated) -->\n", "", text)
    return _LINK.sub(lambda link: f"]({_from_docs(link[1])})", kept)


def _from_docs(target: str) -> str:
    path, mark, anchor = target.partition("#")
    return posixpath.relpath(path, "docs") + mark + anchor
