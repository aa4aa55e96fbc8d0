"""The text of a pack: what was never called stands in it as well, and nothing is narrower than was seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from ledgeragent.compiler.problems import Severity
from ledgeragent.compiler.source.toolfile import read_tools
from ledgeragent.effects import Effect
from ledgeragent.mining.draft import draft
from ledgeragent.mining.packtext import PackText
from ledgeragent.mining.recording import RecordedRuns
from ledgeragent.mining.rules.drafting import drafted as rules_drafted
from ledgeragent.packs import load_domain
from ledgeragent.packs.checking import check
from tests.mining.runs import Answered, drafted, office_runs, runs_of

pytest.importorskip("cel_expr_python")

TOOLS = Path(__file__).parents[2] / "examples" / "parking" / "tools.json"


def test_tools_of_the_file_that_nobody_called_are_listed(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, [("get_zone", {"zone": "A"}, {"zone": "A", "free": 3})])
    with RecordedRuns([str(runs)]) as recording:
        text = PackText(draft(recording, read_tools(TOOLS)), "parking").text()
    file = tmp_path / "pack.yaml"
    file.write_text(text)
    names = {tool["name"] for tool in json.loads(TOOLS.read_text())["tools"]}
    assert {tool.tool for tool in load_domain(str(file)).tools} == names
    assert check(str(file), tools=TOOLS) == []
    assert "  get_permit:  # review: 0 calls in 0 conversations" in text


def test_tools_that_never_answered_and_that_no_file_has_are_named_and_left_out(
    tmp_path: Path,
) -> None:
    read: Answered = ("get_zone", {"zone": "A"}, {"zone": "A", "free": 3})
    invented: Answered = ("get_weather", {}, "Error: there is no such tool")
    text = PackText(drafted(tmp_path, [read, invented, invented]), "parking").text()
    assert "# review: left out: get_weather: all 2 calls failed" in text
    assert "get_weather:  #" not in text


def test_one_and_the_same_runs_give_one_and_the_same_text(tmp_path: Path) -> None:
    runs = office_runs(tmp_path, 60)
    texts = set()
    for _ in range(2):
        with RecordedRuns([str(runs)]) as recording:
            texts.add(PackText(draft(recording), "parking").text())
    assert len(texts) == 1


def test_what_the_office_does_is_told_from_its_conversations(tmp_path: Path) -> None:
    file = tmp_path / "pack.yaml"
    with RecordedRuns([str(office_runs(tmp_path, 120))]) as recording:
        file.write_text(PackText(draft(recording), "parking").text())
    mined, own = load_domain(str(file)), load_domain(str(TOOLS.parent))
    for effect in Effect:
        names = [{t.tool for t in d.tools if t.effect is effect} for d in (mined, own)]
        assert names[0] == names[1]
    text = file.read_text()
    for line in (
        "permits.{permit_id}: zone",
        "zones.{zone}: free",
        "fines.{fine_id}: status",
        "residents.{resident_id}: waivers_this_year",
        "permits.{permit_id}: valid_until",
    ):
        assert f"- {line}  # changed in" in text


@pytest.mark.parametrize(
    "end",
    ["\n", "\r", "\x85", "\u2028", "\u2029", "\x00", "\ud800", "\uffff", " # ", "\U0001f437"],
)
def test_no_recorded_name_breaks_out_of_its_line(tmp_path: Path, end: str) -> None:
    hostile = f"x{end}unguarded: 1"
    record = {"id": "p1", "kind": "sow", "pen": "A"}
    calls: list[Answered] = [
        ("get_pig", {"id": "p1"}, {**record, hostile: hostile}),
        ("find_pig", {"id": "p1"}, record),
        (f"get_{hostile}", {hostile: "p1"}, {hostile: "p1", "pen": "A"}),
        (hostile, {}, "Error: there is no such tool"),
    ]
    text = PackText(drafted(tmp_path, calls), "farm").text()
    pack = yaml.safe_load(text)
    assert pack.keys() == {"schema", "domain", "version", "records", "reads"}
    # Half a character has no YAML: such a tool stays unknown.
    assert f"get_{hostile}".replace("\ud800", "\ufffd") in pack["reads"]
    assert "# review: left out: x" in text
    assert text.encode().decode() == text


ODD = (
    "in", "a.b", "a: b", "a }", "{x}", "{{x}}", "x, y", "&a", "*a", "!t", "- x", "a\u2028b", "a\nb",
    "\x85", "'", '"', "\\", "|", "?", "a?", "\u202ea", "\ud800", "\x00", "~", "<<", "...", "*", " id",
    "id ", "1", "args", "#a", "\ufeff", "id\u0301", "\u00e9", "\U0001f437", "x\U000e0100", "\uffff",
)  # fmt: skip


@pytest.mark.parametrize("place", ["read", "write", "argument", "nested", "field", "value"])
@pytest.mark.parametrize("odd", ODD)
def test_whatever_stands_in_a_recording_the_draft_is_a_pack(
    tmp_path: Path, odd: str, place: str
) -> None:
    read, write = "get_order", "cancel_order"
    key, field, state = "order_id", "status", "open"
    match place:
        case "read":
            read = f"get_{odd}"
        case "write":
            write = f"cancel_{odd}"
        case "argument" | "nested":
            key = odd
        case "field":
            field = odd
        case "value":
            state = odd
    runs = []
    for number in range(6):
        name = f"o{number}"
        named: dict[str, Any] = {key: name}
        last = {"order": named} if place == "nested" else named
        before, after = ({"order_id": name, field: s, "n": number} for s in (state, "closed"))
        refused = f"Error: it is {odd}"
        runs.append(
            [
                (read, named, before),
                (write, last, "ok"),
                (read, named, after),
                (write, last, refused),
            ]
        )
    with RecordedRuns([str(runs_of(tmp_path, *runs))]) as recording:
        result = draft(recording)
        rules = rules_drafted("shop", result, recording, least=3)
        text = PackText(result, "shop").text(rules.guarded)
    pack = tmp_path / "pack"
    pack.mkdir()
    for file, content in {"pack.yaml": text, **rules.texts}.items():
        (pack / file).write_text(content, encoding="utf-8")
    assert [finding for finding in check(str(pack)) if finding.severity is Severity.ERROR] == []
    tools = {tool.tool: tool for tool in load_domain(str(pack)).tools}
    assert tools.keys() == {name.replace("\ud800", "\ufffd") for name in (read, write)}
    written = yaml.safe_load(text)["writes"][write.replace("\ud800", "\ufffd")]
    assert written["touches"], "what changed is touched"
