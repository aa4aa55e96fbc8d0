"""Heads on their way: to a system's log, and to a server of HTTP that takes them, refuses, or is slow."""

from __future__ import annotations

import json
import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.cli.main import main
from ledgeragent.errors import UsageError
from ledgeragent.journal import Journal
from ledgeragent.journal.checkpoints import CheckpointPlan
from ledgeragent.journal.courier import MOST_WAITING, Courier
from ledgeragent.journal.heads import read_heads
from ledgeragent.journal.places import head_place
from tests.journal.test_journal import BANK, play

POSIX = pytest.mark.skipif(os.name == "nt", reason="needs sockets and pipes as POSIX has them")


class Receiver(ThreadingHTTPServer):
    """A server that keeps what is posted, and answers with a status, after it was let."""

    daemon_threads = True

    def __init__(self, status: int = 204) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = status
        self.posted: list[tuple[str, bytes, str]] = []
        self.may_answer = threading.Event()
        self.may_answer.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/heads?key=s3cret"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.posted.append((self.path, body, self.headers.get("authorization", "")))
        self.server.may_answer.wait()
        self.send_response(self.server.status)
        self.send_header("location", "/login")
        self.end_headers()

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def receiver(status: int = 204) -> Iterator[Receiver]:
    with Receiver(status) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.may_answer.set()
            server.shutdown()
            thread.join()


@contextmanager
def system_log(kind: int) -> Iterator[tuple[str, socket.socket]]:
    """A log of the system, by a socket here or by UDP, with the place that names it."""
    with tempfile.TemporaryDirectory() as folder:
        family = socket.AF_UNIX if kind == socket.SOCK_STREAM else socket.AF_INET
        with socket.socket(family, kind) as listener:
            listener.settimeout(5)
            if kind == socket.SOCK_STREAM:
                listener.bind(f"{folder}/log")
                listener.listen()
                yield f"syslog:{folder}/log", listener
            else:
                listener.bind(("127.0.0.1", 0))
                yield f"syslog:127.0.0.1:{listener.getsockname()[1]}", listener


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with Journal.open(tmp_path / "j.jsonl", BANK) as journal:
        play(journal)
    return tmp_path / "j.jsonl"


def head_to(file: Path, place: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code of `journal head --to`, and the head that it printed."""
    code = main(["journal", "head", str(file), "--to", place])
    return code, capsys.readouterr().out.strip()


def test_a_head_is_posted(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with receiver() as server:
        url = server.url.replace("//", "//ann:pass%20word@")
        code, head = head_to(file, url, capsys)
        assert code == 0
        path, body, authorization = server.posted[0]
        assert (path, body.decode()) == ("/heads?key=s3cret", head)
        assert authorization == "Basic YW5uOnBhc3Mgd29yZA=="


@pytest.mark.parametrize("status", [302, 400, 500])
def test_what_was_not_taken_is_told(
    file: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, status: int
) -> None:
    """Also where the server sends on to another page, which would be asked for and answer 200."""
    with receiver(status) as server:
        assert head_to(file, server.url, capsys)[0] == 1
    assert f"a head of the journal not taken by 127.0.0.1: it answers {status}" in caplog.text
    assert "s3cret" not in caplog.text


def test_nobody_listens(
    file: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with receiver() as server:
        url = server.url
    assert head_to(file, url, capsys)[0] == 1
    assert "not taken by 127.0.0.1: Connection refused" in caplog.text
    assert main(["journal", "erase", str(file), "--session", "s1", "--to", url]) == 1
    assert "erased" in capsys.readouterr().out


@pytest.mark.parametrize(
    "url", ["http://", "http://h\nx/?key=s3cret", "http://[::1/?s3cret", "http://u:s3cret@h:p/"]
)
def test_an_address_that_cannot_be_used_shows_no_key(url: str) -> None:
    with pytest.raises(UsageError, match="cannot be posted to") as refusal:
        head_place(url)
    assert "s3cret" not in str(refusal.value)


def test_who_answers_no_http_is_told_without_what_he_says(
    file: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            peer, _ = listener.accept()
            peer.sendall(b"s3cret\x1b]0;\n\n")
            peer.shutdown(socket.SHUT_WR)
            while peer.recv(1 << 16):
                pass
            peer.close()

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        assert head_to(file, f"http://127.0.0.1:{listener.getsockname()[1]}", capsys)[0] == 1
        thread.join()
    assert "what it answers is no HTTP" in caplog.text and "s3cret" not in caplog.text


def test_a_slow_place_holds_no_record_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Heads wait for it one behind the other, in their order, and in the end not for long."""
    monkeypatch.setattr("ledgeragent.journal.courier.PATIENCE", 0.2)
    with receiver() as server:
        server.may_answer.clear()
        plan = CheckpointPlan(places=(server.url,), every=1)
        journal = Journal.open(
            tmp_path / "j.jsonl", BANK, checkpoints=plan.checkpoints(tmp_path / "j.jsonl")
        )
        play(journal)
        journal.close()
        assert len(server.posted) == 1
    assert "heads of the journal not taken by 127.0.0.1: it takes them too slowly" in caplog.text
    assert len((tmp_path / "j.jsonl").read_text().splitlines()) == 6


def test_all_heads_come_in_their_order(tmp_path: Path) -> None:
    with receiver() as server:
        plan = CheckpointPlan(places=(server.url,), every=1)
        checkpoints = plan.checkpoints(tmp_path / "j.jsonl")
        with Journal.open(tmp_path / "j.jsonl", BANK, checkpoints=checkpoints) as journal:
            play(journal)
        assert [json.loads(body)["records"] for _, body, _ in server.posted] == [1, 2, 3, 4, 5, 6]


def test_of_too_many_that_wait_the_oldest_are_given_up(caplog: pytest.LogCaptureFixture) -> None:
    may_go, sent = threading.Event(), list[str]()

    def send(line: str) -> None:
        may_go.wait()
        sent.append(line)

    courier = Courier("slow", send)
    for number in range(MOST_WAITING + 5):
        courier.keep(str(number))
    may_go.set()
    assert courier.close() == 5
    assert sent[-1] == str(MOST_WAITING + 4) and len(sent) <= MOST_WAITING + 1
    assert caplog.text.count("too slowly") == 5


@POSIX
@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_STREAM], ids=["udp", "socket"])
def test_a_head_comes_to_the_systems_log(
    file: Path, capsys: pytest.CaptureFixture[str], kind: int
) -> None:
    with system_log(kind) as (place, listener):
        code, head = head_to(file, place, capsys)
        message = b""
        while not message:  # a socket is tried once before anything is sent
            peer = listener.accept()[0] if kind == socket.SOCK_STREAM else listener
            message = peer.recv(1 << 16)
            peer.close()
    assert code == 0
    assert message.rstrip(b"\0").decode() == f"<14>ledgeragent: {head}"


@POSIX
def test_a_log_that_goes_away_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with system_log(socket.SOCK_STREAM) as (place, _):
        plan = CheckpointPlan(places=(place,))
        checkpoints = plan.checkpoints(tmp_path / "j.jsonl")
        journal = Journal.open(tmp_path / "j.jsonl", BANK, checkpoints=checkpoints)
    play(journal)
    journal.close()
    assert "a head of the journal not taken by syslog:/" in caplog.text


@pytest.mark.parametrize(
    "place", ["syslog:nowhere", "syslog:/no/such/socket", "syslog:h:99999", "syslog:h:999999"]
)
def test_no_log_of_the_system_answers(place: str) -> None:
    with pytest.raises(UsageError, match="syslog:"):
        head_place(place)


def test_a_head_that_was_half_written_is_cut_off(tmp_path: Path, file: Path) -> None:
    """As a system leaves it that loses power; the heads before it still speak."""
    kept = tmp_path / "kept"
    place = head_place(str(kept))
    for number in (1, 2):
        assert main(["journal", "head", str(file), "--to", str(kept)]) == 0
        if number == 1:
            kept.write_text(kept.read_text() + '{"checkpoint":1,"head":"ab')
            assert len([*read_heads(kept)]) == 1
    assert len([*read_heads(kept)]) == 2 and not place.close()


def test_a_head_that_does_not_fit_leaves_nothing(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    assert main(["journal", "head", str(file), "--to", str(kept)]) == 0
    before, write = kept.read_bytes(), os.write

    def write_half(handle: int, content: Any) -> int:
        if len(content) < 20:
            raise OSError(28, "No space left on device")
        return write(handle, content[: len(content) - 10])

    monkeypatch.setattr(os, "write", write_half)
    assert main(["journal", "head", str(file), "--to", str(kept)]) == 2
    assert kept.read_bytes() == before


def test_delivery_never_waits_long_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgeragent.journal.courier.PATIENCE", 0.1)
    courier = Courier("slow", lambda line: time.sleep(60))
    courier.keep("1")
    assert courier.close() == 1
