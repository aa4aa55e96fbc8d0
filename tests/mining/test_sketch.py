"""Sketches: shares of common values, whatever their number."""

from __future__ import annotations

from ledgeragent.mining.sketch import Sketch


def sketch_of(numbers: range) -> Sketch:
    sketch = Sketch()
    for number in numbers:
        sketch.add(f"id-{number}")
    return sketch


def test_small_places_are_compared_exactly() -> None:
    assert sketch_of(range(10)).within(sketch_of(range(5, 40))) == (5, 10)


def test_large_places_are_compared_by_a_fair_sample() -> None:
    common, compared = sketch_of(range(8000)).within(sketch_of(range(4000, 20000)))
    assert compared > 100
    assert 0.35 < common / compared < 0.65
    assert len(sketch_of(range(8000))) <= 1024


def test_merging_is_like_adding() -> None:
    one, other = sketch_of(range(3000)), sketch_of(range(3000, 6000))
    one.merge(other)
    common, compared = sketch_of(range(6000)).within(one)
    assert common == compared > 100
