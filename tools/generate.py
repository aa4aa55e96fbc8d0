"""Regenerates what the docs quote: `python -m tools.generate`, or `--check` to only compare.

A block between `<!-- generated: NAME -->` and `<!-- end generated -->` belongs to the generator NAME, and
what a console session prints to the commands in it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial

from ledgeragent.cli import coverage
from ledgeragent.packs import PACKS
from tools import (
    cli_reference,
    clients,
    console,
    costs,
    damage,
    experiments,
    forms,
    front,
    gate_checks,
    growing,
    hostile,
    mined,
    oracle,
    published,
    recorded,
    soundness,
    survivors,
)
from tools.markdown import ROOT

_BLOCK = re.compile(
    r"(<!-- generated: (?P<name>[\w-]+) -->\n).*?(<!-- end generated -->)", re.DOTALL
)

_SOPBENCH = ("bank", "dmv", "healthcare", "library", "university")

BLOCKS: dict[str, Callable[[], str]] = {
    "arms": experiments.arms,
    "bench-estimate": experiments.bench_estimate,
    "cases": recorded.cases,
    "cel-speed": costs.cel_speed,
    "conversations": costs.conversations,
    "health": growing.health,
    "streams": costs.streams,
    "cost": costs.cost,
    "coverage": costs.coverage,
    "damages": damage.damages,
    "demo": front.demo,
    "demo-short": front.demo_short,
    "frameworks": clients.frameworks,
    "file-limits": hostile.file_limits,
    "drift": mined.drift,
    "forms": forms.forms,
    "fuzz": hostile.fuzz,
    "gateway": costs.gateway,
    "gold": recorded.gold,
    "gold-rejections": recorded.gold_rejections,
    "gold-short": recorded.gold_short,
    "growth": growing.growth,
    "growth-cost": growing.cost,
    "growth-workers": growing.workers,
    "scale": growing.scale,
    "helpers": costs.helpers,
    "mcp-clients": clients.mcp_clients,
    "measured": front.measured,
    "mined-rules": mined.rules,
    "mined-sopbench": mined.sopbench,
    "mined-structure": mined.structure,
    "mutants": survivors.mutants,
    "pack-mutants": survivors.pack_mutants,
    "paper-predicates": experiments.paper_predicates,
    "probe-tiny": costs.probe_tiny,
    "replicas": growing.replicas,
    "published": published.published,
    "replay-labels": recorded.replay_labels,
    "replay-requests": recorded.replay_requests,
    "replay-rewards": recorded.replay_rewards,
    "rules": front.rules,
    "sopbench": oracle.agreement,
    "sopbench-left": oracle.left,
    "sopbench-rules": oracle.rules,
    **{f"sopbench-{name}": partial(oracle.models, name) for name in _SOPBENCH},
    "soundness": soundness.soundness,
    "reading": costs.reading,
    "speed": costs.speed,
    "survivors": survivors.survivors,
    "transfers": recorded.transfers,
}

PAGES: dict[str, Callable[[], str]] = {
    "docs/reference/cli.md": cli_reference.text,
    "docs/reference/gate-checks.md": gate_checks.text,
    **{f"docs/reference/coverage/{name}.md": partial(coverage.markdown, name) for name in PACKS},
}


def filled(text: str, *, play: bool = True) -> str:
    """The text with every generated block, and every console session, as it should be now."""
    text = _BLOCK.sub(lambda block: f"{block[1]}{BLOCKS[block['name']]()}{block[3]}", text)
    return console.played(text) if play and console.is_played(text) else text


def stale_pages() -> dict[str, str]:
    """The pages whose generated text is out of date, by path, with the text they should have."""
    stale: dict[str, str] = {}
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        name = page.relative_to(ROOT).as_posix()
        text = page.read_text(encoding="utf-8")
        if name in PAGES or name == _INDEX:
            continue
        fresh = filled(text, play=name not in _TUTORIALS)
        if fresh != text:
            stale[name] = fresh
    stale |= {name: make() for name, make in PAGES.items() if _differs(name, make)}
    return stale


_INDEX = "docs/index.md"
"""The README as the site's first page; made last, out of the README as it is then."""

_TUTORIALS = ("docs/tutorials/pack-in-an-hour.md", "docs/tutorials/pack-from-traces.md")
"""Pages that work in the folder of an example; each has a test of its own that follows it."""


def _differs(name: str, make: Callable[[], str]) -> bool:
    """False for the command line's help under another Python than the one that wrote it."""
    if name == "docs/reference/cli.md" and sys.version_info[:2] != (3, 11):
        return False
    page = ROOT / name
    return not page.exists() or page.read_text(encoding="utf-8") != make()


def main() -> int:
    """Writes what is out of date, or with --check lists it and returns 1."""
    check = "--check" in sys.argv
    stale = _tended(stale_pages(), check)
    if _differs(_INDEX, front.readme):
        stale += _tended({_INDEX: front.readme()}, check)
    return 1 if stale and check else 0


def _tended(pages: dict[str, str], check: bool) -> int:
    """Writes the pages, or only names them; returns how many they are."""
    for name, text in pages.items():
        print(f"{'out of date:' if check else 'wrote'} {name}")
        if not check:
            (ROOT / name).write_text(text, encoding="utf-8")
    return len(pages)


if __name__ == "__main__":
    sys.exit(main())
