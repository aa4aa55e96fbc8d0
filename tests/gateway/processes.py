"""A gateway as a process of its own, as it is run for real."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def process(
    upstream: str, *options: str, env: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[tuple[Process, str, str]]:
    """The process, its address, and the line that tells what the domain enforces."""
    domain = ("--domain", "tests.lending.domain:LIBRARY", "--upstream", upstream)
    async with command(*domain, *options, env=env) as (running, url, coverage):
        yield running, url, coverage


@asynccontextmanager
async def command(
    *options: str, env: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[tuple[Process, str, str]]:
    """The same, with these options alone."""
    running = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "ledgeragent",
        "gateway",
        "--port",
        "0",
        *options,
        stdout=PIPE,
        stderr=PIPE,
        cwd=ROOT,
        env={**os.environ, "THEIR_KEY": "sk-theirs", "OUR_KEYS": "sk-ours, sk-mine", **env},
    )
    assert running.stdout is not None
    try:
        address = re.search(r"http://[^/]+", (await running.stdout.readline()).decode())
        assert address is not None
        yield running, address[0], (await running.stdout.readline()).decode()
    finally:
        if running.returncode is None:
            running.kill()
        await running.wait()
