"""The draft of a pack: all that a recording shows of tools and records, put together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ledgeragent.compiler.shapes import Object
from ledgeragent.compiler.source.toolfile import ToolSpec
from ledgeragent.mining.callhistory import CallHistory
from ledgeragent.mining.conduct import Conduct
from ledgeragent.mining.families import Family, MinedRoute
from ledgeragent.mining.routing import Routing, settled
from ledgeragent.mining.survey import Survey, kind_of
from ledgeragent.mining.touching import MinedTouch, Touching
from ledgeragent.mining.world import World

_LEAST_FITTING = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedAnswer:
    """The records that a write answers with. `omit` are fields that its answers get wrong."""

    family: Family
    omit: tuple[str, ...]
    is_partial: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What was mined.

    `kinds` has (kind, why) of every tool, `left_out` changes that were too seldom, `silent` the calls of
    tools that only failed and that no tools file has: agents call tools that do not exist. `unanswered`
    are those of which no call was answered at all.
    """

    runs: int
    conducts: Mapping[str, Conduct]
    kinds: Mapping[str, tuple[str, str]]
    routes: Sequence[MinedRoute]
    families: Sequence[Family]
    touches: Mapping[str, Sequence[MinedTouch]]
    answers: Mapping[str, MinedAnswer]
    left_out: Sequence[tuple[str, str, str]]
    silent: Mapping[str, int]
    unanswered: Mapping[str, int]
    specs: Mapping[str, ToolSpec]
    world: World

    def named(self, kind: str) -> list[Conduct]:
        """The tools of a kind that were called, in alphabetical order."""
        return [self.conducts[n] for n, (k, _) in sorted(self.kinds.items()) if k == kind]

    def routes_of(self, tool: str) -> list[MinedRoute]:
        """The routes of a read."""
        return [route for route in self.routes if route.tool == tool]


def draft(histories: Iterable[CallHistory], specs: Sequence[ToolSpec] = ()) -> Draft:
    """The draft of a pack from conversations, which are gone through twice.

    `specs` are the tools as their own file describes them; a tool that no conversation called is left
    to its name and schema.
    """
    by_name = {spec.name: spec for spec in specs}
    survey = Survey()
    for history in histories:
        survey.add(history)
    all_conducts = survey.conducts
    conducts = {n: c for n, c in all_conducts.items() if c.executed or n in by_name}
    conducts |= {name: Conduct(name) for name in by_name if name not in all_conducts}
    kinds = {name: kind_of(conduct, by_name) for name, conduct in conducts.items()}
    routing = Routing({name: spec.required for name, spec in by_name.items()})
    routing.add([c for n, c in sorted(conducts.items()) if kinds[n][0] == "read"])
    writes = [name for name in sorted(kinds) if kinds[name][0] == "write"]
    world = World(routing.routes, writes)
    for history in histories:
        world.add(history)
    world.settle()
    touching = Touching(world, routing.routes, {n: _arguments(spec) for n, spec in by_name.items()})
    return Draft(
        runs=survey.runs,
        conducts=conducts,
        kinds=kinds,
        routes=routing.routes,
        families=(*routing.families.values(),),
        touches={name: touching.of(conducts[name]) for name in writes},
        answers={n: a for n in writes if (a := _answer(world, conducts[n])) is not None},
        left_out=touching.left_out,
        silent={n: c.calls for n, c in sorted(all_conducts.items()) if n not in conducts},
        unanswered={
            n: count
            for n, count in sorted(survey.unanswered.items())
            if n not in conducts and n not in all_conducts
        },
        specs=by_name,
        world=world,
    )


def _arguments(spec: ToolSpec) -> Collection[str]:
    return spec.arguments.fields if isinstance(spec.arguments, Object) else ()


def _answer(world: World, conduct: Conduct) -> MinedAnswer | None:
    """What a write answers with, where nearly all of its answers are records of one family."""
    for reply in world.answers[conduct.tool].values():
        times, executed = reply.fitting.times, world.executed[conduct.tool]
        if times < _LEAST_FITTING * executed:
            continue
        reply.family.answers.merge(settled(conduct.answer))
        omit = tuple(sorted(f for f, n in reply.wrong.items() if f))
        profile = reply.family.profile
        always = {n for n, f in profile.fields.items() if f.count == profile.kinds["dict"]}
        why = f"{times:,} of {executed:,} answers are such a record; "
        why += f"{reply.checked:,} were read right after"
        why += f", and {', '.join(omit)} differed" if omit else ""
        return MinedAnswer(
            family=reply.family,
            omit=omit,
            is_partial=not always <= conduct.answer.fields.keys(),
            why=why,
        )
    return None
