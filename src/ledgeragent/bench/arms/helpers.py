"""Helpers of IRMA and FAMA: calls of the same model that write into the agent's prompt before it acts.

After arXiv 2508.20931 (IRMA) and 2604.25135 (FAMA) as they describe their algorithms; the wording of
every prompt is ours, since neither paper's was available.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

Ask: TypeAlias = Callable[[str, str], str]
"""`ask(instructions, question)`: one call of the model, without tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolText:
    """A tool as helpers see it."""

    name: str
    description: str
    parameters: tuple[str, ...] = ()

    def __str__(self) -> str:
        first = self.description.strip().partition("\n")[0]
        return f"{self.name}({', '.join(self.parameters)}): {first}"


@dataclass(slots=True, kw_only=True)
class HelperView:
    """The material that helpers may read: policy, tools, words, calls and returns so far.

    `whole` is False for helpers that are told the customer's words alone. `pending` is what the agent
    is about to do, for the helper that judges it.
    """

    policy: str
    tools: tuple[ToolText, ...]
    whole: bool = False
    requests: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    latest_return: str = ""
    pending: str = ""

    def numbered(self, last: int | None = None) -> str:
        """The customer's messages, oldest first, perhaps only the last few."""
        latest = self.requests[-last:] if last else self.requests
        return "\n".join(f"{n}. {text}" for n, text in enumerate(latest, 1))

    def situation(self) -> str:
        """The customer's messages and, in a whole view, what was called and returned since."""
        parts = [f"The customer's requests:\n{self.numbered()}"]
        if self.whole and self.calls:
            parts.append("Calls that were made:\n" + "\n".join(self.calls))
        if self.whole and self.latest_return:
            parts.append(f"The latest tool output:\n{self.latest_return}")
        return "\n\n".join(parts)

    def under_policy(self) -> str:
        """The situation, with the policy that holds in it before it."""
        return f"Policy:\n{self.policy}\n\n{self.situation()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Helper:
    """One helper. `build` gives its block, "" for none; `does` says in a line what it is for."""

    name: str
    heading: str
    does: str
    build: Callable[[HelperView, Ask], str]


_NONE = "none"
_LIST_LINES = 8


def _lines(text: str, most: int = _LIST_LINES) -> list[str]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return [] if " ".join(lines).strip(" .").lower() == _NONE else lines[:most]


def _listed(ask: Ask, instructions: str, question: str, most: int = _LIST_LINES) -> str:
    return "\n".join(_lines(ask(instructions, question), most))


def memory(last: int | None = None) -> Helper:
    """Repeats the customer's last messages (all of them unless told), so that none is forgotten."""

    def build(view: HelperView, ask: Ask) -> str:
        return view.numbered(last)

    return Helper(name="memory", heading="Requests so far", does=_KEEPS, build=build)


_KEEPS = "repeats what the customer asked for, so that nothing of it is forgotten or left undone"


def _condensed(view: HelperView, ask: Ask) -> str:
    instructions = (
        "You keep the memory of a service agent. List everything the customer has asked for or told "
        f"about themselves, at most {_LIST_LINES} short lines, what was withdrawn left out, every id "
        "and number exactly as given. Add nothing."
    )
    return _listed(ask, instructions, view.situation())


CONDENSED = Helper(name="memory", heading="Requests so far", does=_KEEPS, build=_condensed)
"""A memory that takes a model call, for IRMA counted with three helper calls."""


def _constraints(view: HelperView, ask: Ask) -> str:
    instructions = (
        "You read a company's policy for a service agent; you are not that agent. Write the checklist "
        f"of conditions, at most {_LIST_LINES} short lines, that must hold before what the customer "
        "asks for may be done. Mention ids and quantities only if the customer gave them. Give no "
        f"plan and no answer to the customer. If no rule applies, write {_NONE}."
    )
    return _listed(ask, instructions, view.under_policy())


CONSTRAINTS = Helper(
    name="constraints",
    heading="Rules to respect",
    does="picks the rules of the policy that matter now",
    build=_constraints,
)
"""The rules of the policy that matter for what was asked (IRMA's constraints, FAMA's DCE)."""


def _suggestions(view: HelperView, ask: Ask) -> str:
    instructions = (
        "You pick tools for a service agent. List the tools that the requests call for, in the order "
        "they would be used, at most five lines of the form `tool - why`, without arguments; name "
        f"what looks a record up before what changes it. If no tool is needed, write {_NONE}."
    )
    descriptions = "\n".join(map(str, view.tools))
    names = {tool.name for tool in view.tools}
    listed = _lines(ask(instructions, f"Tools:\n{descriptions}\n\n{view.situation()}"), most=5)
    # A helper that invents a tool would send the agent after it.
    return "\n".join(line for line in listed if _first_word(line) in names)


def _first_word(line: str) -> str:
    return line.lstrip("-*0123456789. `").split(" ")[0].split("(")[0].strip("`:,-")


SUGGESTIONS = Helper(
    name="tools",
    heading="Tools that may help",
    does="names the tools to use next, and why",
    build=_suggestions,
)
"""Which tools come next, and why (IRMA's tool suggestion, FAMA's TSA)."""


def _reformulated(view: HelperView, ask: Ask) -> str:
    if not view.latest_return:
        return ""
    instructions = (
        "You make a tool's output easy to read for a service agent: list its facts, one a line, with "
        "every id, amount and status exactly as given. Leave nothing out and conclude nothing."
    )
    return ask(instructions, view.latest_return).strip()


REFORMULATED = Helper(
    name="output",
    heading="The latest tool output",
    does="writes the last tool output out as a flat list of facts",
    build=_reformulated,
)
"""The latest return, flattened (FAMA's TOR)."""


def _plan(view: HelperView, ask: Ask) -> str:
    instructions = (
        "You plan for a service agent that must follow the policy. Write the steps, in order, that "
        "finish everything the customer has asked for, one a line, without doing any of them."
    )
    return _listed(ask, instructions, view.under_policy())


PLANNER = Helper(
    name="planner",
    heading="Steps that would finish this",
    does="writes the steps that are left, in order",
    build=_plan,
)
"""The steps ahead (FAMA's planner)."""


def _objections(view: HelperView, ask: Ask) -> str:
    instructions = (
        "You check what a service agent is about to do, before it does it: is it what the customer "
        "asked for, does the policy allow it, are its ids and amounts those that were given or looked "
        f"up, is anything missing? Write what is wrong, at most three short lines, or {_NONE}."
    )
    question = f"{view.under_policy()}\n\nThe agent is about to:\n{view.pending}"
    return _listed(ask, instructions, question, most=3)


VERIFIER = Helper(
    name="verifier",
    heading="Objections to what you were about to do",
    does="criticises what the agent is about to do before it is done",
    build=_objections,
)
"""The faults of a draft (FAMA's verifier); where there are any, the agent generates again."""

HELPERS = {
    helper.name: helper
    for helper in (memory(), CONSTRAINTS, SUGGESTIONS, REFORMULATED, PLANNER, VERIFIER)
}
"""FAMA's pool of six, by name."""
