"""Every driver: the journal tells the same, whichever way in wrote it, and replay reads it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgeragent.effects import Effect
from ledgeragent.journal import Event, Journal, open_store, read, verify
from ledgeragent.journal.transcripts import exported
from ledgeragent.offline.replay import replay
from ledgeragent.packs import load_domain
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision
from tests.conformance.drivers import DRIVERS, Driver, unavailable
from tests.conformance.scene import Scene, Situation
from tests.conformance.situations import SITUATIONS
from tests.conformance.test_conformance import play
from tests.conformance.test_conformance import verify as verify_scene

TOLD = [
    situation
    for situation in SITUATIONS
    if situation.name
    in {
        "a good and a bad write in one reply",
        "a record that a write made stale",
        "several turns: what was written is still stale",
        "several turns: what was rejected was not done",
    }
]


@pytest.fixture(params=[make for make in DRIVERS if make.journals], ids=lambda make: make.name)
def make(request: pytest.FixtureRequest) -> type[Driver]:
    found: type[Driver] = request.param
    reason = unavailable(found)
    if reason:
        pytest.skip(reason)
    return found


def sessions_of(file: Path) -> list[list[Event]]:
    """The records of each conversation, in the order in which the conversations began."""
    store = open_store(file)
    assert verify(store).intact
    sessions: dict[str, list[Event]] = {}
    for record in read(store):
        sessions.setdefault(record["session"], []).append(record)
    store.close()
    return list(sessions.values())


def verdicts(records: list[Event]) -> list[tuple[str, str]]:
    judged = (record for record in records if record["event"] == "judged")
    return [(v["call"]["name"], v["decision"]) for record in judged for v in record["verdicts"]]


def ran(records: list[Event]) -> list[tuple[str, str]]:
    """The calls that were answered by a tool."""
    told = [r["call"] for r in records if r["event"] in ("observed", "executed")]
    return sorted(ToolCall(name=c["name"], arguments=c["arguments"]).intent for c in told)


def scripted(situation: Situation, *decisions: Decision) -> list[tuple[str, str]]:
    """The calls of a situation whose verdict is one of these."""
    steps = (step for turn in situation.turns for step in turn.steps)
    return sorted(call.intent for s in steps for call, verdict in s.calls if verdict in decisions)


def flat(situation: Situation) -> list[tuple[str, str]]:
    return [verdict for verdicts in situation.verdicts for verdict in verdicts]


def played(make: type[Driver], file: Path, scenes: list[Scene]) -> None:
    """Plays the scenes one after the other on one driver with a journal."""
    mode = "shadow" if scenes[0].shadow else "enforce"
    with Journal.open(file, load_domain("shop")) as journal:
        driver = make(journal=journal, mode=mode)
        try:
            for scene in scenes:
                play(driver, scene)
        finally:
            driver.close()


def test_the_journal_tells_what_happened(make: type[Driver], tmp_path: Path) -> None:
    file = tmp_path / ("journal.db" if DRIVERS.index(make) % 2 else "journal.jsonl")
    scenes = [Scene(situation, key=situation.name) for situation in TOLD]
    played(make, file, scenes)
    sessions = sessions_of(file)
    assert len(sessions) == len(scenes), "a conversation of several runs is one session"
    for scene, records in zip(scenes, sessions, strict=True):
        verify_scene(scene)
        assert verdicts(records) == flat(scene.situation)
        assert ran(records) == scripted(scene.situation, Decision.ALLOW)
        assert not any(r["shadow"] for r in records if r["event"] == "judged")
        assert {r["pack"]["digest"] for r in records} == {load_domain("shop").digest}
    assert_replayed(file, tmp_path, scenes)


def assert_replayed(file: Path, folder: Path, scenes: list[Scene]) -> None:
    """The conversations of the journal are judged by `replay` as they were when they happened."""
    store = open_store(file)
    lines = folder / "exported.jsonl"
    lines.write_text("".join(f"{json.dumps(one)}\n" for one in exported(read(store))))
    store.close()
    result = replay([str(lines)], "shop")
    domain = load_domain("shop")
    every = (verdict for scene in scenes for verdict in flat(scene.situation))
    expected = Counter(v for name, v in every if domain.effect(name) is Effect.WRITE)
    revised = result.writes["revise_evidence"] + result.writes["revise_violation"]
    found = {"ALLOW": result.writes["allow"], "REVISE": revised, "BLOCK": result.writes["block"]}
    assert found == expected
    assert result.writes["executed"] == expected["ALLOW"]


def shadows() -> Iterator[Situation]:
    """Situations whose verdicts stay the same where rejected calls are executed."""
    wanted = {"a write that policy forbids", "words and calls in one reply", "parallel reads"}
    yield from (situation for situation in SITUATIONS if situation.name in wanted)


def test_shadow_mode_records_and_changes_nothing(make: type[Driver], tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    scenes = [Scene(situation, key=situation.name, shadow=True) for situation in shadows()]
    played(make, file, scenes)
    for scene, records in zip(scenes, sessions_of(file), strict=True):
        situation = scene.situation
        assert len(scene.executed) == len(scripted(situation, *Decision))
        assert verdicts(records) == flat(situation)
        assert all(record["shadow"] for record in records if record["event"] == "judged")
        assert ran(records) == scripted(situation, *Decision)
        assert not any(scene.tails), "the prompt is what the host made it"
        assert not any("not executed" in answer for answer in scene.answers)
