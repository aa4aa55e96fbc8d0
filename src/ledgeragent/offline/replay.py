"""Replay: files of recorded conversations in, one `ReplayResult` out, in one process or several.

Tells what a domain's gate would have answered to every write of every run. No model is called.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import chain, islice
from signal import SIG_IGN, SIGINT, signal
from threading import Thread
from typing import NamedTuple, TypeVar

from ledgeragent.compiler.givens import ParameterText
from ledgeragent.domain import Domain
from ledgeragent.errors import DataError, LedgerAgentError
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.forms.registry import form_named
from ledgeragent.offline.intake import Intake
from ledgeragent.offline.judging import Unknown, judge
from ledgeragent.offline.sources import Piece, pieces
from ledgeragent.offline.tally import ReplayResult
from ledgeragent.offline.traces import Trace, together, traces_of
from ledgeragent.offline.verdictrow import VerdictRow, verdict_row
from ledgeragent.types import Reply
from ledgeragent.verdict import Enforcement

T = TypeVar("T")

OTHER_DOMAIN = "other domain"
NONSTANDARD = "nonstandard tools"
_WAITING_PER_JOB = 3


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
    jobs: int = 1,
    progress: Callable[[Piece], None] = lambda piece: None,
    table: Callable[[list[VerdictRow]], None] | None = None,
) -> ReplayResult:
    """Judges every conversation of `files` in up to `jobs` processes; the result is the same for any.

    `domain` is a pack or `module:ATTRIBUTE`; its `version` and the agent's `tools` are those that
    each run records unless given here; `levels` are those of `Domain.enforcing`, `parameters`,
    `prefixes`, `unknown`, `form` and `allow_faulty` those of `Binding`. `table` gets a row for each
    judged call, in order. Runs of another domain, and (unless `nonstandard`) of agents with tools that
    their benchmark does not have, are skipped and counted. Memory holds a few megabytes of the input
    per process whatever its size, but a JSON document as a whole. Raises DataError for a file that
    cannot be opened, UsageError for a domain or a rule that does not exist.
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
    listing = table is not None
    work = partial(judge_piece, binding=binding, nonstandard=nonstandard, listing=listing)
    for part in over(files, work, jobs=jobs, progress=progress):
        total.add(part.result)
        if table is not None:
            table(part.rows)
    return total


def over(
    files: Iterable[str],
    work: Callable[[Piece], T],
    *,
    jobs: int = 1,
    progress: Callable[[Piece], None] = lambda piece: None,
) -> Iterator[T]:
    """The results of `work` for each piece of the files, in their order, by up to `jobs` processes.

    There are never more of them than processors, or than pieces.
    """
    stream = (piece for file in files for piece in pieces(file, together))
    first = list(islice(stream, min(jobs, processors())))
    every = chain(first, stream)
    alone = len(first) < 2
    results = ((p, work(p)) for p in every) if alone else _spread(work, every, len(first))
    for piece, result in results:
        yield result
        progress(piece)


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class JudgedPiece(NamedTuple):
    """The result of the conversations in one piece of a file, and a row for each judged call."""

    result: ReplayResult
    rows: list[VerdictRow]


def judge_piece(piece: Piece, binding: Binding, nonstandard: bool, listing: bool) -> JudgedPiece:
    """The verdicts on the conversations in one piece of a file, with rows if `listing`."""
    result = ReplayResult()
    rows: list[VerdictRow] = []
    for trace in wanted(piece, binding, nonstandard, result):
        gate = binding.gate_for(trace)
        calls = judge(trace, gate)
        result.count(trace, calls, gate.domain)
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


def _spread(
    work: Callable[[Piece], T], stream: Iterable[Piece], jobs: int
) -> Iterator[tuple[Piece, T]]:
    """Results in the order of the input, with only a few pieces under way at any time."""
    waiting: deque[tuple[Piece, Future[T]]] = deque()
    pool = ProcessPoolExecutor(jobs, initializer=_begin)
    try:
        for piece in stream:
            waiting.append((piece, pool.submit(work, piece)))
            if len(waiting) >= _WAITING_PER_JOB * jobs:
                first, future = waiting.popleft()
                yield first, future.result()
        for first, future in waiting:
            yield first, future.result()
    except BrokenProcessPool:
        raise LedgerAgentError("a worker process died; try fewer --jobs") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """Readies a worker: Ctrl-C is for its parent to answer, and it ends when the parent is gone."""
    signal(SIGINT, SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
