"""The cost of a run: tokens, generations and helpers, as its messages tell of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ledgeragent.bench.results.fields import count_of, number_of, object_of
from ledgeragent.types import Json


class HelperCost(NamedTuple):
    """The calls, tokens and seconds that one helper took in a run."""

    calls: int = 0
    prompt: int = 0
    completion: int = 0
    seconds: float = 0.0

    def plus(self, entry: Mapping[str, Json]) -> HelperCost:
        """This and what one message tells of the helper."""
        return HelperCost(
            calls=self.calls + count_of(entry.get("calls"), "calls"),
            prompt=self.prompt + count_of(entry.get("prompt_tokens"), "prompt_tokens"),
            completion=self.completion
            + count_of(entry.get("completion_tokens"), "completion_tokens"),
            seconds=self.seconds + number_of(entry.get("seconds"), "seconds"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The cost of a run: tokens, generations of the agent, calls of helpers. 0 where not recorded.

    The tokens of helpers, told by helper in `by_helper`, are part of all tokens.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    generations: int = 0
    helpers: int = 0
    by_helper: Mapping[str, HelperCost] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt + self.completion

    @property
    def calls(self) -> int:
        """All calls of a model for the agent's side."""
        return self.generations + self.helpers

    @property
    def helper_tokens(self) -> int:
        """The tokens of helpers alone."""
        return sum(cost.prompt + cost.completion for cost in self.by_helper.values())


def _told(message: Json) -> Mapping[str, Json]:
    """What an adapter of this package told of a message."""
    raw = object_of(message.get("raw_data"), "raw_data")
    return object_of(raw.get("ledgeragent"), "ledgeragent")


def spent_on(messages: Iterable[Json]) -> Spent:
    """What the messages of a run say that they cost."""
    prompt = completion = cached = generations = helpers = 0
    by_helper: dict[str, HelperCost] = defaultdict(HelperCost)
    for message in messages:
        if message.get("role") != "assistant" or "usage" not in message:
            continue
        usage = object_of(message.get("usage"), "usage")
        trace = _told(message)
        if not usage and not trace and not message.get("raw_data"):
            continue
        prompt += count_of(usage.get("prompt_tokens"), "prompt_tokens")
        completion += count_of(usage.get("completion_tokens"), "completion_tokens")
        details = object_of(usage.get("prompt_tokens_details"), "prompt_tokens_details")
        cached += count_of(
            usage.get("cached_tokens") or details.get("cached_tokens"), "cached_tokens"
        )
        generations += count_of(trace.get("generations") or 1, "generations")
        helpers += count_of(trace.get("helper_calls"), "helper_calls")
        for name, cost in object_of(trace.get("helpers"), "helpers").items():
            by_helper[name] = by_helper[name].plus(object_of(cost, name))
    return Spent(
        prompt=prompt,
        completion=completion,
        cached=cached,
        generations=generations,
        helpers=helpers,
        by_helper=dict(by_helper),
    )
