"""A gateway that goes on: new packs and settings without losing a stream, and an end without losing one."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from pathlib import Path

import aiohttp
import pytest

from tests.gateway.processes import command
from tests.gateway.upstream import Upstream, stepwise
from tests.gateway.wires import CHAT
from tests.gateway.world import HELLO, SAY, TOOLS, read_sse, run, served
from tests.journal.reading import chain_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGHUP is POSIX")

PACK = Path("examples/parking/pack.yaml").read_text()
TOOLS_FILE = Path("examples/parking/tools.json")
STREAM = json.dumps(CHAT.request((HELLO,), TOOLS, True))


def configured(folder: Path, upstream: str, pack: str = PACK, more: str = "") -> Path:
    (folder / "pack.yaml").write_text(pack)
    file = folder / "gateway.toml"
    file.write_text(
        f'upstream = "{upstream}"\n{more}\n[[routes]]\npath = "/parking"\n'
        f'domain = "{folder / "pack.yaml"}"\njournal = "{folder / "journal.jsonl"}"\n'
        '[[routes]]\npath = "/shop"\ndomain = "shop"\n'
    )
    return file


async def version(http: aiohttp.ClientSession, url: str) -> str:
    async with http.get(f"{url}/parking/healthz") as response:
        told: str = (await response.json())["version"]
        return told


async def said(gateway: Process, word: str) -> str:
    assert gateway.stderr is not None
    while word not in (line := (await asyncio.wait_for(gateway.stderr.readline(), 30)).decode()):
        assert line, f"it ended and never said {word}"
    return line


@pytest.mark.parametrize("by", ["signal", "watching"])
def test_a_changed_pack_is_taken_up_and_no_stream_is_lost(tmp_path: Path, by: str) -> None:
    async def scenario() -> None:
        steps, upstream = asyncio.Semaphore(0), Upstream()
        upstream.script.append(stepwise(SAY, steps))
        async with served(upstream.app()) as behind, aiohttp.ClientSession() as http:
            file = configured(tmp_path, behind, more=f"watch = {0.2 if by == 'watching' else 0}")
            async with command("--config", str(file)) as (gateway, url, _):
                assert await version(http, url) == "1"
                steps.release()
                steps.release()
                address = f"{url}/parking{CHAT.path}"
                async with http.post(address, data=STREAM) as response:
                    (tmp_path / "pack.yaml").write_text(PACK.replace('"1"', '"2"', 1))
                    if by == "signal":
                        gateway.send_signal(signal.SIGHUP)
                    await said(gateway, "reloaded")
                    assert await version(http, url) == "2"
                    for _ in range(20):
                        steps.release()
                    events, _ = read_sse(await response.read())
                    assert CHAT.read_events(events) == SAY
                upstream.script.append(SAY)
                async with http.post(address, data=STREAM) as response:
                    events, _ = read_sse(await response.read())
                    assert CHAT.read_events(events) == SAY
                async with http.get(f"{url}/metrics") as response:
                    metrics = await response.text()
                labels = 'route="/parking",path="/v1/chat/completions",status="200"'
                assert f"ledgeragent_requests_total{{{labels}}} 2" in metrics
                gateway.send_signal(signal.SIGTERM)
                assert await asyncio.wait_for(gateway.wait(), 20) == 0
        rows = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
        assert [row["pack"]["version"] for row in rows if row["event"] == "heard"] == ["1", "2"]

        assert chain_of(tmp_path / "journal.jsonl").intact

    run(scenario())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("schema: ledgeragent/v1", "schema: nothing"),
        ('permit.status != "suspended"', "true"),
        ('permit.status != "suspended"', 'permit.state != "suspended"'),
        ("domain: parking", "domain: [parking"),
    ],
    ids=["schema", "samples", "field", "yaml"],
)
def test_a_pack_that_is_wrong_is_not_taken_up(tmp_path: Path, old: str, new: str) -> None:
    async def scenario() -> None:
        async with aiohttp.ClientSession() as http:
            file = configured(tmp_path, "http://127.0.0.1:9", more="watch = 0")
            async with command("--config", str(file)) as (gateway, url, _):
                changed = PACK.replace('version: "1"', 'version: "2"').replace(old, new, 1)
                (tmp_path / "pack.yaml").write_text(changed)
                gateway.send_signal(signal.SIGHUP)
                assert "pack.yaml" in await said(gateway, "not reloaded")
                assert await version(http, url) == "1"
                (tmp_path / "pack.yaml").write_text(PACK.replace('"1"', '"3"', 1))
                gateway.send_signal(signal.SIGHUP)
                await said(gateway, "reloaded: ")
                assert await version(http, url) == "3"

    run(scenario())


@pytest.mark.parametrize("file", ["shared.yaml", "tools.json"])
def test_a_file_that_a_pack_is_read_from_is_watched(tmp_path: Path, file: str) -> None:
    async def scenario() -> None:
        own = PACK.replace(
            "\nrecords:", "\ninclude: parts/shared.yaml\ntools: parts/tools.json\nrecords:", 1
        )
        parts = tmp_path / "parts"
        parts.mkdir()
        (parts / "shared.yaml").write_text("define: {}\n")
        (parts / "tools.json").write_text(TOOLS_FILE.read_text())
        async with served(Upstream().app()) as behind:
            config = configured(tmp_path, behind, own, more="watch = 0.2")
            async with command("--config", str(config)) as (gateway, _, _):
                place = parts / file
                place.write_text(place.read_text() + "\n")
                assert "reloaded" in await said(gateway, "reloaded")
                gateway.send_signal(signal.SIGTERM)
                assert await gateway.wait() == 0

    run(scenario())


def test_200_streams_are_finished_before_it_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        steps, upstream = asyncio.Semaphore(0), Upstream()
        count = 200
        upstream.script.extend(stepwise(SAY, steps) for _ in range(count))
        connector = aiohttp.TCPConnector(limit=0)
        async with (
            served(upstream.app()) as behind,
            aiohttp.ClientSession(connector=connector) as http,
        ):
            file = configured(tmp_path, behind, more="drain_delay = 0.5")
            log = tmp_path / "access.jsonl"
            options = ("--config", str(file), "--access-log", str(log))
            async with command(*options) as (gateway, url, _):

                async def stream() -> str:
                    address = f"{url}/parking{CHAT.path}"
                    async with http.post(address, data=STREAM) as response:
                        events, _ = read_sse(await response.read())
                        return CHAT.read_events(events).text

                streams = [asyncio.create_task(stream()) for _ in range(count)]
                while len(upstream.asked) < count:
                    await asyncio.sleep(0.02)
                gateway.send_signal(signal.SIGTERM)
                await asyncio.sleep(0.2)
                for page, code in (("livez", 200), ("readyz", 503)):
                    async with http.get(f"{url}/{page}") as response:
                        assert response.status == code
                await asyncio.sleep(0.8)
                with pytest.raises(aiohttp.ClientConnectionError):
                    await http.get(f"{url}/livez")
                for _ in range(count * 10):
                    steps.release()
                assert await asyncio.gather(*streams) == [SAY.text] * count
                assert await asyncio.wait_for(gateway.wait(), 20) == 0
            rows = [json.loads(line) for line in log.read_text().splitlines()]
            assert len(rows) == count
            assert {row["status"] for row in rows} == {200}
            assert {row["path"] for row in rows} == {CHAT.path}
            assert len({row["request"] for row in rows}) == count
            assert log.stat().st_mode & 0o077 == 0
            for word in ("Ferns", SAY.text):
                assert word not in log.read_text()

    run(scenario())


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_hangup_while_it_starts_ends_nothing_and_is_acted_on(
    tmp_path: Path, workers: str
) -> None:
    """The domain's module sends it, as something impatient would, while it is imported."""
    (tmp_path / "impatient.py").write_text(
        "import os, signal\nfrom tests.lending.domain import LIBRARY\n"
        "os.kill(os.getpid(), signal.SIGHUP)\n"
    )

    async def scenario() -> None:
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        options = [
            "--allow-faulty",
            "--domain",
            "impatient:LIBRARY",
            "--upstream",
            "http://localhost:1",
        ]
        options += ["--workers", workers, "--session-store", str(tmp_path / "sessions.db")]
        async with command(*options, env={"PYTHONPATH": path}) as (gateway, url, _):
            for _ in range(int(workers)):
                await said(gateway, "reloaded")
            async with aiohttp.ClientSession() as http, http.get(f"{url}/livez") as response:
                assert response.status == 200
            gateway.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(gateway.wait(), 20) == 0

    run(scenario())
