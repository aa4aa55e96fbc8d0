"""The recording: files of conversations that can be gone through several times, one at a time."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import IO

from ledgeragent.errors import DataError
from ledgeragent.files.limits import MEMORY, most_bytes
from ledgeragent.mining.callhistory import CallHistory, history_of
from ledgeragent.offline.forms.registry import form_named
from ledgeragent.offline.intake import Intake
from ledgeragent.offline.traces import Trace, read_traces

NONSTANDARD = "nonstandard tools"
_CHUNK = 1 << 20


class RecordedRuns(AbstractContextManager["RecordedRuns"]):
    """The conversations of some files, read anew each time, so that none has to be kept.

    `form` is the one to read them as, else the content tells. `prefixes` stand before the names of
    tools and are taken off. Runs with tools that their benchmark does not have are left out unless
    `nonstandard`. `intake` says what was read the first time. Standard input is kept in a file of the
    user's own, until the block ends.
    """

    def __init__(
        self,
        files: Sequence[str],
        form: str | None = None,
        prefixes: Sequence[str] = (),
        nonstandard: bool = False,
    ) -> None:
        self.intake = Intake()
        self._files = tuple(files)
        self._form = form_named(form) if form is not None else None
        self._prefixes = tuple(prefixes)
        self._nonstandard = nonstandard
        self._spool = ""
        self._counted = False

    def __iter__(self) -> Iterator[CallHistory]:
        """Each conversation, in the order of the files; broken ones are counted in `intake`."""
        counts, self._counted = not self._counted, True
        number = 0
        for file in self._files:
            for trace in read_traces(self._place(file), self._form):
                if counts:
                    self._count(file, trace)
                if isinstance(trace, Trace) and not self._is_left_out(trace):
                    number += 1
                    yield history_of(self._named(trace), number)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._spool:
            os.unlink(self._spool)
            self._spool = ""

    def _count(self, file: str, trace: Trace | DataError) -> None:
        if isinstance(trace, DataError):
            self.intake.broken(trace)
            return
        self.intake.read("<stdin>" if file == "-" else file, trace)
        if self._is_left_out(trace):
            self.intake.skip(NONSTANDARD)
        else:
            self.intake.runs += 1

    def _is_left_out(self, trace: Trace) -> bool:
        return bool(trace.nonstandard) and not self._nonstandard

    def _named(self, trace: Trace) -> Trace:
        """The run with the tools by their names without the first prefix that fits."""
        names = {call.name: self._bare(call.name) for call in trace.calls} if self._prefixes else {}
        return trace.renamed(names) if names else trace

    def _bare(self, name: str) -> str:
        prefix = next((p for p in self._prefixes if name.startswith(p) and name != p), "")
        return name.removeprefix(prefix)

    def _place(self, file: str) -> str:
        if file != "-":
            return file
        if not self._spool:
            handle, self._spool = tempfile.mkstemp(prefix="ledgeragent-runs-")
            with os.fdopen(handle, "wb") as spool:
                _copy_lines(sys.stdin.buffer, spool)
        return self._spool


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
