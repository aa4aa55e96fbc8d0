"""Names of tools on the wire, and those of the pack: hosts put the name of a server or plugin before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ledgeragent.errors import UsageError

SEPARATORS = ("__", "-", ".", ":", "/")
"""What stands between the name of a server or plugin and a tool's own, and in few tools' own names."""

_WEAK = "_"
_FEWEST = 2
"""How many tools have to share a prefix that ends as parts of one name do (`bulk_cancel_order`)."""


class NameReading(NamedTuple):
    """What the names of a request are read as: `tools` by name, where the two differ.

    `doubtful` are names that end in one of the pack's, each with why it is not taken for that one.
    """

    tools: Mapping[str, str]
    doubtful: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class ToolNames:
    """What the operator says of names: `prefixes` that are cut off, `aliases` (the name on the wire to
    the pack's), and `neutrals`, tools outside the pack that change no record.

    Prefixes that nobody named are found where exactly one reading fits the pack.
    """

    prefixes: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    neutrals: frozenset[str] = frozenset()

    def check(self, tools: Collection[str]) -> None:
        """Raises UsageError for an alias of a tool that the pack does not have."""
        for name, tool in self.aliases.items():
            if tool not in tools:
                raise UsageError(f"alias {name}={tool}: the pack has no tool {tool}")
        if own := sorted(self.neutrals & set(tools)):
            raise UsageError(f"neutral {own[0]}: the pack says what this tool does")

    def tool(self, name: str, tools: Collection[str]) -> str | None:
        """The pack's tool that a name stands for by what the operator said; None for no one."""
        if name in self.aliases:
            return self.aliases[name]
        if name in tools:
            return name
        for prefix in self.prefixes:
            rest = name.removeprefix(prefix)
            if prefix and rest != name and rest in tools:
                return rest
        return None

    def read(self, offered: Iterable[str], tools: Collection[str]) -> NameReading:
        """What the names that a request offers stand for."""
        named = {name: self.tool(name, tools) for name in offered if name not in self.neutrals}
        plain = {name: tool for name, tool in named.items() if tool is not None}
        rest = [name for name, tool in named.items() if tool is None]
        prefixed = _prefixed(rest, tools, claimed=frozenset(plain.values()))
        renamed = {name: tool for name, tool in plain.items() if name != tool}
        return NameReading({**renamed, **prefixed.tools}, prefixed.doubtful)


def ending(name: str, tools: Iterable[str]) -> str | None:
    """The longest of the pack's tools that a name ends in, as a word of its own and in any case."""
    lowered = name.lower().replace("-", "_")
    endings = [
        tool
        for tool in tools
        if lowered.endswith(tool.lower().replace("-", "_"))
        and not lowered[: -len(tool)][-1:].isalnum()
    ]
    return max(endings, key=len, default=None)


def _prefixed(names: Iterable[str], tools: Collection[str], claimed: frozenset[str]) -> NameReading:
    """The reading of names by prefixes that nobody named."""
    candidates = {name: _candidates(name, tools) for name in names}
    sharing: dict[str, set[str]] = defaultdict(set)
    for cuts in candidates.values():
        for prefix, tool in cuts.items():
            sharing[prefix].add(tool)
    fits: dict[str, dict[str, str]] = {
        name: {p: t for p, t in cuts.items() if _is_strong(p) or len(sharing[p]) >= _FEWEST}
        for name, cuts in candidates.items()
    }
    claims: dict[str, list[str]] = defaultdict(list)
    for name, cuts in fits.items():
        for tool in set(cuts.values()):
            claims[tool].append(name)
    readings: dict[str, str] = {}
    doubtful: dict[str, str] = {}
    for name, cuts in fits.items():
        choices = sorted(set(cuts.values()))
        rivals = [other for tool in choices for other in claims[tool] if other != name]
        if len(choices) == 1 and not rivals and choices[0] not in claimed:
            readings[name] = choices[0]
        elif choices or candidates[name]:
            doubtful[name] = _doubt(choices, rivals, claimed)
    return NameReading(readings, doubtful)


def _candidates(name: str, tools: Collection[str]) -> dict[str, str]:
    """The tools that a name ends in behind a separator, by what stands before."""
    cuts = {name[: -len(tool)]: tool for tool in tools if name.endswith(tool) and name != tool}
    return {p: t for p, t in cuts.items() if p.endswith((*SEPARATORS, _WEAK)) and p.strip("_-.:/")}


def _is_strong(prefix: str) -> bool:
    return prefix.endswith(SEPARATORS)


def _doubt(choices: list[str], rivals: list[str], claimed: frozenset[str]) -> str:
    if len(choices) > 1:
        return f"it may be {' or '.join(choices)}"
    if rivals:
        return f"so may {', '.join(sorted(set(rivals)))}"
    if choices and choices[0] in claimed:
        return f"{choices[0]} is offered by its own name"
    return "the prefix stands before no other tool of the pack"
