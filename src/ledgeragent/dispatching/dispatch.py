"""One tool that stands before others, and how its call is read as a call of one of them."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from ledgeragent.types import Arguments, ToolCall, canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """A tool whose call names another, the inner tool, and carries the arguments of that one.

    `name` is the argument with the inner tool's name, `arguments` the one with its arguments, as an
    object or as JSON text; "" where they stand beside the name. `tools` are patterns of the names
    that it stands before. `unlock` is the tool that has to be called first with the same name.
    """

    tool: str
    name: str
    arguments: str = ""
    tools: tuple[str, ...] = ("*",)
    unlock: str = ""

    def reaches(self, tool: str) -> bool:
        """True if it stands before a tool of this name."""
        return tool != self.tool and self._fits(tool)

    def _fits(self, tool: str) -> bool:
        return any(fnmatchcase(tool, pattern) for pattern in self.tools)

    def inner(self, call: ToolCall) -> ToolCall:
        """The call that is meant, under the same id; the call itself where that cannot be told.

        That is so of a name that fits none of the patterns: what the tool does with it, nobody said.
        One that carries arguments which nobody would read is malformed, since the tool may read them.
        """
        inner_name = call.arguments.get(self.name)
        if call.malformed is not None or not isinstance(inner_name, str) or not inner_name:
            return call
        if not self._fits(inner_name):
            return call
        rest = {name: value for name, value in call.arguments.items() if name != self.name}
        if not self.arguments:
            return ToolCall(name=inner_name, arguments=rest, id=call.id)
        carried = rest.pop(self.arguments, None)
        if rest:
            problem = f"arguments beside {self.arguments}: {canonical(rest)}"
            return ToolCall(name=inner_name, id=call.id, malformed=problem)
        return ToolCall.parse(name=inner_name, arguments=carried, id=call.id)

    def outer(self, call: ToolCall) -> ToolCall:
        """The call of this tool that means a call of one behind it."""
        arguments: Arguments = {self.name: call.name, **call.arguments}
        if self.arguments:
            arguments = {self.name: call.name, self.arguments: canonical(call.arguments)}
        return ToolCall(name=self.tool, arguments=arguments, id=call.id)

    @property
    def summary(self) -> str:
        """How a tool behind it is called, in words."""
        carried = f", {self.arguments}=..." if self.arguments else ", ..."
        first = f", after {self.unlock}({self.name}=NAME)" if self.unlock else ""
        return f"{self.tool}({self.name}=NAME{carried}){first}"
