"""The cost of the ledger in prompt tokens, on recorded runs: each way to show it against none at all.

A run's prompts are made again, one for each reply of the agent. A provider's cache is modelled as the
longest common beginning with the prompt before it; tools and policy come first and are the same in
every run, so they count as cached from the start.
"""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ledgeragent.bench.tokens.tokens import Counter
from ledgeragent.domain import Domain
from ledgeragent.offline.traces import Trace
from ledgeragent.session.presenter import MODES, Presenter, RenderMode
from ledgeragent.state import State
from ledgeragent.types import Json, Message, Reply, ToolReturn, UserMessage, canonical

PLAIN = "fc"
TAIL, SYSTEM = "tail", "system prompt"
CACHED_PRICE = 0.1
FRAME = 4
"""Tokens that a chat format spends on each message besides its text."""


class PromptArm(NamedTuple):
    """A way to show the ledger: a mode and where the block stands; for `fc`, nowhere."""

    mode: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.mode}, {self.place}" if self.place else self.mode


ARMS = (PromptArm(PLAIN), *(PromptArm(mode, place) for mode in MODES for place in (TAIL, SYSTEM)))


@dataclass(slots=True)
class Tokens:
    """Prompt tokens of some runs."""

    total: int = 0
    cached: int = 0

    @property
    def uncached(self) -> int:
        """Those a provider has to read anew."""
        return self.total - self.cached

    @property
    def weighted(self) -> float:
        """In the price of uncached ones."""
        return self.uncached + CACHED_PRICE * self.cached

    def add(self, other: Tokens) -> None:
        """Counts some more runs in."""
        self.total += other.total
        self.cached += other.cached


@dataclass(slots=True)
class Cost:
    """The prompt tokens of `runs` by arm, and how many prompts they are; `skipped` says why not."""

    runs: int = 0
    prompts: int = 0
    arms: dict[PromptArm, Tokens] = field(default_factory=lambda: {arm: Tokens() for arm in ARMS})
    skipped: Counts[str] = field(default_factory=Counts)

    def count(self, trace: Trace, domain: Domain, prefix: int, counter: Counter) -> None:
        """Counts one run in; `prefix` are the tokens of tools and policy."""
        ledgers = _ledgers(trace.messages, domain)
        self.runs += 1
        self.prompts += sum(is_generated for _, _, is_generated in ledgers)
        for mode in (None, *MODES):
            for arm, tokens in _mode_cost(mode, ledgers, prefix, counter).items():
                self.arms[arm].add(tokens)

    def as_json(self) -> Mapping[str, Json]:
        """Tokens per run and their ratios to `fc`."""
        plain = self.arms[PromptArm(PLAIN)]
        return {
            "runs": self.runs,
            "prompts": self.prompts,
            "skipped": dict(sorted(self.skipped.items())),
            "arms": {
                str(arm): {
                    "total": round(tokens.total / max(1, self.runs), 1),
                    "uncached": round(tokens.uncached / max(1, self.runs), 1),
                    "price_weighted": round(tokens.weighted / max(1, self.runs), 1),
                    "total_ratio": _ratio(tokens.total, plain.total),
                    "uncached_ratio": _ratio(tokens.uncached, plain.uncached),
                    "price_weighted_ratio": _ratio(tokens.weighted, plain.weighted),
                }
                for arm, tokens in self.arms.items()
            },
        }


def _ratio(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None


def text_of(message: Message) -> str:
    """The text that a message puts into a prompt."""
    match message:
        case UserMessage():
            return message.text
        case ToolReturn():
            content = message.content
            return content if isinstance(content, str) else canonical(content)
        case Reply():
            calls = (f"{c.name} {c.malformed or canonical(c.arguments)}" for c in message.calls)
            return "\n".join([message.text, *calls] if message.text else calls)


def _ledgers(messages: Iterable[Message], domain: Domain) -> list[tuple[Message, State, bool]]:
    """Each message with the state after it, and whether a model made it for a prompt.

    What an agent says before anybody has spoken is a fixed greeting.
    """
    state, heard = State(), False
    states: list[tuple[Message, State, bool]] = []
    for message in messages:
        state = state.observe(message, domain)
        heard = heard or isinstance(message, UserMessage)
        states.append((message, state, heard and isinstance(message, Reply)))
    return states


def _mode_cost(
    mode: RenderMode | None,
    steps: Iterable[tuple[Message, State, bool]],
    prefix: int,
    counter: Counter,
) -> dict[PromptArm, Tokens]:
    prompts = list(_prompts(mode, steps, counter))
    if mode is None:
        return {PromptArm(PLAIN): _sum(prompts, TAIL, prefix, counter)}
    return {
        PromptArm(mode, place): _sum(prompts, place, prefix, counter) for place in (TAIL, SYSTEM)
    }


def _prompts(
    mode: RenderMode | None, steps: Iterable[tuple[Message, State, bool]], counter: Counter
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """For each generation: the tokens of the history, and the lines of the block.

    Without a mode the history is shown as it is, and there is no block.
    """
    presenter = Presenter(mode=mode or "full")
    history, ledger = 0, State().ledger
    for message, after, is_generated in steps:
        if is_generated:
            yield history, tuple(presenter.tail(ledger).splitlines()) if mode else ()
        presenter.saw(message, after)
        history += counter.count(text_of(presenter.messages[-1])) + FRAME
        ledger = after.ledger


def _sum(
    prompts: Iterable[tuple[int, tuple[str, ...]]], place: str, prefix: int, counter: Counter
) -> Tokens:
    tokens = Tokens()
    reusable = 0
    before: tuple[str, ...] = ()
    for history, block in prompts:
        size = _size(block, counter)
        tokens.total += prefix + history + size
        if place == TAIL:
            tokens.cached += prefix + reusable
        elif block == before:
            tokens.cached += prefix + size + reusable
        else:
            tokens.cached += prefix + _size(_common(before, block), counter)
        reusable, before = history, block
    return tokens


def _size(lines: tuple[str, ...], counter: Counter) -> int:
    """A line end takes part in the token before it, or is one of its own: counted with its line."""
    return sum(counter.count(f"{line}\n") for line in lines) + (FRAME if lines else 0)


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += 1
    return one[:length]
