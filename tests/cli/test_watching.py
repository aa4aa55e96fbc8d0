"""Watching: what changes is taken up whenever it does, and nothing that goes wrong ends it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest

from ledgeragent.cli.configuration import ExplainingParser
from ledgeragent.cli.gateway import add_options
from ledgeragent.cli.gatewayplan import ServingPlan
from ledgeragent.cli.gatewayrun import Running
from ledgeragent.cli.watched import pack_marks
from ledgeragent.offline.binding import forget
from tests.cli.test_reload import PACK, configured
from tests.gateway.world import run


def reader(file: Path | None, *words: str) -> Callable[[], ServingPlan]:
    """What reads the plan of a configuration file and of these words, each time as it is."""
    forget()
    parser = ExplainingParser(add_help=False)
    add_options(parser)
    args = parser.parse_args([*(["--config", str(file)] if file is not None else []), *words])
    args.words = words
    return lambda: ServingPlan.read(args, parser)


@asynccontextmanager
async def watched(plan: ServingPlan, again: Callable[[], ServingPlan]) -> AsyncIterator[Running]:
    """A gateway that has opened, and looks for changes all the time."""
    with ExitStack() as stack:
        running = Running(plan, again, stack)
        watching = asyncio.create_task(running._watch(0.02))
        await running._board.open()
        try:
            yield running
        finally:
            assert not watching.done(), "nobody watches any more"
            watching.cancel()
            await running._board.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.02)


def versions(running: Running) -> set[str]:
    return {gateway.domain.version for gateway in running._board.gateways.values()}


def change(folder: Path, version: str, old: str = "", new: str = "") -> None:
    (folder / "pack.yaml").write_text(PACK.replace('"1"', f'"{version}"', 1).replace(old, new, 1))


async def takes_up(running: Running, folder: Path, version: str) -> None:
    change(folder, version)
    await until(lambda: version in versions(running))


@pytest.mark.parametrize("changed", ["pack", "configuration"])
def test_what_changes_before_it_is_watched_is_taken_up(tmp_path: Path, changed: str) -> None:
    """Between the first reading and the first look a gateway binds its port and opens its stores."""
    file = configured(tmp_path, "http://127.0.0.1:9")

    async def scenario() -> None:
        again = reader(file)
        plan = again()
        if changed == "pack":
            change(tmp_path, "two")
        else:
            file.write_text(file.read_text().replace('path = "/shop"', 'path = "/store"'))
        async with watched(plan, again) as running:
            await until(lambda: "two" in versions(running) or "/store" in running._board.gateways)

    run(scenario())


@pytest.mark.parametrize(
    "problem",
    [
        RuntimeError("out of order"),
        RecursionError("out of order"),
        KeyError("out of order"),
        SystemExit("out of order"),
        PermissionError("out of order"),
    ],
    ids=lambda problem: type(problem).__name__,
)
def test_whatever_a_reading_raises_is_told_and_ends_nothing(
    tmp_path: Path, problem: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    file = configured(tmp_path, "http://127.0.0.1:9")
    read, readings = reader(file), list[int]()

    def again() -> ServingPlan:
        readings.append(1)
        if len(readings) == 1:
            raise problem
        return read()

    async def scenario() -> None:
        async with watched(read(), again) as running:
            change(tmp_path, "two")
            await until(lambda: "not reloaded" in caplog.text)
            assert "out of order" in caplog.text
            assert "two" not in versions(running)
            await takes_up(running, tmp_path, "three")

    with caplog.at_level(logging.ERROR):
        run(scenario())


def test_a_gateway_that_cannot_be_made_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file = configured(tmp_path, "http://127.0.0.1:9")
    read = reader(file)

    async def scenario() -> None:
        async with watched(read(), read) as running:
            with monkeypatch.context() as patched:
                patched.setattr(running, "_gateways", lambda *_: 1 / 0)
                change(tmp_path, "two")
                await until(lambda: "ZeroDivisionError" in caplog.text)
            assert "two" not in versions(running)
            await takes_up(running, tmp_path, "three")

    with caplog.at_level(logging.ERROR):
        run(scenario())


def test_an_access_log_that_cannot_be_opened_again_does_not_keep_the_old_rules(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "logs").mkdir()
    line = f'access_log = "{tmp_path / "logs" / "access.jsonl"}"'
    file = configured(tmp_path, "http://127.0.0.1:9", more=f"watch = 0\n{line}")
    read = reader(file)

    async def scenario() -> None:
        with ExitStack() as stack:
            running = Running(read(), read, stack)
            await running._board.open()
            (tmp_path / "logs").rename(tmp_path / "gone")
            change(tmp_path, "two")
            running._reload_soon()
            await until(lambda: "two" in versions(running))
            await running._board.close()

    run(scenario())
    assert "the access log goes on" in caplog.text


@pytest.mark.parametrize("by", ["configuration", "command line"])
@pytest.mark.parametrize(
    "option, before, after",
    [
        ("tools", '["get_permit"]', '["get_permit", "get_zone"]'),
        ("params", '{"renewal_days": 61}', '{"renewal_days": 62}'),
    ],
)
def test_a_file_that_an_option_names_is_taken_up(
    tmp_path: Path, by: str, option: str, before: str, after: str
) -> None:
    """Read anew, not as it was when the command line was: within seconds, or else never."""
    named, config = tmp_path / f"{option}.json", tmp_path / "gateway.toml"
    named.write_text(before)
    (tmp_path / "pack.yaml").write_text(PACK)
    options = {
        "upstream": "http://127.0.0.1:9",
        "domain": str(tmp_path / "pack.yaml"),
        option: str(named),
    }
    if by == "configuration":
        config.write_text("".join(f'{name} = "{value}"\n' for name, value in options.items()))
        read = reader(config)
    else:
        read = reader(None, *(f"--{name}={value}" for name, value in options.items()))

    def has_changed(running: Running) -> bool:
        (gateway,) = running._board.gateways.values()
        return {
            "tools": gateway.domain.available == {"get_permit", "get_zone"},
            "params": gateway.domain.parameters["renewal_days"] == 62,
        }[option]

    async def scenario() -> None:
        async with watched(read(), read) as running:
            assert not has_changed(running)
            named.write_text(after)
            await until(lambda: has_changed(running))

    run(scenario())


@pytest.mark.parametrize("name", ["pack.yaml", "."])
@pytest.mark.parametrize("text", ['tools: "a\\0b"', "include: [", "[" * 5000, "\x00"])
def test_a_pack_that_cannot_be_read_has_its_marks_all_the_same(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "pack.yaml").write_text(text)
    before = pack_marks(str(tmp_path / name))
    assert str(tmp_path / "pack.yaml") in before
    (tmp_path / "pack.yaml").write_text(text + " ")
    assert pack_marks(str(tmp_path / name)) != before


def test_a_file_in_place_of_another_is_a_change_though_it_looks_the_same(tmp_path: Path) -> None:
    """As a tool that keeps times puts it there; the other file is not of another length either."""
    pack, other = tmp_path / "pack.yaml", tmp_path / "other"
    pack.write_text(PACK)
    other.write_text(PACK.replace('"1"', '"2"', 1))
    os.utime(other, ns=(pack.stat().st_atime_ns, pack.stat().st_mtime_ns))
    before = pack_marks(str(pack))
    other.rename(pack)
    assert pack_marks(str(pack)) != before


@pytest.mark.parametrize("changed", ["pack", "configuration"])
def test_what_changes_while_it_is_read_is_read_again(tmp_path: Path, changed: str) -> None:
    """Else a gateway would go on with what no file says any more."""
    file = configured(tmp_path, "http://127.0.0.1:9")
    read, readings = reader(file), list[ServingPlan]()

    def again() -> ServingPlan:
        plan = read()
        readings.append(plan)
        if len(readings) == 1 and changed == "pack":
            change(tmp_path, "three")
        elif len(readings) == 1:
            file.write_text(file.read_text().replace('path = "/shop"', 'path = "/store"'))
        return plan

    async def scenario() -> None:
        async with watched(read(), again) as running:
            change(tmp_path, "two")
            await until(lambda: len(readings) > 1)
            assert [r.path for r in readings[-1].routes] == [r.path for r in read().routes]
            await until(lambda: "three" in versions(running) or "/store" in running._board.gateways)

    run(scenario())


def test_nothing_is_replaced_before_it_is_open(tmp_path: Path) -> None:
    file = configured(tmp_path, "http://127.0.0.1:9")
    read, readings = reader(file), list[ServingPlan]()

    def again() -> ServingPlan:
        readings.append(read())
        return readings[-1]

    async def scenario() -> None:
        with ExitStack() as stack:
            running = Running(read(), again, stack)
            change(tmp_path, "two")
            reloading = asyncio.create_task(running.reload())
            await asyncio.sleep(0.1)
            assert readings == []
            await running._board.open()
            await reloading
            assert "two" in versions(running)
            await running._board.close()

    run(scenario())
