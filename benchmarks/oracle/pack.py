"""A pack for one domain of SOPBench, and what of it one task asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.oracle.answers import write
from benchmarks.oracle.rules import rule_id
from ledgeragent import Domain
from ledgeragent.predicates import Predicate

_STATED = re.compile(r'"single", "((?:not )?\w+)", (null|\{[^}]*\})')


@dataclass(frozen=True, kw_only=True)
class Pack:
    """The rules of a domain, by us, from what its prompt says of each action.

    `same` maps a constraint to the one whose rule stands for both: the two sides of an either-or.
    `reads` are the conditions of reads, which a gate does not judge.
    """

    domain: Domain
    same: Mapping[str, str] = field(default_factory=dict)
    reads: tuple[Predicate, ...] = ()

    def stating(self, task: Mapping[str, Any]) -> Domain:
        """The pack as the prompt of a task has it.

        The prompt states some of the constraints of the action that the task is about, all those of
        the other actions, and the numbers in them.
        """
        numbers = task.get("constraint_parameters") or {}
        rules = tuple(self._rules(self.domain.predicates, task))
        return replace(self.domain, predicates=rules, parameters=numbers)

    def watching(self, task: Mapping[str, Any]) -> Domain:
        """The reads whose conditions the prompt states, as if each were a write."""
        watched = dict.fromkeys(tool for rule in self.reads for tool in rule.guards)
        others = (tool for tool in self.domain.tools if tool.tool not in watched)
        rules = tuple(self._rules(self.reads, task))
        return replace(self.domain, tools=(*others, *map(write, watched)), predicates=rules)

    def stated(self, task: Mapping[str, Any]) -> frozenset[str]:
        """The rules for the constraints that a task states, whether the pack has them or not."""
        names = (_name(*one) for one in _STATED.findall(json.dumps(task["constraints_original"])))
        return frozenset(rule_id(self.domain.name, self.same.get(name, name)) for name in names)

    def _rules(self, rules: Sequence[Predicate], task: Mapping[str, Any]) -> Iterator[Predicate]:
        stated, goal = self.stated(task), task["user_goal"]
        for rule in rules:
            others = tuple(tool for tool in rule.guards if tool != goal)
            yield rule if rule.id in stated else replace(rule, guards=others)


def _name(constraint: str, arguments: str) -> str:
    """A constraint with whom it is of, where that is not the user: the other side of a transfer."""
    whose = (json.loads(arguments) or {}).get("username", "username")
    return constraint if whose == "username" else f"{constraint} of {whose}"
