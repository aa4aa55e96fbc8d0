"""A progress bar for long input: on stderr, only for a person, only where it takes a while."""

from __future__ import annotations

import os
import sys
import time

from ledgeragent.cli.places import bytes_in
from ledgeragent.cli.streams import is_quiet, raw
from ledgeragent.offline.piece import Piece

_PATIENCE = 1.0
_PAUSE = 0.2
_WIDTH = 30


class Progress:
    """Shows how much of some files was read. Use as a context; call it with each piece done."""

    def __init__(self, files: list[str]) -> None:
        is_shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not is_quiet()
        self._total = bytes_in(files) if is_shown and "-" not in files else 0
        self._shown = False
        self._quiet = not (self._total and is_shown)
        self._next = time.monotonic() + _PATIENCE
        self._before = 0
        self._file = ""
        self._position = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._shown:
            raw(sys.stderr).write("\r\x1b[K")
            sys.stderr.flush()

    def __call__(self, piece: Piece) -> None:
        """Takes note that everything up to `piece` is done."""
        if self._quiet:
            return
        if piece.file != self._file or piece.position < self._position:
            self._before += self._position
            self._file = piece.file
        self._position = piece.position
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _PAUSE
            self._show(min(1.0, (self._before + self._position) / self._total))

    def _show(self, share: float) -> None:
        self._shown = True
        bar = ("#" * round(share * _WIDTH)).ljust(_WIDTH, ".")
        raw(sys.stderr).write(f"\r[{bar}] {share:4.0%}")
        sys.stderr.flush()
