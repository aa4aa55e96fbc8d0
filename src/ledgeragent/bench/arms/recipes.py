"""IRMA and FAMA as recipes: which helpers run, when, and what becomes of their words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from ledgeragent.bench.arms.helpers import (
    CONDENSED,
    CONSTRAINTS,
    HELPERS,
    SUGGESTIONS,
    Ask,
    Helper,
    HelperView,
    memory,
)
from ledgeragent.errors import UsageError
from ledgeragent.types import Json

When = Literal["user_turn", "every_step"]
AskOf: TypeAlias = Callable[[Helper], Ask]
"""How each helper asks, so that its calls can be counted as its own."""

FACT = (
    "Before you act: find out who the customer is. Ask for what a tool needs and you do not know, one "
    "round of questions at a time, and never guess an id. Look the records up. Compare them with the "
    "rules. Say what you are about to do and get a clear yes. Only then do it."
)
"""IRMA's addition to the agent's instructions: ask first, act later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Which helpers run, when, and what is added to the agent's instructions.

    `rewrites`: their words go into the customer's latest message, else they stand at the prompt's
    tail. `keeps`: earlier messages stay rewritten. `verifier` judges the draft of a reply.
    """

    helpers: tuple[Helper, ...]
    when: When
    rewrites: bool = False
    keeps: bool = False
    instructions: str = ""
    verifier: Helper | None = None


def irma(options: Mapping[str, Json] | None = None) -> Recipe:
    """IRMA: after every message of the customer, memory, constraints and tool suggestions.

    Options: `when`; `memory`, which is `store` (no call) or `model`; `last`, how many messages a store
    keeps; `keeps`.
    """
    settings = {
        "when": "user_turn",
        "memory": "store",
        "last": None,
        "keeps": False,
        **(options or {}),
    }
    unknown = settings.keys() - {"when", "memory", "last", "keeps"}
    if (
        unknown
        or settings["when"] not in get_args(When)
        or settings["memory"] not in ("store", "model")
    ):
        raise UsageError(f"not options of IRMA: {dict(options or {})}")
    memory_helper = CONDENSED if settings["memory"] == "model" else memory(settings["last"])
    return Recipe(
        helpers=(memory_helper, CONSTRAINTS, SUGGESTIONS),
        when=settings["when"],
        rewrites=True,
        keeps=bool(settings["keeps"]),
        instructions=FACT,
    )


FAMA_LAST = {"airline": 2, "retail": 6}
"""How many messages FAMA's memory keeps, per domain, as its authors found best."""

FAMA_USUAL = ("memory", "constraints")
"""The choice of FAMA's first stage for most of its authors' models."""


def fama(domain: str, helpers: Sequence[str] = FAMA_USUAL) -> Recipe:
    """FAMA's last stage, before every decision, with the helpers that its first stage chose."""
    unknown = [name for name in helpers if name not in HELPERS]
    if unknown:
        raise UsageError(f"FAMA has no helper {', '.join(unknown)}; it has {', '.join(HELPERS)}")
    pool = {**HELPERS, "memory": memory(FAMA_LAST.get(domain))}
    chosen = [pool[name] for name in HELPERS if name in helpers]
    return Recipe(
        helpers=tuple(helper for helper in chosen if helper.name != "verifier"),
        when="every_step",
        verifier=HELPERS["verifier"] if "verifier" in helpers else None,
    )


def blocks(recipe: Recipe, view: HelperView, ask_of: AskOf) -> str:
    """The texts of the recipe's helpers as they are now, each under its heading."""
    texts = ((helper, helper.build(view, ask_of(helper))) for helper in recipe.helpers)
    return "\n\n".join(f"{helper.heading}:\n{text}" for helper, text in texts if text)


def objections(recipe: Recipe, view: HelperView, ask_of: AskOf) -> str:
    """The verifier's objection to the pending decision, with that decision; "" for none."""
    if recipe.verifier is None:
        return ""
    text = recipe.verifier.build(view, ask_of(recipe.verifier))
    return f"{recipe.verifier.heading} ({view.pending}):\n{text}" if text else ""


def compose(helped: str, words: str) -> str:
    """The customer's message as the agent reads it: what the helpers say, then the words, last."""
    return f"{helped}\n\nThe customer's message:\n{words}" if helped else words
