"""What the chains of a database tell of each other."""

from __future__ import annotations

from dataclasses import dataclass, field

from ledgeragent.journal.database import JournalDatabase
from ledgeragent.journal.heads import Head
from ledgeragent.journal.sealing import Event, parsed


@dataclass(slots=True)
class CrossReferences:
    """What chains tell of each other, by the name of the chain that is told of.

    `links` are where others go on from it, `erased` its records that were, `dropped` its end.
    """

    links: dict[str, list[Head]] = field(default_factory=dict)
    erased: dict[str, set[int]] = field(default_factory=dict)
    dropped: dict[str, Head] = field(default_factory=dict)

    @classmethod
    def read(cls, base: JournalDatabase) -> CrossReferences:
        """All that stand in a database; what is none is passed over, and is no proof of anything."""
        references = cls()
        for _, line in base.telling():
            try:
                references._add(parsed(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
        return references

    def _add(self, record: Event) -> None:
        event = record["event"]
        if event == "erased":
            for chain, seqs in record["chains"].items():
                self.erased.setdefault(chain, set()).update(seqs)
        if event not in ("continued", "dropped"):
            return
        head = Head(
            records=int(record["records"]),
            hash=str(record["head"]),
            time=str(record["time"]),
            origin=str(record.get("origin", "")),
        )
        if event == "dropped":
            self.dropped[record["chain"]] = head
        else:
            self.links.setdefault(record["chain"], []).append(head)
