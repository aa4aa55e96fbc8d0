"""The price of the ledger: arithmetic on a run small enough for paper, goals on recorded ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledgeragent import load_domain
from ledgeragent.bench.tokens.cost import Prefixes, measure
from ledgeragent.bench.tokens.prompt_cost import FRAME, Cost, PromptArm
from ledgeragent.bench.tokens.tokens import Counter, counter
from ledgeragent.cli.main import main
from ledgeragent.offline.traces import Trace
from ledgeragent.types import Reply, ToolCall, ToolReturn, UserMessage

LETTERS = Counter("letters", len)
READ = ToolCall(name="get_order", arguments={"order_id": "G-1"}, id="1")
RUN = Trace(
    run="r",
    messages=(
        Reply(text="a fixed greeting"),
        UserMessage(text="hi"),
        Reply(calls=(READ,)),
        ToolReturn(call_id="1", content='{"order_id": "G-1"}'),
        Reply(text="done"),
    ),
)


def _cost() -> Cost:
    cost = Cost()
    cost.count(RUN, load_domain("shop"), 100, LETTERS)
    return cost


def test_without_a_ledger_only_what_is_new_is_uncached() -> None:
    plain = _cost().arms[PromptArm("fc")]
    first = len("a fixed greeting") + len("hi") + 2 * FRAME
    new = len('get_order {"order_id":"G-1"}') + len('{"order_id": "G-1"}') + 2 * FRAME
    assert (plain.total, plain.cached) == (100 + first + 100 + first + new, 100 + 100 + first)
    assert plain.uncached == first + new
    assert plain.weighted == pytest.approx(plain.uncached + 0.1 * plain.cached)


def test_a_block_at_the_tail_is_read_anew_and_one_in_front_throws_the_history_away() -> None:
    arms = _cost().arms
    plain, tail, front = (
        arms[PromptArm("fc")],
        arms[PromptArm("full", "tail")],
        arms[PromptArm("full", "system prompt")],
    )
    assert tail.total == front.total > plain.total
    assert tail.uncached == plain.uncached + (tail.total - plain.total)
    assert front.uncached > tail.uncached - len("<ledger>\n")


def test_only_replies_after_somebody_spoke_are_prompts() -> None:
    assert _cost().prompts == 2


def test_the_report_names_the_tokens_and_every_arm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.json"
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
    ]
    file.write_text(json.dumps({"domain": "shop", "messages": messages}))
    assert main(["bench", "cost", str(file), "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["tokens"] == counter().name
    assert report["domains"]["shop"]["arms"]["index, tail"]["total_ratio"] >= 1
    assert len(report["domains"]["shop"]["arms"]) == 7
    assert main(["bench", "cost", str(file)]) == 0
    assert "index, system prompt" in capsys.readouterr().out


def test_no_run_of_a_known_domain_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps([{"role": "user", "content": "hi"}]))
    assert main(["bench", "cost", str(file)]) == 2
    assert "no run of a known domain" in capsys.readouterr().err


@pytest.mark.parametrize("domain", ["airline", "retail"])
def test_the_goals_hold_on_recorded_runs(data_dir: Path, domain: str) -> None:
    files = sorted(map(str, (data_dir / "trajectories").glob(f"tau2_{domain}__*.jsonl.gz")))
    (cost,) = measure(files[:1], domain, Prefixes(data_dir), counter()).values()
    arms = cost.as_json()["arms"]
    assert arms["compact, tail"]["total_ratio"] <= 1.02
    assert arms["index, tail"]["price_weighted_ratio"] <= 1.15
