"""Several chains in one database: what is proven of all of them, and what they tell of each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path as File

from ledgeragent.errors import DataError
from ledgeragent.journal.crossreferences import CrossReferences
from ledgeragent.journal.database import DatabaseError
from ledgeragent.journal.heads import Head, read_heads
from ledgeragent.journal.postgres import MergedChains, PostgresStore
from ledgeragent.journal.proof import Proof, origin_of, proven


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseProof:
    """The proofs of all chains by their names. `faults` and `notes` are of the database as a whole."""

    proofs: Mapping[str, Proof]
    faults: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """True if nothing speaks against any of them."""
        return not self.faults and not any(proof.faults for proof in self.proofs.values())


def prove_all(
    merged: MergedChains,
    *,
    head_files: Iterable[str] = (),
    key: str | None = None,
    since: datetime | None = None,
) -> DatabaseProof:
    """The proof of every chain, by the heads that the database keeps and those of `head_files`."""
    by_file = {file: [*read_heads(File(file))] for file in head_files}
    elsewhere = [head for heads in by_file.values() for head in heads]
    try:
        references = CrossReferences.read(merged.base)
        chains = {store.chain: store for store in merged.chains()}
    except DatabaseError as problem:
        raise DataError(str(problem), file=merged.base.shown) from None
    proofs: dict[str, Proof] = {}
    origins = {head.origin for head in references.dropped.values()}
    for name, store in chains.items():
        origin = origin_of(store)
        origins.add(origin)
        heads = [*store.heads(), *(head for head in elsewhere if head.origin == origin)]
        if origin or heads:  # else its writer has just begun it
            proofs[name] = proven(
                store,
                heads,
                key=key,
                since=since,
                links=references.links.get(name, ()),
                buried=references.erased.get(name, ()),
            )
    foreign = (head for head in elsewhere if head.origin not in origins)
    faults = [*map(_foreign, foreign), *_gone(references, chains)]
    faults += [f"there is no head in {file}" for file, heads in by_file.items() if not heads]
    if not proofs:
        faults.append("there is no record in it")
    notes = tuple(
        f"chain {name} was taken out on {head.time}: {head.records} records"
        for name, head in references.dropped.items()
    )
    return DatabaseProof(proofs=proofs, faults=tuple(faults), notes=notes)


def _foreign(head: Head) -> str:
    return f"a head of {head.time} tells of a chain of {head.records} records that is not there"


def _gone(references: CrossReferences, chains: Mapping[str, PostgresStore]) -> Iterator[str]:
    """The chains that others go on from, and that nobody tells were taken out as they were."""
    for name, links in references.links.items():
        end = references.dropped.get(name)
        for link in links:
            if name not in chains and (end is None or end.records < link.records):
                yield f"chain {name} is gone, and another one goes on from its record {link.records}"
