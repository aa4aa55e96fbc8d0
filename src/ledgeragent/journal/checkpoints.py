"""Checkpoints of a journal that is being written: when its head is signed and sent elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as File
from typing import Literal, TypeAlias

from ledgeragent.errors import UsageError
from ledgeragent.journal.heads import Head, read_heads
from ledgeragent.journal.places import HeadPlace, head_place
from ledgeragent.journal.signing import Signer

Sync: TypeAlias = Literal["always", "checkpoint", "never"]
"""When records are forced to the disk. Until then a system that loses power may lose them."""

EVERY = 1000
"""Records from one checkpoint to the next."""


_ADDRESSES = ("postgres://", "postgresql://")


def is_address(place: File | str) -> bool:
    """True for what names a Postgres database, and no file."""
    return str(place).startswith(_ADDRESSES)


def heads_beside(file: File | str) -> File:
    """The file beside a journal in which its signed heads stand."""
    return File(f"{file}.heads")


@dataclass(frozen=True, kw_only=True)
class Checkpoints:
    """After how many records a head is taken, who signs it (None: nobody) and where it goes.

    `earlier` are the heads that were found; of these the journal has to come past its `own`. After
    `rotate` records (0: never) a journal in a database goes on in a new chain.
    """

    signer: Signer | None = None
    places: Sequence[HeadPlace] = ()
    every: int = EVERY
    sync: Sync = "checkpoint"
    rotate: int = 0
    earlier: Sequence[Head] = ()

    @cached_property
    def own(self) -> tuple[Head, ...]:
        """The earlier heads that the signer took: one that anybody could have added proves nothing."""
        if self.signer is None:
            return tuple(self.earlier)
        return tuple(head for head in self.earlier if head.is_signed_by(self.signer.has_signed))

    @property
    def covered(self) -> int:
        """How many records the last of these heads covers."""
        return max((head.records for head in self.own), default=0)

    def keep(self, head: Head) -> Head:
        """Signs a head and sends it to every place."""
        signed = head if self.signer is None else head.signed(self.signer)
        for place in self.places:
            place.keep(signed.line())
        return signed

    def close(self) -> int:
        """Waits for the places, for a few seconds each at most; how many heads were not taken."""
        return sum(place.close() or 0 for place in self.places)


NO_CHECKPOINTS = Checkpoints()
"""Nothing is signed or sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointPlan:
    """What options say of checkpoints: the `key` by its file or by a variable, and the rest as text."""

    key: str | None = None
    key_variable: str | None = None
    places: tuple[str, ...] = ()
    every: int = EVERY
    sync: Sync = "checkpoint"
    rotate: int = 0

    @property
    def is_used(self) -> bool:
        """True if there is a key, or a place for heads."""
        return bool(self.key or self.key_variable or self.places)

    def checkpoints(self, journal: File | str) -> Checkpoints:
        """The checkpoints of a journal. Signed heads stand beside it, and at the places besides."""
        signer = signer_of(self.key, self.key_variable)
        # A database keeps them itself, beside the chain that its writer takes up.
        beside = None if signer is None or is_address(journal) else heads_beside(journal)
        files = (str(beside),) if beside is not None else ()
        return Checkpoints(
            signer=signer,
            places=tuple(map(head_place, (*files, *self.places))),
            every=self.every,
            sync=self.sync,
            rotate=self.rotate,
            earlier=tuple(read_heads(beside)) if beside is not None and beside.exists() else (),
        )


def signer_of(file: str | None, variable: str | None) -> Signer | None:
    """The private key by its file or by a variable of the environment; None where neither is named."""
    if file and variable:
        raise UsageError("name the key's file or its variable, not both")
    if variable:
        return Signer.of_environment(variable)
    return Signer.of_file(file) if file else None
