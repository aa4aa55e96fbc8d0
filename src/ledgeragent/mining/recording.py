"""The recording: files of conversations that can be gone through several times, one at a time."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import IO, NamedTuple

from ledgeragent.engines.engine import Engine
from ledgeragent.errors import DataError
from ledgeragent.files.limits import MEMORY, most_bytes
from ledgeragent.mining.callhistory import CallHistory, history_of
from ledgeragent.offline.forms.registry import form_named
from ledgeragent.offline.intake import Intake
from ledgeragent.offline.piece import Piece
from ledgeragent.offline.replay import NONSTANDARD, ONE_PROCESS, over
from ledgeragent.offline.traces import Trace, traces_of

_CHUNK = 1 << 20


class RecordedRuns(AbstractContextManager["RecordedRuns"]):
    """The conversations of some files, read anew each time, so that none has to be kept.

    `form` is the one to read them as, else the content tells. `prefixes` stand before the names of
    tools and are taken off. Runs with tools that their benchmark does not have are left out unless
    `nonstandard`. `intake` says what was read the first time. They are read by an engine. Standard input
    is kept in a file of the user's own, until the block ends.
    """

    def __init__(
        self,
        files: Sequence[str],
        form: str | None = None,
        prefixes: Sequence[str] = (),
        nonstandard: bool = False,
        engine: Engine = ONE_PROCESS,
    ) -> None:
        self.intake = Intake()
        self._files = tuple(files)
        self._form = form
        self._prefixes = tuple(prefixes)
        self._nonstandard = nonstandard
        self._engine = engine
        self._spool = ""
        self._counted = False

    def __iter__(self) -> Iterator[CallHistory]:
        """Each conversation, in the order of the files; broken ones are counted in `intake`."""
        counts, self._counted = not self._counted, True
        work = partial(
            _histories,
            form=self._form,
            prefixes=self._prefixes,
            nonstandard=self._nonstandard,
            spool=self._spool_if_needed(),
        )
        number = 0
        for part in over([*map(self._place, self._files)], work, engine=self._engine):
            if counts:
                self.intake.take(part.intake)
            for history in part.histories:
                number += 1
                yield replace(history, number=number)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._spool:
            os.unlink(self._spool)
            self._spool = ""

    def _place(self, file: str) -> str:
        return self._spool if file == "-" else file

    def _spool_if_needed(self) -> str:
        """The file that holds what came by standard input, "" where nothing does."""
        if "-" in self._files and not self._spool:
            handle, self._spool = tempfile.mkstemp(prefix="ledgeragent-runs-")
            with os.fdopen(handle, "wb") as spool:
                _copy_lines(sys.stdin.buffer, spool)
        return self._spool


class _PartOfRecording(NamedTuple):
    """The conversations in one piece of a file, not numbered yet, and what was read."""

    intake: Intake
    histories: list[CallHistory]


def _histories(
    piece: Piece, form: str | None, prefixes: Sequence[str], nonstandard: bool, spool: str
) -> _PartOfRecording:
    if spool and piece.file == spool:
        piece = replace(piece, file="<stdin>")
    part = _PartOfRecording(Intake(), [])
    for trace in traces_of(piece, form=form_named(form) if form is not None else None):
        if isinstance(trace, DataError):
            part.intake.broken(trace)
            continue
        part.intake.read(piece.file, trace)
        if trace.nonstandard and not nonstandard:
            part.intake.skip(NONSTANDARD)
        else:
            part.intake.runs += 1
            part.histories.append(history_of(_bare(trace, prefixes), 0))
    return part


def _bare(trace: Trace, prefixes: Sequence[str]) -> Trace:
    """The run with the tools by their names without the first prefix that fits."""
    names = {call.name: _without(call.name, prefixes) for call in trace.calls} if prefixes else {}
    return trace.renamed(names) if names else trace


def _without(name: str, prefixes: Sequence[str]) -> str:
    prefix = next((p for p in prefixes if name.startswith(p) and name != p), "")
    return name.removeprefix(prefix)


def _copy_lines(source: IO[bytes], spool: IO[bytes]) -> None:
    """Copies a stream, but fills no disk: DataError for a line that takes more than one may."""
    length = 0
    while chunk := source.read(_CHUNK):
        end = chunk.rfind(b"\n")
        length = len(chunk) - end - 1 + (length if end < 0 else 0)
        if length > most_bytes():
            problem = "a line would take more memory than one document may"
            raise MEMORY.refusal(problem, "<stdin>")
        spool.write(chunk)
