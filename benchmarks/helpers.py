"""What IRMA's and FAMA's helpers add to the prompts of recorded runs: `python -m benchmarks.helpers`.

Makes the prompts of recorded retail and airline runs again, and those that the helpers would have been
asked with. What helpers answer is not known: `ANSWER` tokens are assumed for each. Needs the extra
`tokens` and LEDGERAGENT_DATA_DIR.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

from ledgeragent.bench.arms.helpers import Helper, HelperView, ToolText
from ledgeragent.bench.arms.recipes import Recipe, fama, irma
from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.bench.tokens.cost import Prefixes, parts
from ledgeragent.bench.tokens.prompt_cost import text_of
from ledgeragent.bench.tokens.tokens import counter
from ledgeragent.offline.sources import pieces
from ledgeragent.offline.traces import Trace, traces_of
from ledgeragent.types import Message, Reply, ToolReturn, UserMessage, canonical

RESULT = Path(__file__).parent / "results" / "helpers.json"
ANSWER = 60
DOMAINS = ("airline", "retail")
FRAME = 4


def recipes(domain: str) -> dict[str, Recipe]:
    """The recipes to compare, by what they are called in the result."""
    return {
        "irma, user turn": irma(),
        "irma, user turn, memory by a model": irma({"memory": "model"}),
        "irma, every step": irma({"when": "every_step"}),
        "irma, every step, memory by a model": irma({"when": "every_step", "memory": "model"}),
        "fama, memory and constraints": fama(domain),
    }


def runs(folder: Path, domain: str) -> Iterator[Trace]:
    """The recorded tau2 runs of a domain whose agent had the standard tools."""
    for file in sorted((folder / "trajectories").glob(f"tau2_{domain}__*.jsonl.gz")):
        for piece in pieces(str(file)):
            for part in parts(piece):
                for trace in traces_of(part):
                    if isinstance(trace, Trace) and not trace.nonstandard:
                        yield trace


class Tally:
    """Counts one run's prompts, the agent's own and those of a recipe's helpers."""

    def __init__(self, recipe: Recipe, texts: Sequence[str], count: Callable[[str], int]) -> None:
        self._recipe, self._count = recipe, count
        self._prefix = sum(map(count, texts))
        whole = recipe.when == "every_step"
        self._view = HelperView(policy=texts[1], tools=tuple(_tools(texts[0])), whole=whole)
        self._history = self._block = 0
        self.plain = self.added = 0
        self._heard = False

    def saw(self, message: Message) -> None:
        """Counts a reply's prompt; takes a message in."""
        size = self._count(text_of(message)) + FRAME
        if isinstance(message, Reply):
            if self._view.requests:
                self.plain += self._prefix + self._history + size
                self._help()
            self._view.calls += [f"{c.name} {canonical(dict(c.arguments))}" for c in message.calls]
        elif isinstance(message, UserMessage):
            self._view.requests.append(message.text)
            self._heard = True
        elif isinstance(message, ToolReturn):
            self._view.latest_return = text_of(message)
        self._history += size

    def _help(self) -> None:
        """Helpers run if it is their time; what they last said is in every prompt."""
        if self._heard or self._recipe.when == "every_step":
            self._heard, self._block = False, 0
            for helper in self._recipe.helpers:
                self._block += self._said(helper)
        self.added += self._block

    def _said(self, helper: Helper) -> int:
        """How long a helper's block is; its call is counted."""
        asked = []

        def ask(instructions: str, question: str) -> str:
            asked.append(self._count(instructions) + self._count(question) + ANSWER)
            return ""

        text = helper.build(self._view, ask)
        self.added += sum(asked)
        return ANSWER if asked else self._count(text)


def _tools(text: str) -> Iterator[ToolText]:
    for listed in json.loads(text):
        function = listed.get("function", listed)
        yield ToolText(
            name=function["name"],
            description=function.get("description", ""),
            parameters=tuple(function.get("parameters", {}).get("properties", {})),
        )


def growth(
    recipe: Recipe, traces: Iterable[Trace], texts: Sequence[str], count: Callable[[str], int]
) -> float:
    """The mean over runs of what helpers add to the agent's own tokens."""
    shares = []
    for trace in traces:
        tally = Tally(recipe, texts, count)
        for message in trace.messages:
            tally.saw(message)
        if tally.plain:
            shares.append(tally.added / tally.plain)
    return fmean(shares)


def main() -> None:
    """Counts and writes the result file."""
    named = os.environ.get(DATA_DIR)
    if not named:
        sys.exit(f"set {DATA_DIR}")
    tokens, prefixes = counter(), Prefixes(Path(named))
    found = {}
    for domain in DOMAINS:
        traces, texts = list(runs(Path(named), domain)), prefixes.of(domain, None)
        grown = {
            name: round(growth(recipe, traces, texts, tokens.count), 4)
            for name, recipe in recipes(domain).items()
        }
        found[domain] = {"runs": len(traces), "growth": grown}
    told = {"tokens": tokens.name, "assumed_answer": ANSWER, "domains": found}
    RESULT.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
