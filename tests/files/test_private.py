"""What holds personal data is for its owner alone, whatever the umask, and whatever was there before."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledgeragent.errors import DataError, UsageError
from ledgeragent.files.private import write_private
from ledgeragent.journal import Journal
from ledgeragent.stores.base import SavedSession
from ledgeragent.stores.memory import Memory
from ledgeragent.stores.sqlite import SqliteSessions
from ledgeragent.types import UserMessage
from tests.lending.domain import LIBRARY

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")


@pytest.fixture(autouse=True, params=[0o022, 0o000], ids=["022", "000"])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {f.name: stat.S_IMODE(f.stat().st_mode) for f in folder.iterdir()}


def keep_journal(file: Path) -> dict[str, int]:
    with Journal.open(file, LIBRARY) as journal:
        journal.heard("s", UserMessage(text="My name is Ada."))
        return modes(file.parent)


def keep_torn(file: Path) -> dict[str, int]:
    keep_journal(file)
    with file.open("ab") as stream:
        stream.write(b'{"half": "of a rec')
    return keep_journal(file)


def keep_session(file: Path) -> dict[str, int]:
    async def scenario() -> dict[str, int]:
        store = SqliteSessions(str(file))
        await store.open()
        fresh = SavedSession(memory=Memory(session="1"))
        await store.save("session:1", await store.load("session:1") or fresh)
        names = modes(file.parent)
        await store.close()
        return names

    return asyncio.run(scenario())


def keep_page(file: Path) -> dict[str, int]:
    write_private(file, b"<p>Ada</p>")
    return modes(file.parent)


WRITERS: list[tuple[Callable[[Path], dict[str, int]], str, int]] = [
    (keep_journal, "journal.jsonl", 1),
    (keep_journal, "journal.sqlite", 4),
    (keep_torn, "journal.jsonl", 2),
    (keep_session, "sessions.db", 3),
    (keep_page, "page.html", 1),
]


@pytest.mark.parametrize(("keep", "name", "files"), WRITERS)
def test_every_file_is_its_owners_alone(
    tmp_path: Path, keep: Callable[[Path], dict[str, int]], name: str, files: int
) -> None:
    names = keep(tmp_path / name)
    assert len(names) == files
    assert set(names.values()) == {0o600}


@pytest.mark.parametrize(("keep", "name", "files"), WRITERS)
def test_what_was_open_to_all_is_closed(
    tmp_path: Path, keep: Callable[[Path], dict[str, int]], name: str, files: int
) -> None:
    keep(tmp_path / name)
    for file in tmp_path.iterdir():
        file.chmod(0o644)
    if keep is keep_session:
        (tmp_path / f"{name}-wal").touch(0o644)
    names = keep(tmp_path / name)
    assert {n: mode for n, mode in names.items() if mode != 0o600 and "torn" not in n} == {}


@pytest.mark.parametrize(("keep", "name", "files"), WRITERS[:-1])
def test_what_cannot_be_closed_is_not_used(
    tmp_path: Path,
    keep: Callable[[Path], dict[str, int]],
    name: str,
    files: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep(tmp_path / name)
    for file in tmp_path.iterdir():
        file.chmod(0o640)

    def refuse(*_: object) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr(os, "chmod", refuse)
    with pytest.raises(UsageError, match="chmod 600"):
        keep(tmp_path / name)


def test_a_locked_database_stays_locked(tmp_path: Path) -> None:
    """A second store in one process must not end the first one's locks by closing a handle."""
    file = tmp_path / "sessions.db"
    keep_session(file)
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    store = SqliteSessions(str(file))
    with pytest.raises(Exception, match="lock"):
        asyncio.run(store.open())
    holder.execute("COMMIT")
    holder.close()


def test_what_cannot_be_written_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "page.html"
    write_private(file, b"before")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(DataError, match="No space left"):
        write_private(file, b"after")
    assert file.read_bytes() == b"before"
    assert [f.name for f in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("there", [True, False])
def test_nothing_is_written_through_a_link(tmp_path: Path, there: bool) -> None:
    target, link = tmp_path / "target", tmp_path / "page.html"
    if there:
        target.write_text("not ours")
    link.symlink_to(target)
    with pytest.raises(UsageError, match="a link"):
        write_private(link, b"page")
    assert target.exists() == there and (not there or target.read_text() == "not ours")
