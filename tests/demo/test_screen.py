"""What the demo prints: the golden screen, other widths, ASCII, colour, JSON, and the command."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ledgeragent.cli import demo
from ledgeragent.demo.columns import ASCII, Ink, ScreenLine, ScreenSpan, beside, paragraph, wrapped
from ledgeragent.demo.play import play_guarded, play_plain
from ledgeragent.demo.scenarios import SCENARIOS
from ledgeragent.demo.screen import Screen, Show
from ledgeragent.packs import load_domain

GOLDEN = Path(__file__).parents[1] / "golden" / "demo.txt"
SHOP = load_domain("shop")
SHOWS = [Show(scenario=s, plain=play_plain(s), guarded=play_guarded(s, SHOP)) for s in SCENARIOS]


def drawn(width: int = 100, ink: Ink | None = None) -> str:
    return Screen(width=width, domain=SHOP, ink=ink or Ink()).draw(SHOWS)


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    demo.add(parser.add_subparsers())
    return parser.parse_args(["demo", *arguments])


def printed(monkeypatch: pytest.MonkeyPatch, *arguments: str, encoding: str = "utf-8") -> str:
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding=encoding, newline="\n"))
    assert demo.run(parsed(*arguments)) == 0
    sys.stdout.flush()
    return buffer.getvalue().decode(encoding)


def test_the_screen_is_the_golden_one() -> None:
    """Set LEDGERAGENT_UPDATE_GOLDEN=1 to accept a new screen, and look at the difference."""
    if os.environ.get("LEDGERAGENT_UPDATE_GOLDEN"):
        GOLDEN.write_text(drawn(), encoding="utf-8")
    assert drawn() == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [80, 81, 100, 120, 240])
@pytest.mark.parametrize("ink", [Ink(), ASCII], ids=["unicode", "ascii"])
def test_no_line_is_longer_than_the_width(width: int, ink: Ink) -> None:
    lines = drawn(width, ink).splitlines()
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("width", [80, 100])
def test_bars_stand_in_line(width: int) -> None:
    for line in drawn(width).splitlines():
        if line.count("│") == 1:
            assert line.index("│") == (width - 3) // 2 + 1


def test_plain_ink_is_ascii() -> None:
    assert drawn(ink=ASCII).isascii()


def test_colour_adds_nothing_but_colour() -> None:
    colourful = drawn(ink=replace(Ink(), colour=True))
    assert "\x1b[" in colourful
    bare = re.sub(r"\x1b\[[0-9;]*m", "", colourful)
    assert [line.rstrip() for line in bare.splitlines()] == drawn().splitlines()


def test_verdicts_can_be_read_without_colour() -> None:
    text = drawn()
    for word in ("ALLOW", "REVISE", "BLOCK", "STALE", "because", "read by", "✓", "✗"):
        assert word in text


def test_width_and_scenario_are_options(monkeypatch: pytest.MonkeyPatch) -> None:
    text = printed(monkeypatch, "--width", "80", "--scenario", "2")
    assert max(map(len, text.splitlines())) <= 80
    assert "price-paid" in text and "cancel-open" not in text
    assert "with LedgerAgent 1 of 1" in text


@pytest.mark.parametrize("width", ["0", "-5", "79", "1000", "x", "²"])
def test_an_odd_width_is_refused(width: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        parsed("--width", width)
    assert stop.value.code == 2
    assert "80 to 240" in capsys.readouterr().err


def test_a_terminal_that_cannot_draw_lines_gets_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed(monkeypatch, encoding="cp1252").isascii()


def test_plain_means_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed(monkeypatch, "--plain") == drawn(ink=ASCII)


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_colour_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    screens: list[str] = []
    for no_color in ("", "1"):
        monkeypatch.setenv("NO_COLOR", no_color)
        terminal = Terminal()
        monkeypatch.setattr(sys, "stdout", terminal)
        demo.run(parsed())
        screens.append(terminal.getvalue())
    assert "\x1b[" in screens[0]
    assert screens[1] == drawn(90)


def test_json_tells_every_verdict_with_its_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    document = json.loads(printed(monkeypatch, "--format", "json"))
    assert [s["number"] for s in document["scenarios"]] == [1, 2, 3]
    ours = document["scenarios"][0]["ledgeragent"]
    rejected = [e["verdict"] for e in ours["events"] if e.get("verdict", {})]
    assert rejected[-1]["decision"] == "BLOCK"
    assert rejected[-1]["findings"][0]["facts"] == [
        {
            "path": "orders.G-1007.status",
            "value": "packed",
            "read": {"name": "get_order", "arguments": {"order_id": "G-1007"}},
            "turn": 1,
        }
    ]
    assert ours["ledger"].startswith("<ledger>") and "orders.G-1007" in ours["ledger"]
    plain = document["scenarios"][0]["plain"]
    assert plain["ledger"] is None and not plain["as_the_policy_wants_it"]
    assert {"path": "orders.G-1007.status", "before": "packed", "after": "cancelled"} in plain[
        "changes"
    ]


def test_wrapping_breaks_between_words_and_else_at_dots() -> None:
    assert wrapped("one two three", 8) == ["one two", "three"]
    assert wrapped("orders.G-1012.lines", 14) == ["orders.G-1012.", "lines"]
    assert wrapped("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert wrapped("", 10) == [""]


def test_a_paragraph_hangs_under_its_text() -> None:
    lines = paragraph("one two three", 12, label=ScreenSpan("tool"), indent=6)
    assert [Ink().paint(line) for line in lines] == ["tool  one", "      two", "      three"]


def test_columns_are_filled_to_their_widths() -> None:
    left: list[ScreenLine] = [(ScreenSpan("a"),), (ScreenSpan("b"),)]
    right: list[ScreenLine] = [(ScreenSpan("c"),)]
    lines = beside((left, right), (3, 3), ScreenSpan("|"))
    assert ["".join(span.text for span in line) for line in lines] == ["a  |c  ", "b  |   "]


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "-m", "ledgeragent", "demo"],
        [str(Path(sys.executable).with_name("ledgeragent")), "demo"],
    ],
    ids=["module", "script"],
)
def test_the_command_prints_the_golden_screen(command: list[str], tmp_path: Path) -> None:
    bare = {"PATH": os.environ.get("PATH", ""), "PYTHONIOENCODING": "utf-8", "HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=bare, check=True)
    assert done.stdout.decode() == GOLDEN.read_text(encoding="utf-8")
    assert done.stderr == b""
    assert list(tmp_path.iterdir()) == []
