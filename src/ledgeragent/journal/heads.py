"""Heads of journals: how many records there were, and the hash of the last, signed where there is a key.

A head that stands where the journal's writer cannot change it is what a forgery does not match.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path as File

from ledgeragent.errors import DataError
from ledgeragent.files.reading import read_bytes
from ledgeragent.journal.signing import SignatureCheck, Signer
from ledgeragent.types import Json, canonical

HEAD_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The state of a journal at a `time` (UTC): its number of `records` and the `hash` of the last.

    `origin` is the hash of the journal's first record, by which heads of several journals in one place
    are told apart. `occasion` is why it was taken: count, close or asked. `key` tells by which key it is
    signed, if it is.
    """

    records: int
    hash: str
    time: str
    origin: str
    occasion: str = "asked"
    key: str = ""
    signature: str = ""

    def signed(self, signer: Signer) -> Head:
        """The head with a signature."""
        bare = replace(self, key=signer.name, signature="")
        return replace(bare, signature=base64.b64encode(signer.sign(bare.message())).decode())

    def is_signed_by(self, check: SignatureCheck) -> bool:
        """True if its signature is that of this key."""
        try:
            signature = base64.b64decode(self.signature, validate=True)
        except ValueError:
            return False
        return check(signature, replace(self, signature="").message())

    def message(self) -> bytes:
        """What is signed."""
        return canonical({**self.data(), "signature": None}).encode("utf-8", "surrogatepass")

    def line(self) -> str:
        """The head as JSON on one line."""
        return canonical(self.data())

    def data(self) -> dict[str, Json]:
        """The head as JSON has it."""
        return {
            "checkpoint": HEAD_VERSION,
            "records": self.records,
            "head": self.hash,
            "time": self.time,
            "occasion": self.occasion,
            "origin": self.origin,
            "key": self.key,
            "signature": self.signature,
        }


def read_heads(file: File) -> Iterator[Head]:
    """The heads of a file, one a line; DataError with the line for what is none.

    A part of one at the end, where a system lost power, counts as nothing.
    """
    for number, line in enumerate(io.BytesIO(read_bytes(file)), start=1):
        if not line.strip():
            continue
        try:
            yield head_of(json.loads(line))
        except (ValueError, RecursionError) as problem:
            if not line.endswith(b"\n"):
                return
            raise DataError(f"this is no head: {problem}", file=str(file), line=number) from None


def head_of(data: Json) -> Head:
    """The head for its data; ValueError if it is none."""
    if not isinstance(data, Mapping) or data.get("checkpoint") != HEAD_VERSION:
        raise ValueError(f"`checkpoint` is not {HEAD_VERSION}")
    for key in ("head", "time", "origin", "occasion", "key", "signature"):
        if not isinstance(data.get(key), str):
            raise ValueError(f"`{key}` is no text")
    if type(data.get("records")) is not int or data["records"] < 1:
        raise ValueError("`records` is no number of records")
    return Head(
        records=data["records"],
        hash=data["head"],
        time=data["time"],
        occasion=data["occasion"],
        origin=data["origin"],
        key=data["key"],
        signature=data["signature"],
    )
