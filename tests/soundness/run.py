"""The fast driver: many random calls or replies, from a seed. `python -m tests.soundness.run --help`.

`--calls N` judges single calls, `--replies N` plays conversations of replies of one to four calls.
With `--output FOLDER` a run of replies is written down as it goes, and goes on after an interruption;
processes with other seeds or worlds may share the folder. `tests.soundness.record` sums it up.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from ledgeragent import Domain, Gate

from .listing import listing
from .properties import problems
from .record import Record
from .replies_run import ReplyTally, reply_report, run_replies
from .scene import make_scene
from .worlds import WORLDS, domain_of

CALLS_PER_SCENE = 20
REPLIES_PER_SAVE = 500


@dataclass
class Tally:
    """What a run came to: calls judged, verdicts by kind, the first case of each disagreement."""

    calls: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    disagreements: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)


def run(name: str, calls: int, seed: int = 0, domain: Domain | None = None) -> Tally:
    """Judges `calls` random calls of a domain, half of them in fully observed worlds."""
    tally = Tally()
    gate = Gate(domain=domain or domain_of(name))
    for scene_number in range(-(-calls // CALLS_PER_SCENE)):
        rng = Random(f"{name}/{seed}/{scene_number}")
        full = scene_number % 2 == 0
        scene = make_scene(rng, gate.domain, WORLDS[name], full=full)
        for _ in range(min(CALLS_PER_SCENE, calls - tally.calls)):
            call = scene.propose(rng)
            found = problems(rng, gate, scene, call, full=full)
            tally.calls += 1
            truth = scene.world.judge(scene.talk, call)
            tally.broken.update(truth.broken or {"(none)"})
            verdict = gate.judge(call, scene.ledger)
            kind = f"{verdict.decision.name}{' violation' if verdict.violations else ''}"
            tally.verdicts[f"{'full' if full else 'partial'} {call.name} {kind}"] += 1
            for problem in found:
                key = _key(problem)
                tally.disagreements[key] += 1
                if key not in tally.examples:
                    text = listing(gate, scene, call, found)
                    tally.examples[key] = f"scene {scene_number}\n{text}"
    return tally


def _key(problem: str) -> str:
    """A disagreement without the particulars of its case."""
    return problem.rpartition(": ")[2] if problem.startswith("after") else problem.partition(":")[0]


def _report(name: str, tally: Tally, verbose: bool) -> Iterator[str]:
    yield f"{name}: {tally.calls} calls, {sum(tally.disagreements.values())} disagreements"
    if verbose:
        yield from (f"  {count:7} {key}" for key, count in sorted(tally.verdicts.items()))
        yield from (f"  {count:7} {clause}" for clause, count in sorted(tally.broken.items()))
    for key, count in tally.disagreements.most_common():
        yield f"\n{count} x {key}\n{tally.examples[key]}"


def run_recorded(name: str, replies: int, seed: int, folder: Path) -> ReplyTally:
    """Plays until so many replies were judged in all, those of an earlier run with them."""
    record, domain = Record(folder, name, seed), domain_of(name)
    tally = record.load()
    while tally.replies < replies:
        least = min(replies, tally.replies + REPLIES_PER_SAVE)
        tally = run_replies(name, least, seed, domain, tally=tally)
        record.save(tally)
    return tally


def main() -> int:
    """Exit code 1 if gate and judge ever disagree."""
    parser = argparse.ArgumentParser(description="Compares gate and judge on random calls.")
    parser.add_argument("--domain", choices=sorted(WORLDS), action="append")
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--replies", type=int, default=0, help="conversations instead of calls")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="folder to write runs of replies down in")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    clean = True
    for name in options.domain or sorted(WORLDS):
        if options.replies:
            if options.output is None:
                replies = run_replies(name, options.replies, options.seed)
            else:
                replies = run_recorded(name, options.replies, options.seed, options.output)
            lines, wrong = reply_report(name, replies, options.verbose), replies.disagreements
        else:
            calls = run(name, options.calls, options.seed)
            lines, wrong = _report(name, calls, options.verbose), calls.disagreements
        clean = clean and not wrong
        print("\n".join(lines), flush=True)
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
