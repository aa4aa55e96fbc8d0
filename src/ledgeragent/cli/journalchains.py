"""`ledgeragent journal` on a database, where each writer has a chain of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from ledgeragent.cli.journalproof import print_proof
from ledgeragent.journal import Checkpoints, Head, Store, verify
from ledgeragent.journal.chains import prove_all
from ledgeragent.journal.chainwriter import utc_now
from ledgeragent.journal.checkpoints import signer_of
from ledgeragent.journal.places import head_place
from ledgeragent.journal.postgres import MergedChains


def verify_all(store: Store, args: argparse.Namespace) -> int:
    """Says of every chain whether it is whole, and of the database whether one is missing."""
    assert isinstance(store, MergedChains)
    proof = prove_all(store, head_files=args.heads, key=args.key, since=args.since)
    for name, each in proof.proofs.items():
        print_proof(f"{args.file}: chain {name}", each, args.key)
    for fault in proof.faults:
        print(f"{args.file}: {fault}")
    for note in proof.notes:
        print(f"{args.file}: note: {note}")
    return 0 if proof.holds else 1


def head(store: Store, args: argparse.Namespace) -> int:
    """Prints the head of every chain as it is now, and sends it where heads are kept."""
    assert isinstance(store, MergedChains)
    places = tuple(map(head_place, args.places))
    checkpoints = Checkpoints(signer=signer_of(args.key, args.key_env), places=places)
    heads = []
    for each in store.chains():
        chain = verify(each, buried=each.erased())
        if not chain.intact:
            problem = f"chain {each.chain}: {chain.problem}"
            print(f"ledgeragent: {args.file}: {problem}", file=sys.stderr)
            return 1
        if chain.records:
            heads.append(
                Head(
                    records=chain.records,
                    hash=chain.head,
                    time=utc_now(),
                    origin=chain.origin,
                )
            )
    for each_head in heads:
        print(checkpoints.keep(each_head).line())
    return 0 if heads and not checkpoints.close() else 1


def chains_of(store: Store) -> Mapping[str, Store]:
    """Each chain of a database, by what it is called in a warning."""
    assert isinstance(store, MergedChains)
    return {f"chain {each.chain}: ": each for each in store.chains()}
