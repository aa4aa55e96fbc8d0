"""What is proven of a chain of a journal, as `ledgeragent journal verify` prints it."""

from __future__ import annotations

from collections.abc import Iterator

from ledgeragent.journal.proof import Proof


def print_proof(name: str, proof: Proof, key: str | None) -> None:
    """Prints what speaks against a chain, or that nothing does, and what is to be noted."""
    for fault in proof.faults:
        print(f"{name}: {fault}")
    if not proof.faults:
        chain = proof.chain
        print(f"{name}: {chain.records} records intact, head {chain.head}")
    for note in (*proof.chain.notes, *_unproven(proof, key)):
        print(f"{name}: note: {note}")


def _unproven(proof: Proof, key: str | None) -> Iterator[str]:
    """What nobody can tell from what was given."""
    if proof.chain.old:
        yield (
            f"{proof.chain.old} records are in the format of 0.1.0, which has no signed heads: who wrote "
            "them cannot be proven"
        )
    if not proof.heads:
        yield (
            "there is no head to compare with (--head, --key): that the last records are gone, or all of "
            "it was written anew, could not be seen"
        )
    elif key is None:
        yield (
            f"{proof.heads} heads fit, the last at record {proof.covers}; who took them is not checked "
            "(--key), and what came later could be gone"
        )
