"""The journal: every observation, proposal, verdict and execution, append-only and hash-chained.

One JSON record a line (or a row of SQLite), each with the hash of the one before it. A record is
handed to the operating system before the event it tells of goes on, so a process that is killed
loses nothing that anybody has seen.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path as File

from ledgeragent.absorb import Absorption
from ledgeragent.domain import Domain
from ledgeragent.errors import LedgerAgentError
from ledgeragent.gate import Filtered
from ledgeragent.journal.chainwriter import ChainWriter, Happening, Hear
from ledgeragent.journal.checkpoints import NO_CHECKPOINTS, Checkpoints
from ledgeragent.journal.heads import Head
from ledgeragent.journal.opening import open_to_write
from ledgeragent.journal.redaction import Redaction
from ledgeragent.journal.stores import Store
from ledgeragent.journal.verdicts import call_json, verdict_json
from ledgeragent.journal.vocabulary import vocabulary
from ledgeragent.types import Json, Reply, ToolCall, ToolReturn, UserMessage


def stamp_of(domain: Domain) -> Mapping[str, Json]:
    """Which pack, in which version, with which content."""
    return {"name": domain.name, "version": domain.version, "digest": domain.digest}


class Journal:
    """Writes the events of conversations. One per file; `session` tells conversations apart.

    Threads may share one.

    `redact` lists paths whose values are never written, e.g. `users.*.email`, `args.reason`,
    `params.code` or `text` (what was said); `*` stands for one segment, and everything below a listed
    path goes with it. Such a value is left out wherever it stands from then on. Reasons and returns
    that could repeat a redacted value are left out whole. `checkpoints` tells when the head is signed,
    where it is kept, and when all is forced to the disk.
    """

    def __init__(
        self,
        store: Store,
        domain: Domain,
        *,
        redact: Sequence[str] = (),
        checkpoints: Checkpoints = NO_CHECKPOINTS,
    ) -> None:
        self._stamp = stamp_of(domain)
        self._parameters = domain.parameters
        self._lock = threading.RLock()
        self._redaction = Redaction(redact, words=vocabulary(domain))
        self._hear: Hear | None = None
        self._chain = ChainWriter(store, checkpoints, self._stamp)

    @classmethod
    def open(
        cls,
        file: File | str,
        domain: Domain,
        *,
        redact: Sequence[str] = (),
        checkpoints: Checkpoints = NO_CHECKPOINTS,
    ) -> Journal:
        """The journal in this place, to be written on.

        That is a Postgres database by its address, SQLite for `.sqlite` and `.db`, else JSON Lines.
        """
        store, checkpoints = open_to_write(file, checkpoints)
        try:
            return cls(store, domain, redact=redact, checkpoints=checkpoints)
        except LedgerAgentError:
            store.close()
            raise

    def under(self, domain: Domain, *, redact: Sequence[str] = ()) -> Journal:
        """The same journal for another domain, such as a new version of a pack: one chain, two stamps."""
        other = copy(self)
        other._stamp = stamp_of(domain)
        other._parameters = domain.parameters
        other._redaction = Redaction(redact, self._redaction, words=vocabulary(domain))
        return other

    def telling(self, hear: Hear) -> Journal:
        """The same journal, which tells of each record that is written through it."""
        other = copy(self)
        other._hear = hear
        return other

    def keeps(self, domain: Domain) -> bool:
        """True if this domain's verdicts are what the journal is stamped for."""
        return self._stamp == stamp_of(domain) and self._parameters == domain.parameters

    def heard(self, session: str, message: UserMessage) -> None:
        """A message of the user."""
        self._write("heard", session, {"text": self._text(message.text)})

    def proposed(self, session: str, reply: Reply) -> None:
        """A reply as the model generated it."""
        calls = [call_json(call, self._redaction) for call in reply.calls]
        self._write("proposed", session, {"text": self._text(reply.text), "calls": calls})

    def judged(self, session: str, filtered: Filtered, *, shadow: bool = False) -> None:
        """The verdicts on a reply, with what else they hang on: the pack's parameters and the time.

        `shadow` marks verdicts that changed nothing.
        """
        verdicts = [verdict_json(verdict, self._redaction) for verdict in filtered.verdicts]
        time = {"now": filtered.now} if filtered.now else {}
        values = self._redaction.value(("params",), dict(self._parameters))
        parameters = {"parameters": values} if values else {}
        self._write(
            "judged", session, {"verdicts": verdicts, "shadow": shadow, **parameters, **time}
        )

    def observed(
        self, session: str, call: ToolCall, returned: ToolReturn, absorption: Absorption
    ) -> None:
        """The answer of a read, and where it was stored."""
        self._write("observed", session, self._returned(call, returned, absorption))

    def executed(
        self, session: str, call: ToolCall, returned: ToolReturn, absorption: Absorption
    ) -> None:
        """A call other than a read that ran, and what it answered."""
        self._write("executed", session, self._returned(call, returned, absorption))

    def checkpoint(self, occasion: str = "asked") -> Head:
        """Takes the head, signs it if there is a key, and sends it to where heads are kept."""
        with self._lock:
            return self._chain.checkpoint(occasion)

    def close(self) -> None:
        """Takes the last head and releases the store."""
        self._chain.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _write(self, event: str, session: str, data: Mapping[str, Json]) -> None:
        with self._lock:
            data, session = self._redaction.everywhere(data), self._redaction.name(session)
            self._chain.write(
                Happening(
                    event=event, session=session, stamp=self._stamp, data=data, hear=self._hear
                )
            )

    def _text(self, text: str) -> Json:
        return self._redaction.value(("text",), text)

    def _returned(
        self, call: ToolCall, returned: ToolReturn, absorption: Absorption
    ) -> Mapping[str, Json]:
        return {
            "call": call_json(call, self._redaction),
            "content": self._redaction.content(returned.content, absorption),
            "error": returned.error,
            "lost": returned.lost,
            "stored": [str(path) for path in absorption.stored],
            "skipped": self._redaction.text(absorption.skipped)
            if absorption.problems
            else absorption.skipped,
        }
