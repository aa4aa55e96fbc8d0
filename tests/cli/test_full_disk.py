"""A disk that is full, a link, and an open umask, for every verb that writes a file."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ledgeragent.cli.main import main
from tests.cli.command import RUNS, jsonl
from tests.fuzz.corpus import NAME, RESULTS, TOOLS

resource = pytest.importorskip("resource")
pytest.importorskip("cryptography")

HUNDRED_RUNS = jsonl(*RUNS) * 40
RUN, OUT = "runs.jsonl", "OUT"
WRITERS: dict[str, tuple[tuple[str, ...], int]] = {
    "page": (("view", RUN, "--domain", NAME, "-o", f"{OUT}.html"), 4096),
    "baseline": (("diff", RUN, "--domain", NAME, "--baseline", OUT, "--update"), 2048),
    "table": (("replay", RUN, "--domain", NAME, "--write", f"{OUT}.parquet"), 4096),
    "pack": (("mine", RUN, "--domain", "mined", "-o", OUT), 1024),
    "starter": (("init", "starter", "--tools", "tools.json", "--out", f"{OUT}.yaml"), 0),
    "report": (("bench", "report", "results.json", "--figures", "none", "-o", OUT), 1024),
    "lines": (("chat", "--scenario", "1", "--journal", f"{OUT}.jsonl"), 4096),
    "database": (("chat", "--scenario", "1", "--journal", f"{OUT}.db"), 44 * 1024),
    "key": (("journal", "keygen", OUT), 0),
    "heads": (("journal", "head", "kept.jsonl", "--to", OUT), 0),
    "erased": (("journal", "erase", f"{OUT}.jsonl", "--session", "SESSION"), 1024),
}
"""Each verb that writes, and of how many bytes its file may be where the disk is full."""


@contextmanager
def files_of(most: int) -> Iterator[None]:
    # Else modules that are imported meanwhile would leave half of their compiled form behind.
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
        monkeypatch.undo()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one file of each kind that the verbs read."""
    monkeypatch.chdir(tmp_path)
    Path(RUN).write_text(HUNDRED_RUNS)
    Path("tools.json").write_text(json.dumps(TOOLS))
    Path("results.json").write_text(json.dumps(RESULTS))
    assert main(["chat", "--scenario", "1", "--journal", "kept.jsonl"]) == 0
    return tmp_path


def words_of(writer: str) -> list[str]:
    """The words of a verb; what is to be erased from is there before."""
    words, _ = WRITERS[writer]
    if writer == "erased":
        Path(f"{OUT}.jsonl").write_bytes(Path("kept.jsonl").read_bytes())
    session = json.loads(Path("kept.jsonl").read_text().partition("\n")[0])["session"]
    return [session if word == "SESSION" else word for word in words]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_is_told_and_leaves_nothing_half(
    here: Path, capsys: pytest.CaptureFixture[str], writer: str
) -> None:
    words = words_of(writer)
    before = {file: file.read_bytes() for file in here.iterdir()}
    capsys.readouterr()
    with files_of(WRITERS[writer][1]):
        assert main(words) == 2
    err = capsys.readouterr().err
    assert OUT in err and ("File too large" in err or "disk" in err)
    assert {file: file.read_bytes() for file in before} == before
    made = [file for file in here.rglob("*") if file not in before and file.is_file()]
    if writer in ("lines", "database"):  # what stands in a journal is whole
        journal = next(file for file in made if file.suffix in (".jsonl", ".db"))
        assert main(["journal", "verify", str(journal)]) == 0
    else:
        assert [file for file in made if file.stat().st_size] == []
    assert [file.name for file in made if file.name.startswith(".")] == []


@pytest.mark.parametrize("mask", [0o000, 0o022], ids=["000", "022"])
@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_written_is_for_its_owner_alone(here: Path, writer: str, mask: int) -> None:
    words = words_of(writer)
    before = {*here.iterdir()}
    umask = os.umask(mask)
    try:
        assert main(words) in (0, 1)
    finally:
        os.umask(umask)
    made = [*(f for f in here.rglob("*") if f not in before and f.is_file())]
    made += [here / f"{OUT}.jsonl"] if writer == "erased" else []
    assert made
    assert {file.name for file in made if stat.S_IMODE(file.stat().st_mode) != 0o600} == set()


@pytest.mark.parametrize("kind", ["dangling", "file"])
@pytest.mark.parametrize("writer", [name for name in WRITERS if name != "erased"])
def test_no_link_is_written_through(
    here: Path, capsys: pytest.CaptureFixture[str], writer: str, kind: str
) -> None:
    target = here / "target"
    if kind == "file":
        target.write_text("not ours")
        target.chmod(0o644)
    words = words_of(writer)
    name = next(word for word in words if word.startswith(OUT))
    (here / name).symlink_to(target)
    assert main(words) == 2
    assert OUT in capsys.readouterr().err
    assert target.exists() == (kind == "file")
    if kind == "file":
        assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("not ours", 0o644)


@pytest.mark.parametrize("writer", ["page", "table"])
def test_the_runs_themselves_are_not_written_over(here: Path, writer: str) -> None:
    words, _ = WRITERS[writer]
    assert main([RUN if word.startswith(OUT) else word for word in words]) == 2
    assert Path(RUN).read_text() == HUNDRED_RUNS


def test_a_pipe_is_no_journal_to_write(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe.jsonl")
    assert main(["chat", "--scenario", "1", "--journal", "pipe.jsonl"]) == 2
    assert "pipe.jsonl" in capsys.readouterr().err
