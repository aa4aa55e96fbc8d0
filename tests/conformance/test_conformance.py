"""Every driver, every situation: same verdicts, valid transcripts, no forbidden call executed."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Iterator

import pytest

from ledgeragent.paths import Path
from tests.conformance.drivers import DRIVERS, Driver, unavailable
from tests.conformance.scene import CONTROLS, CURRENT, PATIENCE, Scene, Situation, check_valid
from tests.conformance.situations import LONG, READER, SITUATIONS, STRANGER

TOGETHER = 4


@pytest.fixture(scope="module", params=DRIVERS, ids=lambda make: make.name)
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    make: type[Driver] = request.param
    reason = unavailable(make)
    if reason:
        pytest.skip(reason)
    made = make()
    yield made
    made.close()


def play(driver: Driver, scene: Scene) -> Scene:
    """Plays a scene to its end, in a context of its own."""

    def run() -> None:
        CURRENT.set(scene)
        asyncio.run(driver.play(scene))

    try:
        contextvars.copy_context().run(run)
    finally:
        scene.close()
    return scene


def verify(scene: Scene) -> None:
    """Asserts all that a scene must have come to."""
    situation = scene.situation
    assert scene.verdicts == situation.verdicts
    assert sorted(scene.executed) == sorted(situation.ran)
    assert not set(scene.executed) & situation.forbidden
    check_valid(scene.transcript)
    for path in situation.ledger:
        assert scene.ledger.ledger.get(Path.parse(path)) is not None, path
    answers = "\n".join(scene.answers)
    for words in situation.told:
        assert words in answers
    for tail in scene.tails:
        assert tail.count("<ledger>") == tail.count("</ledger>") == 1


def beyond(driver: Driver, situation: Situation) -> set[str]:
    """What a situation has that this way in cannot have."""
    steps = (step for turn in situation.turns for step in turn.steps)
    tools = {call.name for step in steps for call, _ in step.calls}
    parts = {
        "tools of its own": bool(tools & CONTROLS.keys()) and not driver.lists_tools,
        "other names of tools": bool(situation.prefix) and not driver.prefixes,
        "retries": bool(situation.fails) and not situation.tells and not driver.retries,
        "failures that the model hears of": situation.tells and not driver.tells,
        "retries of the model": situation.drops and not driver.asks_again,
    }
    return {name for name, is_missing in parts.items() if is_missing}


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda s: s.name)
def test_situation(driver: Driver, situation: Situation) -> None:
    lacking = situation.needs & driver.lacks | beyond(driver, situation)
    if lacking:
        pytest.skip(f"{driver.name} has no {' and '.join(sorted(lacking))}")
    if situation.waits not in (None, driver.waits):
        pytest.skip("for ways in that hold the execution, or for those that don't")
    verify(play(driver, Scene(situation)))


def test_conversations_at_once_on_one_agent_do_not_share_a_ledger(driver: Driver) -> None:
    barrier = threading.Barrier(2 * TOGETHER)
    scenes = [
        Scene(situation, key=f"{n}-{situation.name}", barrier=barrier)
        for n in range(TOGETHER)
        for situation in (READER, STRANGER)
    ]
    threads = [threading.Thread(target=play, args=(driver, scene)) for scene in scenes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE)
    for scene in scenes:
        verify(scene)
    assert len({id(scene.ledger) for scene in scenes}) == len(scenes)


def test_a_cancelled_conversation_leaves_the_next_one_alone(driver: Driver) -> None:
    cancelled = Scene(READER, key="cancelled", hang="cancel_order")
    asyncio.run(_cancel_while_it_hangs(driver, cancelled))
    assert not [call for call in cancelled.executed if call.startswith("cancel_order")]
    verify(play(driver, Scene(STRANGER, key="after")))


async def _cancel_while_it_hangs(driver: Driver, scene: Scene) -> None:
    scene.hanging = asyncio.Event()
    CURRENT.set(scene)
    playing = asyncio.create_task(driver.play(scene))
    await asyncio.wait_for(scene.hanging.wait(), PATIENCE)
    playing.cancel()
    with pytest.raises(BaseException):  # noqa: B017
        await playing


def test_an_oversized_argument_is_not_echoed(driver: Driver) -> None:
    situation = next(s for s in SITUATIONS if s.name == "an oversized argument")
    scene = play(driver, Scene(situation))
    assert all(LONG[:5_000] not in answer for answer in scene.answers)
