"""A pack against the file that describes the agent's tools: routes, arguments, returned fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ledgeragent.compiler.outline import Outline, ReadPart, ToolPart
from ledgeragent.compiler.problems import suggestion
from ledgeragent.compiler.shapes import Choice, ListOf, MapOf, Object, Scalar, Shape, is_open
from ledgeragent.compiler.source.toolfile import ToolSpec
from ledgeragent.effects import Neutral, Write


def check_tools(outline: Outline, specs: Sequence[ToolSpec]) -> None:
    """Adds tools that only one of the two knows, and fields and arguments that the tools lack."""
    by_name = {spec.name: spec for spec in specs}
    for name in by_name:
        if name not in outline.tools:
            text = (
                f"the tool {name} is neither read, write nor neutral here, so it would be refused"
            )
            outline.findings.add("read-without-route", outline.place, text)
    for route in outline.reads:
        spec = _offered(route, by_name, outline)
        if spec is not None:
            _returned(route, spec, outline)
    for part in outline.returns:
        if part.tool in by_name:
            _returned(part, by_name[part.tool], outline)
    for tool in (*outline.writes, *outline.neutrals):
        spec = _offered(tool, by_name, outline)
        if spec is not None:
            _taken(tool, spec, outline)


def _offered(
    part: ReadPart | ToolPart, by_name: Mapping[str, ToolSpec], outline: Outline
) -> ToolSpec | None:
    if part.tool not in by_name:
        text = f"the tools file has no tool {part.tool}{suggestion(part.tool, by_name)}"
        outline.findings.add("tool-not-offered", part.place, text)
    return by_name.get(part.tool)


def _returned(part: ReadPart, spec: ToolSpec, outline: Outline) -> None:
    for name in part.parameters:
        if is_open(spec.arguments):
            break
        assert isinstance(spec.arguments, Object)
        if name not in spec.arguments.fields:
            text = f"{part.tool} has no argument {name!r}{suggestion(name, spec.arguments.fields)}"
            outline.findings.add("unknown-field", part.place, text)
    if part.inside is None or spec.returns is None:
        return
    returned = spec.returned(part.inside, part.each)
    if _family(returned) == "text" != _family(part.shape):
        return  # text that holds JSON, of which the tool's schema tells nothing
    for code, where, text in _differences(part.shape, returned, ""):
        if part.merge and code == "unknown-field" and "." not in where:
            continue  # another read supplies it
        if where.partition(".")[0].removesuffix("[]") in part.omit:
            continue
        message = f"{where or 'the return'} of {part.shape}: {part.tool} {text}"
        outline.findings.add(code, part.place, message)


def _taken(part: ToolPart, spec: ToolSpec, outline: Outline) -> None:
    if part.arguments is None or spec.parameters is None:
        return
    for code, where, text in _differences(part.arguments, spec.arguments, ""):
        outline.findings.add(code, part.place, f"argument {where}: {part.tool} {text}")
    domain = outline.domain or outline.trial
    tool = domain.tool(part.tool) if domain is not None else None
    takes_others = isinstance(tool, Write | Neutral) and tool.open
    if takes_others or is_open(part.arguments) or not isinstance(spec.arguments, Object):
        return
    assert isinstance(part.arguments, Object)
    for name, field in spec.arguments.fields.items():
        if name not in part.arguments.fields:
            needed = "requires" if field.required else "takes"
            text = (
                f"{part.tool} {needed} an argument {name!r}, with which the gate refuses the call"
            )
            outline.findings.add("new-argument", part.place, text)


def _differences(ours: Shape, theirs: Shape, where: str) -> Iterator[tuple[str, str, str]]:
    """(code, place inside, what the tool says otherwise) for everything we declare."""
    if is_open(ours) or is_open(theirs):
        return
    if isinstance(ours, Object) and isinstance(theirs, Object):
        for name, field in ours.fields.items():
            place = f"{where}.{name}" if where else name
            member = theirs.fields.get(name)
            if member is None:
                yield "unknown-field", place, f"has no such field{suggestion(name, theirs.fields)}"
            else:
                yield from _differences(field.shape, member.shape, place)
    elif isinstance(ours, ListOf | MapOf) and type(ours) is type(theirs):
        assert isinstance(theirs, ListOf | MapOf)
        yield from _differences(ours.item, theirs.item, f"{where}[]")
    elif _family(ours) != _family(theirs):
        yield "type-error", where, f"says {theirs}, the pack {ours}"
    elif isinstance(ours, Choice) and isinstance(theirs, Choice):
        for value in ours.values:
            if value not in theirs.values:
                yield "impossible-value", where, f"says {theirs}, never {value!r}"


def _family(shape: Shape) -> str:
    """Shapes of one family may stand for each other."""
    match shape:
        case Scalar("str" | "date"):
            return "text"
        case Scalar("int" | "float"):
            return "number"
        case Scalar(kind):
            return kind
        case Choice(values):
            return "text" if all(isinstance(value, str) for value in values) else "number"
        case ListOf():
            return "list"
        case _:
            return "object"
