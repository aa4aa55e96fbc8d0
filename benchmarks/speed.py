"""What the gate and the ledger cost, as ratios measured in one run: `make bench`.

Every figure is the best of several repeats in a process, and stands beside the cost of `json.loads` on
the same record in the same run, so that machines can be compared; of several processes, the median is
told. A first decision is one on records that no rule has read yet: facts are kept with their record.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks import fixture
from ledgeragent import Domain, Gate, Ledger, Session, ToolReturn, load_domain, render
from ledgeragent.absorb import absorb
from ledgeragent.types import Reply, ToolCall

RESULT = Path(__file__).parent / "results" / "speed.json"
LARGE = 10_000
PROCESSES = 5
"""Hashes of text differ from one process to the next, and with them what a look into a dict costs."""


def microseconds(work: Callable[[], object], number: int, repeats: int) -> float:
    """The least time one call of `work` took, averaged within a repeat."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(number):
            work()
        best = min(best, (time.perf_counter() - start) / number)
    return best * 1e6


def together(
    works: Mapping[str, Callable[[], object]], number: int = 20, repeats: int = 1_500
) -> dict[str, float]:
    """The least time of each, taken in turns, so that a slow moment of the machine hits them all."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(repeats):
        for name, work in works.items():
            best[name] = min(best[name], microseconds(work, number, repeats=1))
    return best


def first_decision(domain: Domain, call: ToolCall, ledgers: int = 20) -> float:
    """The least time of a decision on records that no rule has read before."""
    gate = Gate(domain=domain)
    best = float("inf")
    for _ in range(30):
        fresh = iter([fixture.observed(domain, 1).ledger for _ in range(ledgers)])
        work = functools.partial(_judged, gate, call, fresh)
        best = min(best, microseconds(work, ledgers, repeats=1))
    return best


def _judged(gate: Gate, call: ToolCall, ledgers: Iterator[Ledger]) -> object:
    verdict = gate.judge(call, next(ledgers))
    return verdict.feedback, verdict.evidence


def decisions() -> dict[str, float]:
    """A full decision on a return, by outcome and by ledger size, beside parsing its order."""
    domain = load_domain("retail")
    gate = Gate(domain=domain)
    text = json.dumps(fixture.order())
    allowed, rejected = fixture.return_call(fixture.CARD), fixture.return_call("paypal_9")
    small, large = (fixture.observed(domain, n).ledger for n in (0, LARGE))
    assert gate.judge(allowed, small).allowed and not gate.judge(rejected, small).allowed

    def explained(ledger: Ledger) -> object:
        verdict = gate.judge(rejected, ledger)
        return verdict.feedback, verdict.evidence

    timed = together(
        {
            "json_loads_us": lambda: json.loads(text),
            "decision_allowed_us": lambda: gate.judge(allowed, small),
            "decision_rejected_us": lambda: explained(small),
            f"decision_allowed_{LARGE}_records_us": lambda: gate.judge(allowed, large),
            f"decision_rejected_{LARGE}_records_us": lambda: explained(large),
        }
    )
    return {
        "order_bytes": len(text),
        **timed,
        "first_decision_allowed_us": first_decision(domain, allowed),
        "first_decision_rejected_us": first_decision(domain, rejected),
        "predicates": len(domain.guard(allowed.name).predicates),  # type: ignore[union-attr]
    }


def plans() -> dict[str, float]:
    """A reply of four returns on four orders, all allowed, beside a reply of one of them.

    Both go through `Gate.filter`, as a host asks; `judge_us` is `Gate.judge` of the one call.
    """
    domain = load_domain("retail")
    gate = Gate(domain=domain)
    ledger = fixture.observed(domain, 3).ledger
    orders = (fixture.ORDER_ID, *(f"#X{n:07}" for n in range(3)))
    first = fixture.return_call(fixture.CARD)
    calls = [replace(first, id=o, arguments={**first.arguments, "order_id": o}) for o in orders]
    reply, one = Reply(calls=tuple(calls)), Reply(calls=(first,))
    assert len(gate.filter(reply, ledger).execute) == len(calls)
    return together(
        {
            "judge_us": lambda: gate.judge(first, ledger),
            "reply_of_one_us": lambda: gate.filter(one, ledger),
            "reply_of_four_us": lambda: gate.filter(reply, ledger),
        }
    )


def absorbing() -> dict[str, float]:
    """Absorbing a return of the order, on a small and on a large ledger."""
    domain = load_domain("retail")
    text = json.dumps(fixture.order())
    call = ToolCall(name="get_order_details", arguments={"order_id": fixture.ORDER_ID}, id="1")
    returned = ToolReturn(call_id="1", content=text)
    small, large = (fixture.observed(domain, n).ledger for n in (0, LARGE))
    return together(
        {
            "json_loads_us": lambda: json.loads(text),
            "absorb_us": lambda: absorb(small, call, returned, domain),
            f"absorb_{LARGE}_records_us": lambda: absorb(large, call, returned, domain),
        }
    )


def rendering(records: int = 1_000) -> dict[str, float]:
    """The first render of a ledger, and a render after one record of it was read again."""
    domain = load_domain("retail")
    session = Session(domain)
    session.state = fixture.observed(domain, records)
    start = time.perf_counter()
    render(session.ledger)
    first = (time.perf_counter() - start) * 1e6
    fresh = 0
    after = []
    for n in range(20):
        call = ToolCall(name="get_order_details", arguments={"order_id": f"#X{n:07}"}, id="1")
        session.filter(Reply(calls=(call,)))
        changed = {**fixture.order(f"#X{n:07}"), "status": "processed"}
        session.observe(ToolReturn(call_id="1", content=json.dumps(changed)))
        fresh += sum(not entry._shown for entry in session.ledger)
        start = time.perf_counter()
        render(session.ledger)
        after.append((time.perf_counter() - start) * 1e6)
    return {
        "records": records,
        "first_render_us": first,
        "render_after_one_change_us": min(after),
        "records_serialised_per_change": fresh / 20,
    }


def replaying() -> dict[str, float]:
    """Recorded tool calls judged a second on one core, reading and parsing included."""
    folder = os.environ.get("LEDGERAGENT_DATA_DIR")
    if folder is None:
        return {}
    from ledgeragent.offline.replay import replay

    files = sorted(Path(folder, "trajectories").glob("tau2_retail__*.jsonl.gz"))
    seconds = float("inf")
    for _ in range(5):
        start = time.process_time()
        result = replay([str(f) for f in files], domain="retail", nonstandard=True)
        seconds = min(seconds, time.process_time() - start)
    return {"calls": result.calls, "seconds": seconds, "calls_per_second": result.calls / seconds}


SUITES: Mapping[str, Callable[[], dict[str, float]]] = {
    "decision": decisions,
    "plan": plans,
    "absorb": absorbing,
    "render": rendering,
    "replay": replaying,
}


def main() -> int:
    """Runs every suite, prints the medians and writes them to the results folder."""
    if sys.argv[1:2] == ["--suite"]:
        json.dump(SUITES[sys.argv[2]](), sys.stdout)
        return 0
    runs = [{name: alone(name) for name in SUITES} for _ in range(PROCESSES)]
    report = {
        "command": "make bench",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processes": PROCESSES,
        "figures": {name: medians([run[name] for run in runs]) for name in SUITES},
        "ratios": medians([ratios(run) for run in runs]),
    }
    RESULT.write_text(json.dumps(report, indent=1) + "\n")
    json.dump(report, sys.stdout, indent=1)
    print()
    return 0


def alone(suite: str) -> dict[str, float]:
    """A suite in a process of its own, which holds nothing that another one has left."""
    command = [sys.executable, "-m", "benchmarks.speed", "--suite", suite]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    figures: dict[str, float] = json.loads(text)
    return figures


def medians(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The median of each figure."""
    return {key: round(statistics.median(run[key] for run in runs), 3) for key in runs[0]}


def ratios(figures: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The figures that should hold on any machine."""
    decision, absorbed, rendered = figures["decision"], figures["absorb"], figures["render"]
    loads = decision["json_loads_us"]
    plan = figures["plan"]
    return {
        "decision_allowed_per_json_loads": decision["decision_allowed_us"] / loads,
        "decision_rejected_per_json_loads": decision["decision_rejected_us"] / loads,
        "first_decision_allowed_per_json_loads": decision["first_decision_allowed_us"] / loads,
        "first_decision_rejected_per_json_loads": decision["first_decision_rejected_us"] / loads,
        "decision_large_per_small_ledger": decision[f"decision_allowed_{LARGE}_records_us"]
        / decision["decision_allowed_us"],
        "reply_of_four_per_reply_of_one": plan["reply_of_four_us"] / plan["reply_of_one_us"],
        "absorb_per_json_loads": absorbed["absorb_us"] / absorbed["json_loads_us"],
        "render_after_one_change_per_first_render": rendered["render_after_one_change_us"]
        / rendered["first_render_us"],
    }


if __name__ == "__main__":
    sys.exit(main())
