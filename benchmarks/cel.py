"""What a rule written in CEL costs: `python -m benchmarks.cel`.

Every rule of the shop's YAML pack is judged on its own samples, with nothing else in the ledger and
beside 1,000 other orders. A rejection includes its message.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

import ledgeragent
from ledgeragent import Entry, Ledger, MissingEvidence, ToolCall, View, load_domain
from ledgeragent import Path as LedgerPath
from ledgeragent.compiler.samples import Sample, samples_from_json
from ledgeragent.domain import Domain

SHOP = Path(ledgeragent.__file__).parent / "demo" / "shop"
RESULT = Path(__file__).parent / "results" / "cel.json"
SIZES = (0, 1_000)


def microseconds(work: Callable[[], object], number: int = 200, repeats: int = 25) -> float:
    """The least processor time one call of `work` took, averaged within a repeat."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(number):
            work()
        best = min(best, (time.process_time() - start) / number)
    return best * 1e6


def beside(ledger: Ledger, orders: int) -> Ledger:
    """The ledger with this many other orders."""
    for n in range(orders):
        path = LedgerPath.parse(f"orders.X-{n}")
        value = {"order_id": f"X-{n}", "status": "open", "lines": {}}
        ledger = ledger.put(Entry(path=path, value=value, source=ToolCall(name="given"), turn=0))
    return ledger


def cost(sample: Sample, domain: Domain, orders: int) -> float:
    """The cost of the sample's rule on it."""
    rule = next(rule for rule in domain.predicates if rule.id == sample.rule)
    guard = domain.guard(sample.call.name)
    assert guard is not None and guard.read_arguments is not None
    arguments = guard.read_arguments(sample.call.arguments, "", [])
    ledger = beside(sample.state(domain), orders)

    def judge() -> None:
        try:
            rule.check(arguments, View(ledger, domain.parameters))
        except MissingEvidence:
            return

    return microseconds(judge)


def main() -> int:
    """Measures every sample, prints the worst of each rule and writes them to the results folder."""
    domain = load_domain(str(SHOP / "pack.yaml"))
    samples = samples_from_json(SHOP / "pack" / "samples.json")
    rules: dict[str, dict[str, float]] = {rule.id: {} for rule in domain.predicates}
    for sample in samples:
        for size in SIZES:
            key = f"{sample.side}_{size}_other_records_us"
            found = cost(sample, domain, size)
            rules[sample.rule][key] = round(max(found, rules[sample.rule].get(key, 0.0)), 1)
    report = {
        "command": "python -m benchmarks.cel",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "worst_us": {
            f"{side}_{size}": max(
                rule[f"{side}_{size}_other_records_us"] for rule in rules.values()
            )
            for side in ("allowed", "rejected")
            for size in SIZES
        },
        "rules": rules,
    }
    RESULT.write_text(json.dumps(report, indent=1) + "\n")
    json.dump(report, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
