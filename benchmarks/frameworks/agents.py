"""Agents as their frameworks make them, in front of the gateway: each plays every conversation.

They are told a base URL, and nothing else. The results go to `benchmarks/results/frameworks.json`
after each framework, those of frameworks that were not named stay.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, web

from benchmarks.frameworks.conversations import (
    CONTROL,
    CONVERSATIONS,
    Conversation,
    writes_of,
)
from benchmarks.frameworks.environments import (
    InstallationError,
    Script,
    environment_of,
    versions_in,
)
from benchmarks.frameworks.programs import AgentProgram
from benchmarks.frameworks.proxied import ROOT
from benchmarks.frameworks.scripted import Provider
from benchmarks.frameworks.written import WRITERS
from tests.gateway.processes import command

HERE = Path(__file__).parent / "gateway"
RESULTS = ROOT / "benchmarks" / "results" / "frameworks.json"
Note = Callable[[str, dict[str, Any]], None]
COMMAND = "python -m benchmarks.frameworks"
_COUNTED = re.compile(
    r"(?m)^ledgeragent_(unread_results_total\{[^}]*\}|unguarded_requests_total"
    r"|unjudged_total|ended_conversations_total) ([1-9]\d*)$"
)


def scripts(names: list[str]) -> list[Script]:
    """The frameworks of these names, in their order; all, if there are none."""
    files = {f.stem: f for f in sorted(HERE.iterdir()) if f.suffix in {".py", ".mjs"}}
    every = [name for name in files if name[0] != "_"]
    if unknown := set(names) - set(every):
        raise SystemExit(f"no framework {', '.join(sorted(unknown))}; there are {', '.join(every)}")
    return [Script.read(files[name]) for name in names or every]


async def tried(script: Script, note: Note) -> dict[str, Any]:
    """What came of one framework: its versions, and a verdict for each cell, of which `note` hears."""
    row: dict[str, Any] = {"about": " ".join(script.about.split()), "tried": str(date.today())}
    try:
        environment = environment_of(script)
    except (InstallationError, subprocess.TimeoutExpired) as problem:
        return {**row, "not_installed": str(problem)}
    row["versions"] = versions_in(environment, script)
    provider = Provider()
    options = script.settings.get("options", ())
    async with (
        listening(provider) as shop,
        command("--domain", "shop", "--upstream", shop, *options) as (process, gateway, _),
        ClientSession() as client,
    ):
        assert process.stderr is not None
        warnings: list[str] = []
        reading = asyncio.create_task(_lines(process.stderr, warnings))
        with tempfile.NamedTemporaryFile() as log:
            agent = AgentProgram(script, environment, gateway, Path(log.name))
            row["cells"] = await _cells(script, agent, provider, client, shop, note)
            await agent.stop()
        reading.cancel()
    row["warnings"] = sorted({_WARNING.sub("", line) for line in warnings})
    return row


async def _cells(
    script: Script,
    agent: AgentProgram,
    provider: Provider,
    client: ClientSession,
    shop: str,
    note: Note,
) -> dict[str, Any]:
    """The outcome of each cell by its name."""
    cells: dict[str, Any] = {}
    for wire, stream, dicts, talk in cells_of(script):
        name = " ".join((wire, _KINDS[dicts], _WAYS[stream], talk.name))
        turns = 1 if talk is CONTROL else script.settings.get("turns", 2)
        provider.begin(talk.steps(turns), WRITERS.get(script.settings.get("writes", "")))
        before = await counters(client, agent.gateway)
        cell: dict[str, Any] = {
            "gateway": agent.gateway,
            "shop": shop,
            "wire": wire,
            "stream": stream,
        }
        cell |= {"dicts": dicts, "turns": talk.turns(turns), "control": talk is CONTROL}
        said, failure = await agent.play(cell)
        after = await counters(client, agent.gateway)
        counted = {n: count - before.get(n, 0) for n, count in after.items()}
        cells[name] = _outcome(talk, provider, said, failure, counted)
        note(name, cells[name])
    return cells


_KINDS = {False: "text", True: "dict"}
_WAYS = {False: "whole", True: "stream"}
_WARNING = re.compile(r"^.*?WARNING[: ]*|in session \S+")


def cells_of(script: Script) -> Iterator[tuple[str, bool, bool, Conversation]]:
    """Each format, whole and streamed, tools of text and of dicts, and conversation."""
    settings = script.settings
    ways = settings.get("streams", [False, True])
    kinds = settings.get("dicts", [False, True])
    talks = (*CONVERSATIONS, CONTROL) if settings.get("control") else CONVERSATIONS
    yield from product(settings.get("wires", ["chat"]), ways, kinds, talks)


def _outcome(
    talk: Conversation, provider: Provider, said: str, failure: str, counted: dict[str, int]
) -> dict[str, Any]:
    """The verdict on a cell: ok, told if a counter says that it is not, else FAILS; and why."""
    asked = json.dumps(provider.asked, ensure_ascii=False)
    problem = failure or talk.problem(provider.executed, said, asked)
    told = {name: count for name, count in counted.items() if count}
    cell: dict[str, Any] = {"verdict": "ok", "wrote": writes_of(provider.executed)}
    if problem:
        cell |= {"verdict": "told" if told else "FAILS", "why": problem}
    return {**cell, "counted": told} if told else cell


async def counters(client: ClientSession, gateway: str) -> dict[str, int]:
    """What the gateway has told by its counters so far."""
    async with client.get(f"{gateway}/metrics") as response:
        return {name: int(n) for name, n in _COUNTED.findall(await response.text())}


@asynccontextmanager
async def listening(provider: Provider) -> AsyncIterator[str]:
    """The address at which the scripted model and the shop are served."""
    runner = web.AppRunner(provider.app())
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def _lines(stream: asyncio.StreamReader, into: list[str]) -> None:
    async for line in stream:
        into.append(line.decode(errors="replace").strip())  # noqa: PERF401 -- read as it comes


def play(names: Iterable[str]) -> None:
    """Plays, prints a line for each cell, and writes the results."""
    for script in scripts(list(names)):
        label = script.file.stem

        def note(cell: str, outcome: dict[str, Any], label: str = label) -> None:
            print(label, cell, json.dumps(outcome), flush=True)

        _keep(label, asyncio.run(tried(script, note)))


def _keep(label: str, row: dict[str, Any]) -> None:
    written = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    rows = {**written.get("frameworks", {}), label: row}
    report = {"command": COMMAND, "frameworks": dict(sorted(rows.items()))}
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")
