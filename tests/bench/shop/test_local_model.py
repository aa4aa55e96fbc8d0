"""A real, tiny model on a real server, through the whole benchmark: the plumbing, not the model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgeragent.bench.ab.toolcheck import ToolSupport, tool_support
from ledgeragent.bench.running.endpoint import Endpoint
from ledgeragent.cli.main import main
from tests.bench.shop import scripted
from tests.llama import BINDING, opted_in, serving

pytestmark = opted_in


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as url:
        yield url


def test_both_arms_get_through_a_conversation(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "runs.jsonl"
    options = ["--url", address, "--model", "smollm2", "--tasks", "cancel-open", "--trials", "1"]
    limits = ["--most", "2", "--timeout", "900", "--option", "max_tokens=24"]
    steady = ["--option", "temperature=0", "--format", "json", "-o", str(kept)]
    assert main(["bench", "shop", *options, *limits, *steady]) == 0
    found = json.loads(capsys.readouterr().out)
    for arm in ("fc", "ledgeragent"):
        assert found[arm]["runs"] == 1 and found[arm]["generations"] >= 1
        assert found[arm]["prompt_tokens"] > 500 and found[arm]["completion_tokens"] > 0
    assert len(kept.read_text().splitlines()) == 2


def test_a_probe_compares_every_way_to_show_the_ledger(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, kept = tmp_path / "runs.jsonl", tmp_path / "answers.jsonl"
    with scripted.server() as url:
        options = ["--model", "careful", "--trials", "1", "--arms", "fc", "--tasks", "one-too-many"]
        assert main(["bench", "shop", "--url", url, *options, "-o", str(runs)]) == 0
    capsys.readouterr()
    command = ["bench", "probe", str(runs), "--model", "smollm2", "--url", address]
    command += ["--by", "completion", "--schema", "--max-tokens", "120", "--timeout", "900"]
    assert main([*command, "--format", "json", "-o", str(kept)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["probes"] == 1 and set(found["arms"]) == {"plain", "full", "compact", "index"}
    answers = [json.loads(line) for line in kept.read_text().splitlines()]
    assert len(answers) == 4
    # Held to the schema, even a tiny model writes the tool's arguments, right or wrong.
    assert all(str(one["proposed"]).startswith("refund_item(") for one in answers)


def test_a_server_that_ignores_tools_is_told_before_anything_is_measured(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint = Endpoint(url=address, model="smollm2", timeout=900, options={"max_tokens": 40})
    hearing = tool_support(endpoint)
    assert hearing.support is ToolSupport.NEVER and hearing.answer
    options = ["--url", address, "--model", "smollm2", "--max-tokens", "40", "--timeout", "900"]
    assert main(["bench", "ab", *options, "--tasks", "1", "-o", str(tmp_path / "ab")]) == 2
    assert "ignores `tools`" in capsys.readouterr().err


def test_an_ab_is_played_to_its_page(tmp_path: Path) -> None:
    with serving(BINDING) as url:
        endpoint = Endpoint(url=url, model="smollm2", timeout=900, options={"max_tokens": 60})
        assert tool_support(endpoint).support is ToolSupport.CALLS
        options = ["--url", url, "--model", "smollm2", "--part", "shop", "--tasks", "1"]
        options += ["--trials", "1", "--jobs", "1", "--max-steps", "2", "--timeout", "900"]
        options += ["--max-tokens", "120", "--option", 'tool_choice="required"']
        assert main(["bench", "ab", *options, "-o", str(tmp_path)]) == 0
    page = (tmp_path / "report.md").read_text()
    rows = [json.loads(line) for line in (tmp_path / "shop.jsonl").read_text().splitlines()]
    assert [row["arm"] for row in rows] == ["fc", "ledgeragent"]
    for row in rows:
        calls = [call for message in row["messages"] for call in message.get("tool_calls") or ()]
        assert calls, row
        assert f"| shop | {row['arm']} |" in page
    assert "No tool was called" not in page
