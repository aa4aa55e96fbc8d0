"""A domain with tools that stand before others: rules speak of the inner tools alone.

Doors read a reply with `inner_reply` before it is judged, and pass the calls on as they came. A call
that reaches the gate under the name of the dispatching tool names no tool, so it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar
from unicodedata import normalize

from ledgeragent.dispatching.dispatch import Dispatch
from ledgeragent.domain import Clause, Domain
from ledgeragent.effects import Tool, Write
from ledgeragent.gate import Filtered
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.predicates import Broken, Predicate, Private, View, violation
from ledgeragent.types import Arguments, Message, Reply, ToolCall

M = TypeVar("M", bound=Message)

_DEEPEST = 4
_SEPARATOR = re.compile(r"[\W_]+")
_WRITTEN_CALL = re.compile(r"[\w.-]+(?=\()")


@dataclass(frozen=True, kw_only=True)
class DispatchingDomain(Domain):
    """A domain some of whose tools are called through another one."""

    dispatches: tuple[Dispatch, ...] = ()
    _table: Mapping[str, Dispatch] = field(init=False, repr=False, compare=False)
    _loose_names: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "_table", {one.tool: one for one in self.dispatches})
        loose_names = frozenset(_loosely(tool.tool) for tool in self.tools)
        object.__setattr__(self, "_loose_names", loose_names)

    def bind(self, tools: Collection[str]) -> Domain:
        """This domain for a run with these tools, and with all that they stand before."""
        there = [one for one in self.dispatches if one.tool in tools]
        behind = {t.tool for t in self.tools if any(one.reaches(t.tool) for one in there)}
        return super().bind({*tools, *behind})

    def inner(self, call: ToolCall) -> ToolCall:
        """The call that a call means."""
        for _ in range(_DEEPEST):
            dispatch = self._table.get(call.name)
            inner = dispatch.inner(call) if dispatch is not None else call
            if inner is call or self._is_spelled_otherwise(inner.name):
                break
            call = inner
        return call

    def _is_spelled_otherwise(self, name: str) -> bool:
        """True for what is no tool's name, but may pass for one where the inner tool is looked up."""
        return self.tool(name) is None and _loosely(name) in self._loose_names

    def outer(self, call: ToolCall) -> ToolCall:
        """The call on the wire that means a call of one of this domain's tools."""
        dispatch = self.before(call.name)
        return dispatch.outer(call) if dispatch is not None else call

    def before(self, tool: str) -> Dispatch | None:
        """What stands before a tool; None for one that is called by its own name."""
        return next((one for one in self.dispatches if one.reaches(tool)), None)

    def explained(self, text: str) -> str:
        """A text for the model, with how the tools in it are called where that is another way."""
        names = (name for name in _WRITTEN_CALL.findall(text) if self.tool(name) is not None)
        ways = dict.fromkeys(way for name in names if (way := self.before(name)) is not None)
        lines = [f"(NAME that is not in your list of tools: {way.summary})" for way in ways]
        return "\n".join([text, *lines]) if lines else text


def dispatching(domain: Domain, *dispatches: Dispatch) -> DispatchingDomain:
    """The domain with these tools before its own, each a write that no call under its name passes."""
    own_fields = {f.name: getattr(domain, f.name) for f in fields(Domain) if f.init}
    guards = tuple(one.tool for one in dispatches)
    listed = {tool.tool: tool for tool in domain.tools if tool.tool in guards}
    doors = [_door(one, listed.get(one.tool)) for one in dispatches]
    others = [tool for tool in domain.tools if tool.tool not in guards]
    rule_id = f"{domain.name}/dispatch"
    rule = Predicate(id=rule_id, guards=guards, clause=rule_id, check=_unnamed(dispatches))
    clause = Clause(
        id=rule_id,
        section="tools",
        summary="A call of a tool that stands before others names one of them, with its arguments.",
        checkable="state",
        predicates=(rule_id,),
    )
    return DispatchingDomain(
        **{
            **own_fields,
            "tools": (*others, *doors),
            "predicates": (*domain.predicates, rule),
            "clauses": (*domain.clauses, clause),
        },
        dispatches=dispatches,
    )


def _door(dispatch: Dispatch, listed: Tool | None) -> Tool:
    if isinstance(listed, Write):
        return replace(listed, touches=(*listed.touches, _everything))
    return Write(tool=dispatch.tool, arguments=dict, open=True, touches=(_everything,))


def _everything(call: Arguments, ledger: Ledger) -> list[Touch]:
    """What a call has changed that was executed, though nobody could tell which tool it was for."""
    return [Touch(entry.path) for entry in ledger]


def _loosely(name: str) -> str:
    return _SEPARATOR.sub("", normalize("NFKC", name).casefold())


def _unnamed(dispatches: tuple[Dispatch, ...]) -> Any:
    names = list(dict.fromkeys(one.name for one in dispatches))

    def check(call: Arguments, ledger: View) -> Broken | None:
        """A call that stands for another says for which."""
        for name in names:
            if isinstance(tool := call.get(name), str) and tool:
                step = Private(tool, "that step")
                return violation("{tool} is none of the tools that are called so", tool=step)
        which = Private(names, "its name")
        return violation("this call does not say which tool it is for: give {names}", names=which)

    return check


def is_door(tool: str, domain: Domain) -> bool:
    """True for a tool that stands before others in this domain."""
    return isinstance(domain, DispatchingDomain) and any(
        one.tool == tool for one in domain.dispatches
    )


def inner_call(call: ToolCall, domain: Domain) -> ToolCall:
    """The call that a call means in this domain."""
    return domain.inner(call) if isinstance(domain, DispatchingDomain) else call


def inner_reply(message: M, domain: Domain) -> M:
    """The message with every call of a dispatching tool as the one that it means."""
    if not isinstance(domain, DispatchingDomain) or not isinstance(message, Reply):
        return message
    return replace(message, calls=tuple(map(domain.inner, message.calls)))


def explained(text: str, domain: Domain) -> str:
    """A text for the model, with how the tools in it are called where others stand before them."""
    return domain.explained(text) if isinstance(domain, DispatchingDomain) else text


def as_proposed(filtered: Filtered, reply: Reply) -> Filtered:
    """The judged reply with its calls as `reply` has them, for the host that will run them."""
    allowed = tuple(
        call
        for call, verdict in zip(reply.calls, filtered.verdicts, strict=True)
        if verdict.allowed
    )
    dropped = len(filtered.reply.calls) < len(reply.calls)
    shorter = replace(reply, calls=allowed) if dropped else reply
    return replace(filtered, reply=shorter, execute=allowed)
