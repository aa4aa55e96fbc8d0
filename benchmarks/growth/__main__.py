"""Measures how cost grows, prints it and writes the result file."""

from __future__ import annotations

import argparse
import json
import sys
import time

import benchmarks.growth as growth
from benchmarks.growth.report import PARTS, RESULT, measured, steep, written
from ledgeragent import load_domain


def main() -> int:
    """Measures, prints, and writes the result; 1 where something grows faster than it may."""
    parser = argparse.ArgumentParser(description=str(growth.__doc__).partition("\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS), help="some of: " + ", ".join(PARTS))
    parser.add_argument("--most-runs", type=int, default=1_000_000)
    args = parser.parse_args()
    names = args.parts.split(",")
    if unknown := set(names) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    load_domain("retail")
    parts = json.loads(RESULT.read_text())["parts"] if RESULT.exists() else {}
    for name in names:
        print(name, flush=True)
        began = time.perf_counter()
        parts[name] = measured(name, args.most_runs)
        written(parts)
        print(f"  ({time.perf_counter() - began:.0f} s)", flush=True)
    print("\n".join(f"too steep: {line}" for line in steep(parts)) or "nothing is too steep")
    return 1 if steep(parts) else 0


if __name__ == "__main__":
    sys.exit(main())
