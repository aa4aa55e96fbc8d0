"""IRMA and FAMA on the real tau2 harness, with every helper, against a scripted model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.bench.arms.fama.choice import HelperChoice, write
from ledgeragent.bench.arms.helpers import HELPERS, VERIFIER
from ledgeragent.bench.results.reading import read_results
from ledgeragent.bench.results.results import Run
from tests.bench.tau2.model_server import Body, Script, serving
from tests.cli.command import ledgeragent

pytestmark = pytest.mark.skipif(
    find_spec("tau2") is None, reason="the tau2 harness is not installed (extra tau2)"
)


class Helping(Script):
    """A customer who asks what there is; the verifier objects to the first draft it is shown."""

    def __init__(self) -> None:
        super().__init__([], [])
        self.objected = False

    def reply(self, arm: str, body: Body) -> Body:
        instructions = str(body["messages"][0]["content"])
        if body.get("tools"):
            self.agent_requests[arm].append(body)
            return self._agent_says(body)
        self.other_requests[arm].append(body)
        if "###STOP###" in instructions:
            asked = any(message["role"] == "assistant" for message in body["messages"])
            return _said("###STOP###" if asked else "What do you sell?")
        if "is about to do" in instructions:
            objects, self.objected = not self.objected, True
            return _said("That is not what was asked for." if objects else "none")
        return _said("list_all_product_types - it shows what there is")

    def _agent_says(self, body: Body) -> Body:
        messages = body["messages"]
        if any(message["role"] == "tool" for message in messages):
            return _said("We sell lamps.")
        if VERIFIER.heading in str(messages[-1]["content"]):
            function = {"name": "list_all_product_types", "arguments": "{}"}
            made = [{"id": "c1", "type": "function", "function": function}]
            return {"role": "assistant", "content": None, "tool_calls": made}
        return _said("We sell nothing.")


def _said(text: str) -> Body:
    return {"role": "assistant", "content": text}


@pytest.fixture(scope="module")
def choice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("choice") / "choice.json"
    told = HelperChoice(
        model="openai/scripted",
        domain="retail",
        helpers=tuple(HELPERS),
        failed=1,
        causes={},
        votes={},
        tasks=(),
    )
    write(file, [told], {})
    return file


@pytest.fixture(scope="module")
def played(
    tmp_path_factory: pytest.TempPathFactory, choice: Path
) -> Iterator[tuple[Helping, dict[str, Run]]]:
    """One retail task by fama with all six helpers and by irma at every step."""
    results = tmp_path_factory.mktemp("runs") / "runs.jsonl"
    script = Helping()
    with serving(script) as url:
        command = ["bench", "run", "--domain", "retail", "--tasks", "1"]
        command += ["--arm", "fama", "--arm", "irma", "--model", "scripted", "--workers", "1"]
        command += ["--trials", "1", "--fama-choice", str(choice), "--irma-when", "every_step"]
        command += ["--url", f"{url}/any", "-o", str(results)]
        done = ledgeragent(*command, env={"LEDGERAGENT_DATA_DIR": ""})
        assert done.code == 0, done.out[-2000:] + done.err[-4000:]
    yield script, {run.arm: run for run in read_results(str(results))}
    assert json.loads(results.read_text().splitlines()[0])["settings"]["fama"]


def prompts(script: Helping) -> list[list[dict[str, Any]]]:
    return [body["messages"] for body in script.agent_requests["any"]]


def test_the_chosen_helpers_speak_at_the_tail_and_the_verifier_after_a_draft(
    played: tuple[Helping, dict[str, Run]],
) -> None:
    script, _ = played
    first, second, third = (messages[-1]["content"] for messages in prompts(script)[:3])
    headings = [h.heading for h in HELPERS.values() if h.name not in ("output", "verifier")]
    assert [heading in first for heading in headings] == [True] * len(headings)
    assert first.startswith("Requests so far:\n1. What do you sell?")
    assert second.startswith(
        f"{first}\n\nObjections to what you were about to do (We sell nothing.):\n"
    )
    assert prompts(script)[1][:-1] == prompts(script)[0][:-1]
    assert HELPERS["output"].heading in third


def test_what_the_verifier_prevented_was_not_sent(
    played: tuple[Helping, dict[str, Run]],
) -> None:
    run = played[1]["fama"]
    assert [call.name for call in run.calls] == ["list_all_product_types"]
    assert "We sell nothing." not in json.dumps(run.messages)


def test_helpers_and_drafts_are_counted_apart_and_whole(
    played: tuple[Helping, dict[str, Run]],
) -> None:
    spent = played[1]["fama"].spent
    # Two decisions and the draft that was dropped; `output` has something to write out once.
    assert spent.generations == 3
    calls = {name: cost.calls for name, cost in spent.by_helper.items()}
    assert calls == {"constraints": 2, "tools": 2, "output": 1, "planner": 2, "verifier": 2}
    assert spent.helpers == sum(calls.values()) == 9
    assert spent.helper_tokens == 9 * 12
    assert spent.tokens == (9 + 3) * 12


def test_irma_can_run_its_helpers_at_every_step(
    played: tuple[Helping, dict[str, Run]],
) -> None:
    spent = played[1]["irma"].spent
    assert {name: cost.calls for name, cost in spent.by_helper.items()} == {
        "constraints": spent.generations,
        "tools": spent.generations,
    }
