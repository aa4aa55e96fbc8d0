"""A proxy in front of the gateway, as deploy/nginx.conf has it: client, nginx, gateway, model."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.cli.command import ROOT
from tests.gateway.processes import process
from tests.gateway.upstream import Upstream, stepwise
from tests.gateway.wires import CHAT
from tests.gateway.world import HELLO, KNOWN, LONG, SAY, TOOLS, WRITE, read_sse, run, served

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


@asynccontextmanager
async def nginx(folder: Path, gateway: str) -> AsyncIterator[str]:
    """nginx by the committed file, but for its ports and places."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    text = (ROOT / "deploy" / "nginx.conf").read_text()
    text = text.replace("127.0.0.1:8080", gateway.removeprefix("http://"))
    text = text.replace("listen 8443", f"listen 127.0.0.1:{port}").replace("/tmp/", f"{folder}/")
    (folder / "nginx.conf").write_text(text)
    assert NGINX is not None
    running = await asyncio.create_subprocess_exec(
        NGINX, "-c", str(folder / "nginx.conf"), "-p", str(folder), "-g", "daemon off; user root;"
    )
    try:
        while True:
            assert running.returncode is None
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                break
            except OSError:
                await asyncio.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        if running.returncode is None:
            running.terminate()
        await running.wait()


def test_verdicts_streams_and_request_ids_come_through(tmp_path: Path) -> None:
    async def scenario() -> None:
        upstream, steps = Upstream(), asyncio.Semaphore(0)
        upstream.script.extend([LONG, WRITE, stepwise(SAY, steps)])
        async with (
            served(upstream.app()) as behind,
            process(behind, "--console-key-env", "THEIR_KEY") as (_, gateway, _),
            nginx(tmp_path, gateway) as url,
            aiohttp.ClientSession() as http,
        ):
            body = json.dumps(CHAT.request(KNOWN, TOOLS, False))
            async with http.post(f"{url}{CHAT.path}", data=body) as answer:
                assert answer.headers["x-ledgeragent-verdict"] == "lend_book=REVISE,lend_book=ALLOW"
                assert len(answer.headers["x-ledgeragent-request-id"]) == 32
                assert CHAT.read(await answer.json()) == WRITE
            steps.release()
            steps.release()
            body = json.dumps(CHAT.request((HELLO,), TOOLS, True))
            async with http.post(f"{url}{CHAT.path}", data=body) as answer:
                first = await answer.content.readany()
                assert b"data: " in first  # before the model has said the rest
                for _ in range(20):
                    steps.release()
                events, _ = read_sse(first + await answer.read())
                assert CHAT.read_events(events) == SAY
            for path in ("/metrics", "/console", "/console/state", "/livez", "/shop/metrics"):
                async with http.get(f"{url}{path}") as answer:
                    assert answer.status == 404, path

    run(scenario())
