"""Values for the variables of an expression: every combination, or random ones of the declared types."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import product
from math import prod

from ledgeragent.compiler.cel.programs import Program
from ledgeragent.compiler.cel.tree import Const, walk
from ledgeragent.compiler.cel.variables import Variable
from ledgeragent.compiler.shapes import Choice, Field, ListOf, MapOf, Object, Scalar, Shape
from ledgeragent.types import Json

MOST_COMBINATIONS = 4096


class Worlds:
    """The worlds of some expressions. Parameters keep their values; everything else varies."""

    def __init__(self, tests: Sequence[Program], parameters: Mapping[str, Json]) -> None:
        self._variables = tuple({v.name: v for test in tests for v in test.variables}.values())
        self._fixed = {
            v.name: v.reader(parameters)
            for v in self._variables
            if v.root == "params" and parameters
        }
        nodes = (node for test in tests for node in walk(test.tree))
        constants = [node.value for node in nodes if isinstance(node, Const)]
        self._texts, self._numbers = _pools([*constants, *self._fixed.values()])
        self._moments = [*_moments(self._texts)]
        self._random = random.Random(0)

    @property
    def _varying(self) -> list[Variable]:
        return [v for v in self._variables if v.name not in self._fixed]

    @property
    def finite(self) -> bool:
        """True if every combination of values can be tried."""
        counts = [len(values) for v in self._varying if (values := _all_of(v.shape))]
        complete = len(counts) == len(self._varying)
        return complete and prod(counts) <= MOST_COMBINATIONS

    def every(self) -> Iterator[dict[str, Json]]:
        """Every combination of values."""
        names = [v.name for v in self._varying]
        for values in product(*(_all_of(v.shape) for v in self._varying)):
            yield {**self._fixed, **dict(zip(names, values, strict=True))}

    def some(self, count: int) -> Iterator[dict[str, Json]]:
        """This many random combinations, the same ones every time."""
        for _ in range(count):
            drawn = {v.name: self._draw(v.shape) for v in self._varying}
            yield {**self._fixed, **drawn}

    def _draw(self, shape: Shape) -> Json:
        choose = self._random.choice
        match shape:
            case Scalar("bool"):
                return choose((True, False))
            case Scalar("timestamp"):
                return choose(self._moments)
            case Scalar("int"):
                return int(choose(self._numbers))
            case Scalar("float"):
                return float(choose(self._numbers))
            case Choice(values):
                return choose(values)
            case ListOf(item):
                return [self._draw(item) for _ in range(choose((0, 1, 2, 3)))]
            case MapOf(item):
                return {choose(self._texts): self._draw(item) for _ in range(choose((0, 1, 2)))}
            case Object(_, fields):
                return {n: self._draw(f.shape) for n, f in fields.items() if self._present(f)}
            case _:
                return choose(self._texts)

    def _present(self, field: Field) -> bool:
        return field.certain or self._random.random() < 0.6


def _all_of(shape: Shape) -> tuple[Json, ...]:
    """Every value of a shape, () where they cannot be listed."""
    match shape:
        case Scalar("bool"):
            return (True, False)
        case Choice(values):
            return values
        case _:
            return ()


def _pools(constants: list[Json]) -> tuple[list[str], list[float]]:
    """Texts and numbers worth trying: the constants, their neighbours, and a few that are neither."""
    texts, numbers = ["a", "b"], [-1.0, 0.0, 1.0, 2.0, 7.0, 100.0]
    for value in _flat(constants):
        if isinstance(value, str):
            texts += [value, *_days_around(value)]
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers += [value - 1, value - 0.01, value, value + 0.01, value + 1]
    return texts, numbers


def _flat(values: list[Json]) -> Iterator[Json]:
    for value in values:
        if isinstance(value, dict):
            yield from _flat([*value.keys(), *value.values()])
        elif isinstance(value, list):
            yield from _flat(value)
        else:
            yield value


def _moments(texts: list[str]) -> Iterator[datetime]:
    """Times of the days in these texts, and one where there is none."""
    yield datetime(2025, 3, 10, 12, tzinfo=UTC)
    for text in texts:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            continue
        yield moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _days_around(text: str) -> list[str]:
    """Dates near one written in a text: a rule about time turns on them."""
    try:
        day = date.fromisoformat(text[:10])
    except ValueError:
        return []
    return [f"{day + timedelta(days=n)}{text[10:]}" for n in (-400, -30, -8, -1, 1, 8, 30, 400)]
