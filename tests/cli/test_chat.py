"""`ledgeragent chat`: the scripted conversations, a served model, and what cannot be combined."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.cli.main import OK, UNUSABLE, main
from ledgeragent.demo.scenarios import SCENARIOS
from tests.conformance.scene import Scene
from tests.conformance.situations import SITUATIONS
from tests.conformance.upstream import Upstream

MENDED = next(s for s in SITUATIONS if s.name.startswith("a write before any read"))


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    server = Upstream()
    yield server
    server.close()


def chat(monkeypatch: pytest.MonkeyPatch, capsys: Any, typed: str, *arguments: str) -> str:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert main(["chat", "--domain", "shop", "--plain", *arguments]) == OK
    return str(capsys.readouterr().out)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.title)
def test_a_scripted_conversation_is_played(scenario: Any, monkeypatch: Any, capsys: Any) -> None:
    output = chat(monkeypatch, capsys, "", "--scenario", str(scenario.number))
    assert output.isascii()
    assert output.count("you ") >= len(scenario.turns)
    assert "| ALLOW" in output
    assert max(map(len, output.split("the ledger in the end")[0].splitlines())) <= 100


def test_a_rejected_call_changes_nothing(monkeypatch: Any, capsys: Any) -> None:
    output = chat(monkeypatch, capsys, "")
    assert "| BLOCK" in output
    assert "changed:" not in output


def test_a_served_model_is_talked_to(upstream: Upstream, monkeypatch: Any, capsys: Any) -> None:
    scene = Scene(MENDED)
    upstream.scenes[scene.key] = scene
    monkeypatch.setenv("OPENAI_API_KEY", scene.key)
    typed = "Cancel G-1010.\n\n/ledger\n/quit\nnever said\n"
    address = f"{upstream.url}/v1"
    output = chat(monkeypatch, capsys, typed, "--model", address, "--model-name", "scripted")
    scene.close()
    assert "| REVISE" in output
    assert "Is there anything else?" in output
    assert "orders.G-1010 (in part out of date)" in output
    assert "changed: orders.G-1010.status: 'open' -> 'cancelled'" in output
    assert "never said" not in output


@pytest.mark.parametrize("name", ["chat.jsonl", "chat.db"])
def test_a_conversation_is_journaled(
    name: str, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    file = str(tmp_path / name)
    chat(monkeypatch, capsys, "", "--scenario", "1", "--journal", file, "--redact", "text")
    assert main(["journal", "verify", file]) == OK
    assert main(["journal", "show", file]) == OK
    shown = capsys.readouterr().out
    assert "=BLOCK" in shown and " observed " in shown
    said = SCENARIOS[0].turns[0].says
    assert said not in shown and "[redacted]" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "http://127.0.0.1:9"], "--model-name"),
        (["--redact", "text"], "--journal"),
        (["--model", "http://127.0.0.1:9", "--model-name", "m", "--scenario", "1"], "--scenario"),
    ],
)
def test_options_that_do_not_fit(arguments: list[str], words: str, capsys: Any) -> None:
    assert main(["chat", *arguments]) == UNUSABLE
    assert words in capsys.readouterr().err
