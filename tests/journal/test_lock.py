"""The lock of a journal: one writer at a time, whatever ends the one before, on either system."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ledgeragent.errors import DataError, UsageError
from ledgeragent.journal import open_store
from ledgeragent.journal.lock import WriterLock
from tests.journal.reading import records_of

NAMES = ["journal.jsonl", "journal.sqlite"]

HOLDER = (
    "import sys\n"
    "from ledgeragent.journal import open_store\n"
    "store = open_store(sys.argv[1], writable=True)\n"
    "print('held', flush=True)\n"
    "sys.stdin.read()\n"
)


def holder(file: Path) -> subprocess.Popen[str]:
    """Another process that has the journal open for writing."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None and child.stdout.readline() == "held\n"
    return child


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("end", ["exit", "crash"])
def test_another_process_is_refused_until_the_first_has_ended(
    tmp_path: Path, name: str, end: str
) -> None:
    file = tmp_path / name
    child = holder(file)
    with child:
        with pytest.raises(UsageError, match="another process is writing this journal"):
            open_store(file, writable=True)
        open_store(file).close()
        if end == "crash":
            child.kill()
        else:
            child.communicate()
    store = open_store(file, writable=True)
    store.append("{}")
    store.close()
    assert records_of(file) == [{}]


class FakeLocks(ModuleType):
    """`msvcrt` as Windows has it: a lock on bytes of a file, mandatory, gone with its handle."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.places: dict[tuple[int, int], int] = {}

    def locking(self, handle: int, mode: int, count: int) -> None:
        """Locks `count` bytes from where the handle stands, or raises at once."""
        assert (mode, count, os.lseek(handle, 0, os.SEEK_CUR)) == (self.LK_NBLCK, 1, 0)
        status = os.fstat(handle)
        place = (status.st_dev, status.st_ino)
        owner = self.places.get(place, handle)  # a number comes again once its file is closed
        if owner != handle and is_open(owner, place):
            raise OSError(errno.EACCES, "Permission denied")
        self.places[place] = handle

    def holds(self, file: Path) -> bool:
        """True if somebody holds a lock on this file."""
        place = (file.stat().st_dev, file.stat().st_ino)
        return place in self.places and is_open(self.places[place], place)


def is_open(handle: int, place: tuple[int, int]) -> bool:
    """True if a handle is still one on that file."""
    try:
        status = os.fstat(handle)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == place


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> FakeLocks:
    """A system that has `msvcrt` and no `fcntl`."""
    locks = FakeLocks()
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", locks)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    return locks


@pytest.mark.parametrize("name", NAMES)
def test_windows_refuses_a_second_writer_and_locks_no_file_that_is_read(
    windows: FakeLocks, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    store = open_store(file, writable=True)
    with pytest.raises(UsageError, match="another process is writing this journal"):
        open_store(file, writable=True)
    store.append("{}")
    assert records_of(file) == [{}]
    assert windows.holds(tmp_path / f"{name}.lock") and not windows.holds(file)
    store.close()
    assert not windows.holds(tmp_path / f"{name}.lock")
    open_store(file, writable=True).close()


def test_a_refused_writer_leaves_no_open_handle(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    store = open_store(file, writable=True)
    before = os.dup(0)
    os.close(before)
    for _ in range(3):
        with pytest.raises(UsageError):
            open_store(file, writable=True)
    after = os.dup(0)
    os.close(after)
    store.close()
    assert after == before


def test_a_place_where_no_lock_can_stand_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        WriterLock(tmp_path / "missing" / "journal.sqlite", beside=True)
