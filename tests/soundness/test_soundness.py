"""Gate and judge on random worlds: agreement where everything was read, no guesses where it was not.

`LEDGERAGENT_SOUNDNESS_CALLS=100000` judges that many calls per domain; without it a few thousand.
"""

from __future__ import annotations

import os
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ledgeragent import Gate, load_domain

from .listing import listing
from .properties import problems
from .run import run
from .scene import make_scene
from .worlds import WORLDS

CALLS = int(os.environ.get("LEDGERAGENT_SOUNDNESS_CALLS", "4000"))

every_domain = pytest.mark.parametrize("name", sorted(WORLDS))


@pytest.mark.parametrize("full", [True, False], ids=["observed", "partial"])
@every_domain
def test_a_disagreement_shrinks_to_a_readable_case(name: str, full: bool) -> None:
    gate = Gate(domain=load_domain(name))

    @settings(
        max_examples=100,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=False))
    def agree(rng: Random) -> None:
        scene = make_scene(rng, gate.domain, WORLDS[name], full=full)
        call = scene.world.propose(rng)
        found = problems(rng, gate, scene, call, full=full)
        assert not found, listing(gate, scene, call, found)

    agree()


@every_domain
def test_many_calls_from_a_seed(name: str) -> None:
    tally = run(name, CALLS)
    assert tally.calls == CALLS
    assert not tally.disagreements, "\n\n".join(tally.examples.values())
    assert tally.broken["(none)"] > CALLS / 5, "too few sound calls to say anything"
