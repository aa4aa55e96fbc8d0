"""Run lines: JSON Lines of a benchmark's runs, decoded straight into the fields of their messages.

A file of runs holds one like the other, so the first says which fields they have. It is read as any record
is, and so is each line that differs from it, or holds what is not expected: what a line says does not
depend on the way in which it was read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeAlias

from ledgeragent.errors import DataError
from ledgeragent.files.decoding import behind_calls
from ledgeragent.files.limits import surely_fits
from ledgeragent.offline.forms.form import Dialogue
from ledgeragent.offline.lines import stripped_line
from ledgeragent.types import Json

try:
    import msgspec
except ImportError:
    _fast: Any = None
else:
    _fast = msgspec

_MESSAGES = "messages"
_OTHER_WAYS = frozenset(("traj", "simulations"))
"""Fields of records that may hold their messages elsewhere."""
_MOST_FIELDS = 64
_CALLS = 8
"""More than stand before any other decoding: what is nested so deep that it matters is left to that."""


class PlainRun(NamedTuple):
    """A run whose messages are decoded into fields, and the text that it was read from."""

    dialogue: Dialogue
    text: bytes


_Decoder: TypeAlias = Callable[[bytes], PlainRun | None]


class RunLines:
    """The lines of a piece of a file, of which the first was read."""

    def __init__(self) -> None:
        self._decoder: _Decoder | None = None

    def begin(self, first: Json, size: int) -> None:
        """Expects runs with the fields of this record, which is one of a benchmark's.

        `size` is that of all the lines, in bytes. Where they may take more memory than is allowed, each is
        read as any record.
        """
        if _fast is not None and surely_fits(size) and isinstance(first, dict):
            self._decoder = _decoder(tuple(first))

    def value(self, text: bytes, file: str, line: int) -> Json | DataError | PlainRun:
        """The run that a line holds; what `stripped_line` makes of it where it is none of these."""
        run = self._decoder(text) if self._decoder is not None else None
        return stripped_line(text, file, line) if run is None else run


@lru_cache(16)
def _decoder(fields: tuple[str, ...]) -> _Decoder | None:
    """What reads the text of a run with these fields; None where they are none that can be read so."""
    expected = {"benchmark", _MESSAGES}.issubset(fields) and not _OTHER_WAYS.intersection(fields)
    if not expected or len(fields) > _MOST_FIELDS:
        return None
    from ledgeragent.offline.forms.chatfields import ChatMessage, write_fields

    names = {f"field_{number}": field for number, field in enumerate(fields)}
    kinds = [(n, list[ChatMessage] if f == _MESSAGES else Any) for n, f in names.items()]
    try:
        fast_record = _fast.defstruct(
            "fast_record", kinds, rename=names, forbid_unknown_fields=True, gc=False
        )
    except ValueError:  # a name with a quote, or the like
        return None
    decode = partial(_fast.json.Decoder(fast_record).decode)
    values = _fast.structs.astuple

    def run(text: bytes) -> PlainRun | None:
        try:
            record = dict(zip(fields, values(behind_calls(decode, text, _CALLS)), strict=True))
        except (_fast.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        messages, benchmark = record[_MESSAGES], record["benchmark"]
        if not messages or not benchmark or type(benchmark) is not str:
            return None
        return PlainRun(Dialogue(record, partial(write_fields, messages)), text)

    return run
