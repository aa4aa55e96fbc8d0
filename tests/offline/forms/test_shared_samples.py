"""The samples that libraries wrote: each is read as the conversation that it is. Needs the shared data."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.cli.command import ledgeragent

TOOLS = ["find_customer", "get_order", "get_parcel", "get_product", "refund_item"]
SAMPLES = {
    "00_openai_chat.json": "openai-chat",
    "01_anthropic_messages.json": "anthropic",
    "02_otel_gen_ai_input_messages.json": "gen-ai",
    "04_ag2_chat_history.json": "ag2",
    "05_role_plus_langchain_toolcalls.json": "openai-chat",
    "06_hf_chat_template_no_ids.json": "openai-chat",
    "12_mcp_jsonrpc.jsonl": "mcp",
    "20_pydantic_ai_history.json": "pydantic-ai",
    "22_otlp_json_pydantic_ai.json": "spans",
    "24_agents_sdk_session.sqlite": "agents-sdk",
    "25_responses_items.json": "responses",
    "27_langchain_messages_to_dict.json": "langchain",
    "28_langchain_model_dump.json": "langchain",
    "31_langsmith_run.json": "langsmith",
    "50_inspect_sample_messages.json": "inspect",
    "51_inspect_log.json": "inspect",
    "54_claude_code.jsonl": "claude-code",
    "58_every_request_logged.jsonl": "openai-chat",
    "60_mcp_prefixed_names.json": "openai-chat",
}


@pytest.fixture
def samples(data_dir: Path) -> Path:
    """The folder of samples."""
    folder = data_dir / "traces"
    if not folder.is_dir():
        pytest.skip("no samples of traces in the data")
    return folder


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_read_rightly(samples: Path, name: str) -> None:
    done = ledgeragent("replay", samples / name, "--domain", "shop", "--format", "json")
    assert (done.code, done.err) == (0, "")
    found = done.json
    assert (found["runs"], found["calls"]) == (1, 5)
    assert sorted(found["coverage"]["tools"]) == TOOLS
    assert (found["writes"]["judged"], found["writes"]["executed"]) == (1, 1)
    (row,) = found["rejected_executed_writes"]
    assert (row["predicate"], row["call"]["name"]) == ("shop/price-paid", "refund_item")
    assert row["call"]["arguments"]["amount"] == 29.0


def test_every_sample_is_understood_and_its_form_named(samples: Path) -> None:
    files = [samples / name for name in SAMPLES]
    done = ledgeragent("traces", *files, "--domain", "shop", "--format", "json")
    assert done.code == 0
    forms = {Path(one["file"]).name: [*one["forms"]] for one in done.json["files"]}
    assert forms == {name: [form] for name, form in SAMPLES.items()}
    assert not any(one["unlisted"] for one in done.json["files"])


def test_calls_whose_tools_failed_have_not_executed(samples: Path) -> None:
    # Every return of this sample is an error of its tools, whatever its status says.
    file = samples / "40_strands_messages.json"
    found = ledgeragent("replay", file, "--domain", "shop", "--format", "json").json
    assert (found["calls"], found["writes"]["judged"], found["writes"]["executed"]) == (5, 1, 0)


def test_a_right_refund_twice_in_one_reply_is_one_too_many(samples: Path) -> None:
    file = samples / "62_double_refund.json"
    found = ledgeragent("replay", file, "--domain", "shop", "--format", "json").json
    assert (found["calls"], found["writes"]["judged"], found["writes"]["allow"]) == (6, 2, 1)


def test_samples_are_read_as_a_folder_packed_and_from_standard_input(
    samples: Path, tmp_path: Path
) -> None:
    names = [*SAMPLES][:12]
    for name in names:
        packed = gzip.compress((samples / name).read_bytes())
        (tmp_path / f"{name}.gz").write_bytes(packed)
        done = ledgeragent("traces", "-", "--format", "json", stdin=packed)
        assert [*done.json["files"][0]["forms"]] == [SAMPLES[name]]
    done = ledgeragent("replay", tmp_path, "--domain", "shop", "--format", "json")
    assert (done.json["runs"], done.json["calls"]) == (len(names), 5 * len(names))
    assert json.dumps(done.json["problems"]) == "[]"
