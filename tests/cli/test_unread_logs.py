"""Logs that nobody reads: a pipe that is full stops no request, and what is lost is told."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import aiohttp
import pytest

from ledgeragent.gateway import linequeue
from ledgeragent.gateway.accesslog import AccessLog
from ledgeragent.gateway.inbound import SESSION_HEADER
from ledgeragent.gateway.linequeue import LineQueue
from ledgeragent.types import Reply
from tests.gateway.processes import ROOT
from tests.gateway.upstream import Upstream
from tests.gateway.wires import CHAT
from tests.gateway.world import KNOWN, SAY, TOOLS, served

BODY = json.dumps(CHAT.request(KNOWN, TOOLS, False))
REQUESTS = 150
DOMAIN = ("--domain", "tests.lending.domain:LIBRARY")


def test_a_gateway_answers_though_nobody_reads_its_logs() -> None:
    """Each request writes some 500 bytes to either log; a pipe holds 65,536."""

    async def scenario() -> None:
        upstream = Upstream()
        upstream.script.extend([SAY] * REQUESTS)
        async with served(upstream.app()) as behind, aiohttp.ClientSession() as http:
            options = (*DOMAIN, "--upstream", behind, "--port", "0", "--access-log", "-")
            command = [sys.executable, "-m", "ledgeragent", "gateway", *options]
            pipe = subprocess.PIPE
            with subprocess.Popen(command, stdout=pipe, stderr=pipe, cwd=ROOT) as gateway:
                assert gateway.stdout is not None and gateway.stderr is not None
                url = f"http{gateway.stdout.readline().decode().split('http')[1].split('/v1')[0]}"

                async def ask(number: int) -> Reply:
                    headers = {SESSION_HEADER: f"{number:0200}"}
                    address = f"{url}{CHAT.path}"
                    async with http.post(address, data=BODY, headers=headers) as response:
                        return CHAT.read(await response.json())

                assert await asyncio.gather(*map(ask, range(REQUESTS))) == [SAY] * REQUESTS
                gateway.terminate()
                out, err = gateway.communicate(timeout=120)
                assert gateway.returncode == 0
                rows = [json.loads(line) for line in out.splitlines() if line.startswith(b"{")]
                assert len(out) > 1 << 16 < len(err)
                assert [row["status"] for row in rows] == [200] * REQUESTS
                assert err.count(b"did not release") == 2 * REQUESTS

    asyncio.run(scenario())


def test_what_has_no_room_is_counted_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linequeue, "MOST_WAITING", 3)
    written: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def write(line: str) -> None:
        begun.set()
        assert go_on.wait(30)
        written.append(line)

    lines = LineQueue(write, lambda lost: f"{lost} lost\n")
    lines.put("first\n")
    assert begun.wait(30)
    for number in range(5):
        lines.put(f"{number}\n")
    assert lines.lost == 2
    go_on.set()
    assert lines.close()
    assert written == ["first\n", "2 lost\n0\n", "1\n", "2\n"]


def test_what_cannot_be_written_is_counted_and_told() -> None:
    written: list[str] = []
    full = OSError(28, "no space left on device")

    def write(line: str) -> None:
        if line == "second\n":
            raise full
        written.append(line)

    lines = LineQueue(write, lambda lost: f"{lost} lost\n")
    for word in ("first", "second", "third", "second"):
        lines.put(f"{word}\n")
    assert lines.close() and lines.lost == 2
    assert written == ["first\n", "1 lost\nthird\n", "1 lost\n"]


def test_an_end_does_not_wait_for_who_never_reads() -> None:
    never = threading.Event()
    lines = LineQueue(lambda line: _waited(never), str)
    lines.put("first\n")
    assert not lines.close(0.1)
    never.set()


def _waited(event: threading.Event) -> None:
    event.wait(30)


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be renamed there")
def test_the_access_log_goes_on_in_the_file_of_its_name(tmp_path: Path) -> None:
    file = tmp_path / "access.jsonl"
    log = AccessLog(str(file))
    log.write({"request": "a"})
    log.close()
    log = AccessLog(str(file))
    os.rename(file, tmp_path / "before.jsonl")
    log.reopen()
    log.write({"request": "b"})
    log.close()
    assert json.loads((tmp_path / "before.jsonl").read_text()) == {"request": "a"}
    assert json.loads(file.read_text()) == {"request": "b"}
