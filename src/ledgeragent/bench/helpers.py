"""Helpers of IRMA and FAMA: calls of the same model that write into the agent's prompt before it acts.

After arXiv 2508.20931 (IRMA) and 2604.25135 (FAMA) as they describe their algorithms; the wording of
every prompt is ours, since neither paper's was available.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

When = Literal["user_turn", "every_step"]
Ask: TypeAlias = Callable[[str, str], str]
"""`ask(instructions, question)`: one call of the model, without tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as helpers see it."""

    name: str
    description: str
    parameters: tuple[str, ...] = ()

    def __str__(self) -> str:
        first = self.description.strip().partition("\n")[0]
        return f"{self.name}({', '.join(self.parameters)}): {first}"


@dataclass(slots=True, kw_only=True)
class View:
    """What helpers may read: the policy, the tools, what was said and returned so far."""

    policy: str
    tools: tuple[Tool, ...]
    requests: list[str] = field(default_factory=list)
    latest_return: str = ""

    def numbered(self, last: int | None = None) -> str:
        """The customer's messages, oldest first, perhaps only the last few."""
        shown = self.requests[-last:] if last else self.requests
        return "\n".join(f"{n}. {text}" for n, text in enumerate(shown, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Helper:
    """One helper. `build` gives its block, "" for none; `needs_model` if that takes a model call."""

    name: str
    heading: str
    build: Callable[[View, Ask], str]
    needs_model: bool = True


_NONE = "none"
_LIST_LINES = 8


def _lines(text: str, most: int = _LIST_LINES) -> list[str]:
    found = [line.strip() for line in text.splitlines() if line.strip()]
    return [] if " ".join(found).strip(" .").lower() == _NONE else found[:most]


def memory(last: int | None = None) -> Helper:
    """Repeats the customer's last messages (all of them unless told), so that none is forgotten."""

    def build(view: View, ask: Ask) -> str:
        return view.numbered(last)

    return Helper(name="memory", heading="Requests so far", build=build, needs_model=False)


def _constraints(view: View, ask: Ask) -> str:
    instructions = (
        "You read a company's policy for a service agent; you are not that agent. Write the checklist "
        f"of conditions, at most {_LIST_LINES} short lines, that must hold before what the customer "
        "asks for may be done. Mention ids and quantities only if the customer gave them. Give no "
        f"plan and no answer to the customer. If no rule applies, write {_NONE}."
    )
    question = f"Policy:\n{view.policy}\n\nThe customer's requests:\n{view.numbered()}"
    return "\n".join(_lines(ask(instructions, question)))


CONSTRAINTS = Helper(name="constraints", heading="Rules to respect", build=_constraints)
"""The rules of the policy that matter for what was asked (IRMA's constraints, FAMA's DCE)."""


def _suggestions(view: View, ask: Ask) -> str:
    instructions = (
        "You pick tools for a service agent. List the tools that the requests call for, in the order "
        "they would be used, at most five lines of the form `tool - why`, without arguments; name "
        f"what looks a record up before what changes it. If no tool is needed, write {_NONE}."
    )
    known = "\n".join(map(str, view.tools))
    question = f"Tools:\n{known}\n\nThe customer's requests:\n{view.numbered()}"
    names = {tool.name for tool in view.tools}
    listed = _lines(ask(instructions, question), most=5)
    # A helper that invents a tool would send the agent after it.
    return "\n".join(line for line in listed if _first_word(line) in names)


def _first_word(line: str) -> str:
    return line.lstrip("-*0123456789. `").split(" ")[0].split("(")[0].strip("`:,-")


SUGGESTIONS = Helper(name="tools", heading="Tools that may help", build=_suggestions)
"""Which tools come next, and why (IRMA's tool suggestion, FAMA's TSA)."""


def _reformulated(view: View, ask: Ask) -> str:
    if not view.latest_return:
        return ""
    instructions = (
        "You make a tool's output easy to read for a service agent: list its facts, one a line, with "
        "every id, amount and status exactly as given. Leave nothing out and conclude nothing."
    )
    return ask(instructions, view.latest_return).strip()


REFORMULATED = Helper(name="output", heading="The latest tool output", build=_reformulated)
"""The latest return, flattened (FAMA's TOR)."""


def _plan(view: View, ask: Ask) -> str:
    instructions = (
        "You plan for a service agent that must follow the policy. Write the steps, in order, that "
        "finish everything the customer has asked for, one a line, without doing any of them."
    )
    question = f"Policy:\n{view.policy}\n\nThe customer's requests:\n{view.numbered()}"
    return "\n".join(_lines(ask(instructions, question)))


PLANNER = Helper(name="planner", heading="Steps that would finish this", build=_plan)
"""The steps ahead (FAMA's planner)."""

HELPERS = {h.name: h for h in (memory(), CONSTRAINTS, SUGGESTIONS, REFORMULATED, PLANNER)}
"""The helpers by name. FAMA's verifier of a pending decision is none: it needs a second generation."""

FACT = (
    "Before you act: find out who the customer is. Ask for what a tool needs and you do not know, one "
    "round of questions at a time, and never guess an id. Look the records up. Compare them with the "
    "rules. Say what you are about to do and get a clear yes. Only then do it."
)
"""What IRMA adds to the agent's instructions: ask first, act later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Which helpers run, when, and what is added to the agent's instructions."""

    helpers: tuple[Helper, ...]
    when: When
    instructions: str = ""


IRMA = Recipe(helpers=(memory(), CONSTRAINTS, SUGGESTIONS), when="user_turn", instructions=FACT)
"""All three helpers after every message of the customer."""

FAMA_LAST = {"airline": 2, "retail": 6}
"""How many messages FAMA's memory keeps, per domain, as its authors found best."""


def fama(domain: str, helpers: Sequence[str] = ("memory", "constraints")) -> Recipe:
    """FAMA's second stage with the helpers that its first stage chose, by default its usual choice."""
    chosen = [memory(FAMA_LAST.get(domain)) if n == "memory" else HELPERS[n] for n in helpers]
    return Recipe(helpers=tuple(chosen), when="every_step")


def blocks(recipe: Recipe, view: View, ask: Ask) -> str:
    """What the recipe's helpers have to say now, each under its heading."""
    built = ((helper.heading, helper.build(view, ask)) for helper in recipe.helpers)
    return "\n\n".join(f"{heading}:\n{text}" for heading, text in built if text)


def compose(helped: str, said: str) -> str:
    """The customer's message as the agent reads it: what the helpers say, then the words, last."""
    return f"{helped}\n\nThe customer's message:\n{said}" if helped else said
