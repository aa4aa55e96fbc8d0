"""Regenerates what the docs quote: `python -m tools.generate`, or `--check` to only compare.

A block between `<!-- generated: NAME -->` and `<!-- end generated -->` belongs to the generator NAME.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ledgeragent.cli import coverage
from ledgeragent.packs import PACKS
from tools import blocks, cli_reference

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(
    r"(<!-- generated: (?P<name>[\w-]+) -->\n).*?(<!-- end generated -->)", re.DOTALL
)

BLOCKS: dict[str, Callable[[], str]] = {
    "demo": blocks.demo,
    "replay-rewards": blocks.replay_rewards,
    "replay-requests": blocks.replay_requests,
    "replay-labels": blocks.replay_labels,
    "cases": blocks.cases,
    "transfers": blocks.transfers,
    "cost": blocks.cost,
    "gateway": blocks.gateway,
    "conversations": blocks.conversations,
    "helpers": blocks.helpers,
    "probe-tiny": blocks.probe_tiny,
    "speed": blocks.speed,
    "rules": blocks.rules,
    "gold": blocks.gold,
    "gold-short": blocks.gold_short,
    "gold-rejections": blocks.gold_rejections,
}

FILES: dict[str, Callable[[], str]] = {
    "docs/cli.md": cli_reference.text,
    **{f"docs/coverage/{name}.md": partial(coverage.markdown, name) for name in PACKS},
}


def filled(text: str) -> str:
    """The text with every generated block as it should be now."""
    return _BLOCK.sub(lambda m: f"{m[1]}{BLOCKS[m['name']]()}{m[3]}", text)


def wanted() -> dict[Path, str]:
    """Every file that holds generated text, with the content it should have."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = {page: filled(page.read_text()) for page in pages if _BLOCK.search(page.read_text())}
    made = {ROOT / name: make() for name, make in FILES.items() if _comparable(name)}
    return found | made


def _comparable(name: str) -> bool:
    """False for the command line's help under another Python than the one that wrote it."""
    return name != "docs/cli.md" or sys.version_info[:2] == (3, 11)


def main() -> int:
    """Writes what is out of date, or with --check lists it and returns 1."""
    stale = [
        (file, text)
        for file, text in wanted().items()
        if not file.exists() or file.read_text() != text
    ]
    for file, text in stale:
        print(
            ("out of date: " if "--check" in sys.argv else "wrote ") + str(file.relative_to(ROOT))
        )
        if "--check" not in sys.argv:
            file.write_text(text)
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
