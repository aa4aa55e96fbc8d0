"""A process that keeps much is never held up for long by a look for circles of garbage."""

from __future__ import annotations

import json
import subprocess
import sys

KEEPING = """
import gc, json
from ledgeragent.engines.collection import collected_seldom

collected_seldom()
looks = {0: [], 1: [], 2: []}

def note(phase, info):
    if phase == "start":
        younger = range(info["generation"] + 1)
        looks[info["generation"]].append(sum(len(gc.get_objects(generation=g)) for g in younger))

gc.callbacks.append(note)
kept = [[number] for number in range(400_000)]
print(json.dumps(looks))
"""


def test_a_look_goes_through_little_of_what_is_kept() -> None:
    run = subprocess.run(
        [sys.executable, "-c", KEEPING], capture_output=True, text=True, check=True
    )
    looks = json.loads(run.stdout)
    assert len(looks["0"]) > 40 and len(looks["1"]) > 5
    assert max(looks["1"]) < 40_000
    assert not looks["2"]
