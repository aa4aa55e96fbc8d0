"""Sessions of the OpenAI Agents SDK, as its SQLite store keeps them: Responses items by session."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from ledgeragent.errors import DataError
from ledgeragent.files.documents import parse_document
from ledgeragent.files.limits import MEMORY, memory_of, most_bytes
from ledgeragent.files.reading import opened, read_bytes
from ledgeragent.offline.forms.form import Dialogue, Form, inside
from ledgeragent.offline.forms.responses import write_items
from ledgeragent.types import Json

MAGIC = b"SQLite format 3\x00"
_TABLE = "agent_messages"
_STEPS = 100_000
_MOST_ROUNDS = 2_000
_TOO_LARGE = f"it would take more memory than one document may; {MEMORY.name} raises that"


def sessions_in(database: bytes) -> Json:
    """The sessions of a database; raises ValueError where it is another one, or too large."""
    if len(database) > _most_bytes():
        raise ValueError(_TOO_LARGE)
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(_settled(database))
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, most_bytes())
        connection.set_progress_handler(_Patience(), _STEPS)
        _require_table(connection)
        rows = _bounded(
            connection.execute(
                f"select session_id, message_data from {_TABLE} order by session_id, id"
            )
        )
    except (sqlite3.Error, OverflowError) as problem:
        raise ValueError(
            f"an SQLite database, and none with sessions of the Agents SDK: {problem}"
        ) from None
    finally:
        connection.close()
    sessions: dict[str, list[Json]] = {}
    for session, item in rows:
        sessions.setdefault(session, []).append(_item(item, session))
    return {"agents_sdk_sessions": [{"id": name, "items": i} for name, i in sessions.items()]}


def _most_bytes() -> int:
    """How many bytes of a database are read: they are held six times until its rows are known."""
    return (MEMORY.value << 20) // 6


def _item(text: str, session: str) -> Json:
    try:
        return parse_document(text.encode("utf-8", "surrogatepass"), "")
    except DataError as refusal:
        raise ValueError(f"session {session!r:.60} holds an item: {refusal.problem}") from None


class _Patience:
    """Ends a query that does more than the rows of a database need: a view can go on for good."""

    def __init__(self) -> None:
        self._left = _MOST_ROUNDS

    def __call__(self) -> bool:
        """True where it is enough."""
        self._left -= 1
        return self._left < 0


def _require_table(connection: sqlite3.Connection) -> None:
    """ValueError for a view, or a table that computes its columns: neither stands in the file."""
    kinds = connection.execute(
        "select type from sqlite_master where name = ?", (_TABLE,)
    ).fetchall()
    hidden = [row[6] for row in connection.execute(f"pragma table_xinfo({_TABLE})")]
    if kinds and (kinds != [("table",)] or any(hidden)):
        raise ValueError(f"{_TABLE} is no table of rows that were stored")


def _bounded(rows: Iterable[tuple[Json, Json]]) -> list[tuple[str, str]]:
    bounded: list[tuple[str, str]] = []
    size = 0
    for number, (session, item) in enumerate(rows, 1):
        if not isinstance(session, str) or not isinstance(item, str | bytes):
            raise ValueError(f"row {number} of {_TABLE} holds no text")
        size += memory_of(item.encode("utf-8", "surrogatepass") if isinstance(item, str) else item)
        if size > MEMORY.value << 20:
            raise ValueError(_TOO_LARGE)
        bounded.append((session, item if isinstance(item, str) else item.decode()))
    return bounded


def _settled(database: bytes) -> bytes:
    """The database without its mark that a journal may lie beside it, with which it cannot be opened."""
    return database[:18] + b"\x01\x01" + database[20:]


def holds_sessions(file: Path) -> bool:
    """True for a database with sessions of the Agents SDK."""
    try:
        with opened(file) as stream:
            content = stream.read(_most_bytes()) if stream.read(len(MAGIC)) == MAGIC else b""
        sessions_in(MAGIC + content)
    except (OSError, ValueError, DataError):
        return False
    return True


def with_journal(file: str, database: bytes) -> bytes:
    """The database with what its write-ahead journal holds; raises ValueError where that cannot be read."""
    journal = Path(f"{file}-wal")
    if not journal.is_file() or not journal.stat().st_size:
        return database
    if len(database) + journal.stat().st_size > most_bytes():
        raise MEMORY.refusal("with its journal it would take more memory than it may", file)
    changes = read_bytes(journal, MEMORY)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        copy.write_bytes(database)
        Path(f"{copy}-wal").write_bytes(changes)
        connection = sqlite3.connect(copy)
        try:
            if _size(connection) > most_bytes():
                raise MEMORY.refusal("it would take more memory than one document may", file)
            return connection.serialize()
        except sqlite3.Error as problem:
            raise ValueError(f"its write-ahead journal cannot be read: {problem}") from None
        finally:
            connection.close()


def _size(connection: sqlite3.Connection) -> int:
    """The bytes that a database says it has, which a journal can say without holding them."""
    (pages,), (size,) = (
        connection.execute(f"pragma {name}").fetchone() for name in ("page_count", "page_size")
    )
    return int(pages) * int(size)


def _talks(value: Json) -> Iterator[Dialogue]:
    for session in value["agents_sdk_sessions"]:
        yield _talk(session)


def _talk(session: Json) -> Dialogue:
    return Dialogue({"id": session["id"]}, lambda scribe: write_items(session["items"], scribe))


def _unfit(value: Json) -> str | None:
    sessions = inside(value, "agents_sdk_sessions")
    return None if isinstance(sessions, list) else "no SQLite database"


FORM = Form(
    name="agents-sdk",
    title="OpenAI Agents SDK sessions",
    looks="an SQLite database with the table `agent_messages`",
    unfit=_unfit,
    dialogues=_talks,
)
