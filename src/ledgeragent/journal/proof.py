"""What can be proven of a journal: its chain, by the heads that were kept and the key that signed them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path as File

from ledgeragent.errors import DataError
from ledgeragent.journal.chain import Chain, verify
from ledgeragent.journal.checkpoints import heads_beside
from ledgeragent.journal.heads import Head, read_heads
from ledgeragent.journal.sealing import parsed
from ledgeragent.journal.signing import signature_check
from ledgeragent.journal.stores import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A checked journal: `heads` are how many it came past, the last of which `covers` so many records.

    `faults` are all that speaks against it; it holds where there are none.
    """

    chain: Chain
    heads: int
    covers: int
    faults: tuple[str, ...]


def prove(
    store: Store,
    file: str,
    *,
    head_files: Iterable[str] = (),
    key: str | None = None,
    since: datetime | None = None,
) -> Proof:
    """The proof for a journal, by the heads beside it and those of `head_files`.

    Each of `head_files` must hold a head of this journal. With a `key` (a PEM file) every head must be
    signed by it, and they must cover the whole journal.
    """
    beside = heads_beside(file)
    places = {str(place): [*read_heads(File(place))] for place in head_files}
    strangers = _strangers(places, origin_of(store))
    if beside.exists():
        places.setdefault(str(beside), [*read_heads(beside)])
    heads = [head for several in places.values() for head in several]
    proof = proven(store, heads, key=key, since=since)
    return replace(proof, faults=(*strangers, *proof.faults))


def _strangers(places: Mapping[str, Sequence[Head]], origin: str) -> list[str]:
    """Files of heads that say nothing of this journal, which heads beside it must not make up for."""
    return [
        f"there is no head of this journal in {place}: it was written anew from its first record on, or "
        "the file is of another one"
        for place, heads in places.items()
        if all(head.origin != origin for head in heads)
    ]


def proven(
    store: Store,
    heads: Sequence[Head],
    *,
    key: str | None = None,
    since: datetime | None = None,
    links: Iterable[Head] = (),
    buried: Iterable[int] = (),
) -> Proof:
    """The proof for one chain by these heads, of which those of other journals count for nothing.

    `links` are what other chains tell of it, `buried` the numbers of records that they tell were erased.
    """
    origin = origin_of(store)
    own = [head for head in heads if head.origin == origin]
    faults = list(_head_faults(heads, own, key))
    if key is not None:
        check = signature_check(key)
        unsigned = [head for head in own if not head.is_signed_by(check)]
        faults += [_forged(head) for head in unsigned[:1]]
        own = [head for head in own if head not in unsigned]
    chain = verify(store, heads=(*own, *links), since=since, buried=buried)
    covers = max((head.records for head in own), default=0)
    faults += _chain_faults(chain)
    if key is not None and own and chain.intact and covers < chain.records:
        faults.append(
            f"the last {chain.records - covers} records are covered by no signed head: they are being "
            "written, or their writer was killed, or somebody else added them"
        )
    return Proof(chain=chain, heads=len(own), covers=covers, faults=tuple(faults))


def origin_of(store: Store) -> str:
    """The hash of the first record, by which the heads of this journal are known."""
    try:
        return str(parsed(next(iter(store.lines()), "{}")).get("hash", ""))
    except (ValueError, DataError):
        return ""


def _head_faults(heads: Sequence[Head], own: list[Head], key: str | None) -> Iterator[str]:
    if heads and not own:
        yield (
            "none of the heads is of this journal: it was written anew from its first record on, or "
            "they are of another one"
        )
    elif key is not None and not heads:
        yield "there is no signed head, so that the key proves nothing"


def _forged(head: Head) -> str:
    return f"the head of {head.time} at record {head.records} is not signed by this key"


def _chain_faults(chain: Chain) -> Iterator[str]:
    if chain.problem is not None:
        yield f"{chain.problem}; the {chain.records} before it are intact"
    elif chain.torn:
        yield f"{chain.records} records intact, then {chain.torn} bytes of a torn one"
    elif not chain.records:
        yield "there is no record in it"
    yield from chain.doubts
