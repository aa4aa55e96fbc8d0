"""Several processes on one port: they share sessions, and one that dies is begun anew."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

from tests.cli.command import ledgeragent
from tests.gateway.processes import command, process
from tests.gateway.upstream import Upstream, stepwise
from tests.gateway.wires import CHAT
from tests.gateway.world import HELLO, KNOWN, READ, SAY, TOOLS, WRITE, read_sse, run, served
from tests.journal.reading import chain_of, records_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks")


def children(parent: int) -> list[int]:
    listed = subprocess.run(["ps", "--ppid", str(parent), "-o", "pid="], capture_output=True)
    return [int(line) for line in listed.stdout.split()]


def test_they_share_sessions_and_are_kept_alive(tmp_path: Path) -> None:
    async def scenario() -> None:
        upstream = Upstream()
        replies = {"Begin": READ, "First": SAY, "Again": WRITE}
        upstream.choose = lambda body: replies[body["user"]]
        asked = (("Begin", (HELLO,)), ("First", KNOWN), ("Again", (HELLO,)))
        journal = tmp_path / "journal.jsonl"
        options = ("--workers", "2", "--session-store", str(tmp_path / "s.db"))
        async with (
            served(upstream.app()) as behind,
            process(behind, *options, "--journal", str(journal)) as (gateway, url, _),
        ):
            crew = children(gateway.pid)
            assert len(crew) == 2
            for number in range(12):
                headers = {"x-ledgeragent-session": f"s{number}", "connection": "close"}
                async with aiohttp.ClientSession(headers=headers) as http:
                    for word, messages in asked:
                        body = {**CHAT.request(messages, TOOLS, False), "user": word}
                        async with http.post(f"{url}{CHAT.path}", json=body) as response:
                            assert response.status == 200
                            verdict = response.headers.get("x-ledgeragent-verdict")
                    assert verdict == "lend_book=ALLOW"
            async with aiohttp.ClientSession() as http:
                for _ in range(4):  # Whichever answers tells of both.
                    async with http.get(f"{url}/metrics") as response:
                        metrics = await response.text()
                    counted = re.findall(
                        r'requests_total\{worker="([12])",path="\S+",status="200"} (\d+)', metrics
                    )
                    assert sum(int(count) for _, count in counted) == 36
                    assert "ledgeragent_workers 2" in metrics
            await asyncio.sleep(1.1)
            os.kill(crew[0], signal.SIGKILL)
            while len(now := set(children(gateway.pid))) < 2 or crew[0] in now:
                await asyncio.sleep(0.05)
            gateway.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(gateway.wait(), 20) == 0
        files = sorted(tmp_path.glob("journal.worker-*.jsonl"))
        assert len(files) == 2
        assert all(chain_of(file).intact for file in files)
        assert sum(len(records_of(file)) for file in files) > 24

    run(scenario())


_BETWEEN = """
import os, signal, sys, threading, time
from ledgeragent.cli.workers import run_workers

side, forks, real = sys.argv[1], [], os.fork

def fork():
    process = real()
    forks.append(process)
    if side == "a stranger's child":
        if process and len(forks) == 2:
            (stranger := real()) or os._exit(3)
            os.waitid(os.P_PID, stranger, os.WEXITED | os.WNOWAIT)
            os.kill(os.getpid(), signal.SIGTERM)
    elif len(forks) == 3 and bool(process) == (side == "parent"):
        os.kill(os.getpid(), signal.SIGTERM)
        process or os.kill(os.getppid(), signal.SIGTERM)
    return process

def work(number):
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    if side != "a stranger's child" and number == 1 and len(forks) < 3:
        time.sleep(1.1)
        return 0
    stop.wait()
    return 0

os.fork = fork
sys.exit(run_workers(2, work))
"""


@pytest.mark.parametrize("side", ["parent", "child", "a stranger's child"])
def test_no_signal_is_lost_between_a_fork_and_the_note_of_it(side: str) -> None:
    done = subprocess.run([sys.executable, "-c", _BETWEEN, side], timeout=20)
    assert done.returncode == 0


@pytest.mark.parametrize("when", ["at once", "with a worker that was begun anew"])
def test_workers_end_in_order_when_what_keeps_them_is_killed(tmp_path: Path, when: str) -> None:
    """Else they would hold the port and their journals, and nobody could stop or reload them."""

    async def scenario() -> None:
        upstream, steps = Upstream(), asyncio.Semaphore(2)
        upstream.script.append(stepwise(SAY, steps))
        options = ("--workers", "2", "--session-store", str(tmp_path / "s.db"))
        async with (
            served(upstream.app()) as behind,
            process(behind, *options) as (gateway, url, _),
            aiohttp.ClientSession() as http,
        ):
            crew = children(gateway.pid)
            if when != "at once":
                await asyncio.sleep(1.1)
                os.kill(crew[0], signal.SIGKILL)
                while crew[0] in (now := children(gateway.pid)) or len(now) < 2:
                    await asyncio.sleep(0.05)
                crew = now
            body = CHAT.request((HELLO,), TOOLS, True)
            async with http.post(f"{url}{CHAT.path}", json=body) as answer:
                gateway.kill()
                while sum(map(is_running, crew)) > 1:  # the one that has nothing to do
                    await asyncio.sleep(0.05)
                for _ in range(20):
                    steps.release()
                assert CHAT.read_events(read_sse(await answer.read())[0]) == SAY
            while any(map(is_running, crew)):
                await asyncio.sleep(0.05)
            with pytest.raises(aiohttp.ClientConnectionError):
                await http.get(f"{url}/livez")

    run(scenario())


def test_a_worker_begun_anew_has_the_rules_of_the_others(tmp_path: Path) -> None:
    """It is born of what was read at the start, and what changed since is read by those that live."""

    async def versions(url: str) -> set[str]:
        async def version() -> str:
            async with aiohttp.ClientSession() as http, http.get(f"{url}/healthz") as response:
                told: str = (await response.json())["version"]
                return told

        return set(await asyncio.gather(*(version() for _ in range(20))))

    async def scenario() -> None:
        pack = tmp_path / "pack.yaml"
        pack.write_text(Path("examples/parking/pack.yaml").read_text())
        options = ["--domain", str(pack), "--upstream", "http://127.0.0.1:9", "--watch", "0"]
        options += ["--workers", "2", "--session-store", str(tmp_path / "s.db")]
        async with command(*options) as (gateway, url, _):
            await asyncio.sleep(1.1)
            pack.write_text(pack.read_text().replace('"1"', '"2"', 1))
            gateway.send_signal(signal.SIGHUP)
            while await versions(url) != {"2"}:
                await asyncio.sleep(0.1)
            crew = children(gateway.pid)
            for process in crew:
                os.kill(process, signal.SIGKILL)
            while len(now := set(children(gateway.pid))) < 2 or now & set(crew):
                await asyncio.sleep(0.05)
            while await versions(url) != {"2"}:
                await asyncio.sleep(0.1)

    run(scenario())


def is_running(process: int) -> bool:
    listed = subprocess.run(["ps", "-p", str(process), "-o", "stat="], capture_output=True)
    return listed.stdout.strip()[:1] not in (b"", b"Z")


def test_workers_that_cannot_begin_end_the_command(tmp_path: Path) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text(f'upstream = "http://x"\ndomain = "shop"\nsession_store = "{tmp_path}"\n')
    done = ledgeragent("gateway", "--config", str(file), "--workers", "2", "--port", "0")
    assert done.code != 0
    assert str(tmp_path) in done.err


def test_they_need_a_store_that_they_share() -> None:
    done = ledgeragent("gateway", "--domain", "shop", "--upstream", "http://x", "--workers", "2")
    assert done.code == 2
    assert "--session-store" in done.err
    assert json.dumps(done.out) == '""'
