"""Replay: files of recorded conversations in, one `ReplayResult` out, by one process or many.

Tells what a domain's gate would have answered to every write of every run. No model is called.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from ledgeragent.compiler.givens import ParameterText
from ledgeragent.domain import Domain
from ledgeragent.engines.collection import collected_later
from ledgeragent.engines.engine import Engine
from ledgeragent.engines.local import LocalEngine
from ledgeragent.errors import DataError
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.forms.registry import form_named
from ledgeragent.offline.intake import Intake
from ledgeragent.offline.judging import Unknown, judge
from ledgeragent.offline.piece import Partition, Piece, partitions
from ledgeragent.offline.runtally import RunTally
from ledgeragent.offline.sources import patiently
from ledgeragent.offline.tally import ReplayResult
from ledgeragent.offline.traces import Trace, together, traces_of
from ledgeragent.offline.verdictrow import PartWriter, VerdictRow, verdict_row
from ledgeragent.types import Reply
from ledgeragent.verdict import Enforcement

T = TypeVar("T")

OTHER_DOMAIN = "other domain"
NONSTANDARD = "nonstandard tools"
ONE_PROCESS = LocalEngine()
"""The engine where none is named."""


def _untouched(partition: Partition, results: list[T]) -> list[T]:
    return results


def replay(
    files: Sequence[str],
    domain: str,
    *,
    version: str | None = None,
    tools: Collection[str] | None = None,
    parameters: Iterable[ParameterText] = (),
    levels: Mapping[str, Enforcement] | None = None,
    nonstandard: bool = False,
    prefixes: Sequence[str] = (),
    unknown: Unknown = "revise",
    form: str | None = None,
    allow_faulty: bool = False,
    engine: Engine = ONE_PROCESS,
    progress: Callable[[Piece], None] = lambda piece: None,
    table: Callable[[list[VerdictRow]], None] | None = None,
    part: PartWriter | None = None,
) -> ReplayResult:
    """Judges every conversation of `files` by an engine; the result is the same by any.

    `domain` is a pack or `module:ATTRIBUTE`; its `version` and the agent's `tools` are those that
    each run records unless given here; `levels` are those of `Domain.enforcing`, `parameters`
    count before those that a run records, `prefixes`, `unknown`, `form` and `allow_faulty` are those of
    `Binding`. `table` gets a row for each judged call, in order; `part` gets those of a partition where
    it is worked on. Runs of another domain, and (unless `nonstandard`) of agents with tools that their
    benchmark does not have, are skipped and counted. Memory holds a few megabytes of the
    input per process whatever its size, but a JSON document as a whole. A file that cannot be read is
    counted among the broken records. Raises UsageError for a domain or a rule that does not exist.
    """
    binding = Binding(
        name=domain,
        version=version,
        tools=frozenset(tools) if tools else None,
        parameters=tuple(parameters),
        levels=frozenset((levels or {}).items()),
        prefixes=tuple(prefixes),
        unknown=unknown,
        form=form,
        allow_faulty=allow_faulty,
    )
    binding.domain()
    total = ReplayResult()
    listing = table is not None or part is not None
    work = partial(
        judge_piece, binding=binding.at(engine), nonstandard=nonstandard, listing=listing
    )
    end = _untouched if part is None else partial(_written, part=part)
    for judged_piece in over(files, work, engine=engine, progress=progress, end=end):
        total.add(judged_piece.result)
        if table is not None:
            table(judged_piece.rows)
    return total


def over(
    files: Sequence[str],
    work: Callable[[Piece], T],
    *,
    engine: Engine = ONE_PROCESS,
    progress: Callable[[Piece], None] = lambda piece: None,
    end: Callable[[Partition, list[T]], list[T]] = _untouched,
) -> Iterator[T]:
    """The results of `work` for each piece of the files, in their order, by an engine.

    `end` has the last word on those of a partition, where it was worked on.
    """
    reader = partial(_partitions, share_bytes=engine.share_bytes)
    worked = partial(_worked, work=work, end=end)
    for partition, results in engine.run(files, reader, worked):
        yield from results
        progress(partition.pieces[-1])


def _partitions(number: int, file: str, share_bytes: int) -> Iterator[Partition]:
    return partitions(number, patiently(file, together), share_bytes)


def _worked(
    partition: Partition,
    work: Callable[[Piece], T],
    end: Callable[[Partition, list[T]], list[T]],
) -> list[T]:
    results: list[T] = []
    for piece in partition.pieces:
        with collected_later():
            results.append(work(piece))
    return end(partition, results)


class JudgedPiece(NamedTuple):
    """The result of the conversations in one piece of a file, and a row for each judged call."""

    result: ReplayResult
    rows: list[VerdictRow]


def _written(
    partition: Partition, results: list[JudgedPiece], part: PartWriter
) -> list[JudgedPiece]:
    """The results without their rows, which become a part of a table."""
    part(partition.name, partition.wholes, [row for one in results for row in one.rows])
    return [one._replace(rows=[]) for one in results]


def judge_piece(piece: Piece, binding: Binding, nonstandard: bool, listing: bool) -> JudgedPiece:
    """The verdicts on the conversations in one piece of a file, with rows if `listing`."""
    result = ReplayResult()
    tally = RunTally(result)
    rows: list[VerdictRow] = []
    for trace in wanted(piece, binding, nonstandard, result):
        gate = binding.gate_for(trace)
        calls = judge(trace, gate)
        tally.count(trace, calls, gate.domain)
        if listing:
            rows += [verdict_row(piece.file, trace, one, gate.domain) for one in calls]
    return JudgedPiece(result, rows)


def wanted(piece: Piece, binding: Binding, nonstandard: bool, intake: Intake) -> Iterator[Trace]:
    """The conversations that are to be judged; what is wrong with the others goes to `intake`."""
    form = form_named(binding.form) if binding.form is not None else None
    accepts = partial(_is_wanted, binding=binding, nonstandard=nonstandard)
    for trace in traces_of(piece, accepts, form):
        if isinstance(trace, DataError):
            intake.broken(trace)
        elif (why := _unwanted(trace, binding, nonstandard)) is not None:
            intake.skip(why)
        else:
            intake.read(piece.file, trace)
            intake.timeless += _lacks_the_time(trace, binding.domain_for(trace))
            if trace.parameters is not None:
                intake.count_values(binding.own_values(trace.parameters))
            yield binding.named(trace)


def _is_wanted(trace: Trace, binding: Binding, nonstandard: bool) -> bool:
    return _unwanted(trace, binding, nonstandard) is None


def _lacks_the_time(trace: Trace, domain: Domain) -> bool:
    """True if the rules ask for the time, and neither the run nor a parameter tells it."""
    if not domain.timed or domain.parameters.get("now"):
        return False
    return not any(type(message) is Reply and message.at for message in trace.messages)


def _unwanted(trace: Trace, binding: Binding, nonstandard: bool) -> str | None:
    """Why a run is not to be judged, None if it is."""
    if not binding.serves(trace):
        return OTHER_DOMAIN
    return NONSTANDARD if trace.nonstandard and not nonstandard else None
