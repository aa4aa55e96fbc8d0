"""Sessions of the OpenAI Agents SDK, as its SQLite store keeps them: Responses items by session."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ledgeragent.offline.forms.form import Dialogue, Form, inside
from ledgeragent.offline.forms.responses import write_items
from ledgeragent.types import Json

MAGIC = b"SQLite format 3\x00"
_TABLE = "agent_messages"


def sessions_in(database: bytes) -> Json:
    """The sessions of a database; raises ValueError where it is another one."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(_settled(database))
        rows = connection.execute(
            f"select session_id, message_data from {_TABLE} order by session_id, id"
        ).fetchall()
    except sqlite3.Error as problem:
        raise ValueError(
            f"an SQLite database, and none with sessions of the Agents SDK: {problem}"
        ) from None
    finally:
        connection.close()
    sessions: dict[str, list[Json]] = {}
    for session, item in rows:
        sessions.setdefault(session, []).append(json.loads(item))
    return {"agents_sdk_sessions": [{"id": name, "items": i} for name, i in sessions.items()]}


def _settled(database: bytes) -> bytes:
    """The database without its mark that a journal may lie beside it, with which it cannot be opened."""
    return database[:18] + b"\x01\x01" + database[20:]


def holds_sessions(file: Path) -> bool:
    """True for a database with sessions of the Agents SDK."""
    try:
        with file.open("rb") as stream:
            content = stream.read() if stream.read(len(MAGIC)) == MAGIC else b""
        sessions_in(MAGIC + content)
    except (OSError, ValueError):
        return False
    return True


def with_journal(file: str, database: bytes) -> bytes:
    """The database with what its write-ahead journal holds; raises ValueError where that cannot be read."""
    journal = Path(f"{file}-wal")
    if not journal.is_file() or not journal.stat().st_size:
        return database
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        copy.write_bytes(database)
        Path(f"{copy}-wal").write_bytes(journal.read_bytes())
        connection = sqlite3.connect(copy)
        try:
            return connection.serialize()
        except sqlite3.Error as problem:
            raise ValueError(f"its write-ahead journal cannot be read: {problem}") from None
        finally:
            connection.close()


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
