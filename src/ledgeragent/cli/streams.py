"""Standard input and output as a command needs them: what is wrong with them is told in one line."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TextIO, cast

from ledgeragent.errors import LedgerAgentError
from ledgeragent.text import printable


@contextmanager
def standard_streams() -> Iterator[None]:
    """For as long as the block lasts, a stream that cannot be used fails where it is used, and says so.

    What could not be written by then is dropped, so that the interpreter does not stumble over it.
    """
    before = sys.stdin, sys.stdout, sys.stderr
    # The type stubs do not know that a stream is None where the shell has closed it.
    sys.stdin = before[0] or cast(TextIO, _Closed("<stdin>"))
    sys.stdout = cast(TextIO, _Shown(_Output(before[1] or cast(TextIO, _Closed("<stdout>")))))
    sys.stderr = cast(TextIO, _Shown(before[2] or cast(TextIO, _Nowhere())))
    try:
        yield
    finally:
        for stream, own in ((sys.stdout, before[1]), (sys.stderr, before[2])):
            try:
                stream.flush()
            except (OSError, LedgerAgentError):
                _drop(own)
        sys.stdin, sys.stdout, sys.stderr = before


class _Quietness:
    """Whether notes are left out, for this process."""

    on = False


def be_quiet(quiet: bool) -> None:
    """Leaves notes, warnings and progress out from here on; errors are told all the same."""
    _Quietness.on = quiet


def is_quiet() -> bool:
    """True if only errors are to be told."""
    return _Quietness.on


def note(text: str) -> None:
    """Says something on stderr that is neither a result nor an error."""
    if not is_quiet():
        print(text, file=sys.stderr)


def has_colours() -> bool:
    """True if standard output is a terminal that shows colours, and nobody has asked for none."""
    plain = os.environ.get("TERM") == "dumb" or bool(os.environ.get("NO_COLOR"))
    return sys.stdout.isatty() and not plain


def tell(problem: str) -> None:
    """Says in one line on stderr what is wrong, if anybody can hear it."""
    with suppress(OSError):
        print(f"ledgeragent: error: {' '.join(problem.split())}", file=sys.stderr)


def raw(stream: TextIO) -> TextIO:
    """The stream itself, for a writer of control characters who lets none of others through."""
    return cast(TextIO, stream.stream) if isinstance(stream, _Shown) else stream


class _Output:
    """A stream to write to; where that fails it raises LedgerAgentError, unless the reader has left."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with _explained():
            return self._stream.write(text)

    def flush(self) -> None:
        with _explained():
            self._stream.flush()


class _Shown:
    """A stream that people read: what a terminal would obey, or not show, is written as its escape.

    Whatever a file, a model or a name says goes through here. In JSON the escape stands for the same.
    """

    def __init__(self, stream: TextIO | _Output) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        self.stream.write(printable(text))
        return len(text)


class _Nowhere(io.TextIOBase):
    """Stands in for a closed stderr: nobody hears what is said there, which is no failure."""

    def write(self, text: str, /) -> int:
        return len(text)


class _Closed(io.TextIOBase):
    """Stands in for a stream that was closed before the program began."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def buffer(self) -> NoReturn:
        self._fail()

    def read(self, size: int | None = -1, /) -> NoReturn:
        self._fail()

    def readline(self, size: int = -1, /) -> NoReturn:  # type: ignore[override]
        self._fail()

    def write(self, text: str, /) -> NoReturn:
        self._fail()

    def _fail(self) -> NoReturn:
        raise OSError(errno.EBADF, "it is closed", self._name)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        problem = error.strerror or str(error)
        raise LedgerAgentError(f"cannot write to standard output: {problem}") from None
    except UnicodeEncodeError as error:
        problem = f"its encoding, {error.encoding}, lacks {error.object[error.start]!a}"
        raise LedgerAgentError(f"cannot write to standard output: {problem}") from None


def _drop(stream: TextIO | None) -> None:
    """Points the stream to nowhere, for what it still holds."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, cast(TextIO, stream).fileno())
        os.close(nowhere)
