"""Packs mined from the trajectories of SOPBench, against what that set says of its tools.

`python -m benchmarks.sopbench FOLDER`, where FOLDER is the set's own `output/`. The set (seven domains of
customer service, trajectories of other people's agents) is public and no part of the project. Its tools
answer with a pair of a flag and a value, or with a flag alone; a flag that is false is a refusal. What
each tool is, and what its answers hang on, was labelled by hand from the set's own descriptions.
"""

from __future__ import annotations

import argparse
import ast
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ledgeragent.check import findings_of
from ledgeragent.compiler.loader import read_outline
from ledgeragent.mining.draft import Draft, draft
from ledgeragent.mining.packtext import PackText
from ledgeragent.mining.recording import RecordedRuns

RESULT = Path(__file__).parent / "results" / "sopbench.json"
RUNS = "*-mode_fc-dep_full-fmt_structured-tool_full-shuffle_False.json"
"""Runs of agents that call functions and have all tools."""

USER, CARD = ("username",), ("card_number",)

READS: dict[str, dict[str, tuple[tuple[str, ...], ...]]] = {
    "bank": {
        "get_account_balance": (USER,),
        "get_account_owed_balance": (USER,),
        "get_bank_maximum_loan_amount": (("bank_total_cash",),),
        "get_credit_card_info": (CARD,),
        "get_credit_cards": (CARD, USER),
        "get_safety_box": (USER,),
        "internal_check_credit_card_exist": (("username", "card_number"),),
        "internal_check_foreign_currency_available": (("foreign_currency_type",),),
        "internal_check_username_exist": (USER,),
        "internal_get_credit_score": (USER,),
    },
    "dmv": {
        "get_dl_status": (USER,),
        "get_reg_status": (("username", "plate_num"),),
        "internal_check_test_slot_available": (("test_type", "schedule_time"),),
        "internal_check_username_exist": (USER,),
        "internal_get_dl_details": (USER,),
        "internal_get_interaction_time": ((),),
        "internal_get_test_details": (("username", "test_type"),),
        "internal_get_user_birthday": (USER,),
        "internal_get_vehicle_details": (("username", "plate_num"),),
        "internal_has_dl": (USER,),
        "internal_has_vehicle": (("username", "plate_num"),),
        "internal_valid_test_type": (("test_type",),),
        "internal_vehicle_registered": (("plate_num",),),
        "show_available_test_slots": (("username", "test_type"),),
    },
    "healthcare": {
        "get_claim_details": (("claim_id",),),
        "get_claim_history": (("claim_id",), USER),
        "get_policy_details": (USER,),
        "get_provider_details": (("provider_id",),),
        "internal_check_claim_exists": (("username", "claim_id"),),
        "internal_check_provider_exists": (("provider_id",),),
        "internal_check_username_exist": (USER,),
        "internal_get_interaction_time": ((),),
    },
}
"""The reads of each domain, with the keys that tell their records apart; of a list also its elements'."""


def runs_of(folder: Path) -> Iterator[dict[str, Any]]:
    """The conversations of a domain as OpenAI message lists."""
    for file in sorted(folder.glob(RUNS)):
        if file.stat().st_size:
            for task in json.loads(file.read_text(encoding="utf-8")):
                for run in task["interactions"]:
                    yield {"messages": [_message(one) for one in run["interaction"]]}


def _message(one: Mapping[str, Any]) -> dict[str, Any]:
    if "tool_name" in one:
        content = _answer(one["content"])
        return {"role": "tool", "tool_call_id": one["tool_call_id"], "content": content}
    if one.get("sender") == "user":
        return {"role": "user", "content": one["content"]}
    calls = [{**call, "type": "function"} for call in one.get("tool_calls") or ()]
    return {"role": "assistant", "content": one.get("content"), "tool_calls": calls or None}


def _answer(content: str) -> str:
    """The value that a tool answered with, as JSON; a refusal where its flag is false."""
    try:
        value = ast.literal_eval(content)
    except (ValueError, SyntaxError):
        return f"Error: {content}"
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], bool):
        return json.dumps(value[1]) if value[0] else "Error: refused"
    return "Error: refused" if value is False else json.dumps(value)


def judged(domain: str, folder: Path) -> dict[str, Any]:
    """One mined pack beside the labels. Tools that never succeeded in any run are not counted."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "runs.jsonl")
        file.write_text("".join(f"{json.dumps(run)}\n" for run in runs_of(folder / domain)))
        with RecordedRuns([str(file)]) as recording:
            mined = draft(recording)
        pack = Path(place, "pack.yaml")
        pack.write_text(PackText(mined, domain).text())
        findings = len(findings_of(read_outline(pack)))
    return {
        "domain": domain,
        "runs": mined.runs,
        "tools": _kinds(domain, mined),
        "routes": _routes(domain, mined),
        "findings": findings,
    }


def _kinds(domain: str, mined: Draft) -> dict[str, Any]:
    """Reads are those of the labels; the set has no tool that neither reads nor changes anything."""
    wrong = {
        tool: kind
        for tool, (kind, _) in sorted(mined.kinds.items())
        if kind != ("read" if tool in READS[domain] else "write")
    }
    return {"right": len(mined.kinds) - len(wrong), "of": len(mined.kinds), "wrong": wrong}


def _routes(domain: str, mined: Draft) -> dict[str, Any]:
    called = {tool: keys for tool, keys in READS[domain].items() if tool in mined.kinds}
    expected = {(tool, frozenset(own)) for tool, keys in called.items() for own in keys}
    drafted = {(route.tool, frozenset(route.family.keys)) for route in mined.routes}
    lacking = sorted(f"{tool} by {_named(keys)}" for tool, keys in expected - drafted)
    further = sorted(f"{tool} by {_named(keys)}" for tool, keys in drafted - expected)
    right = len(expected & drafted)
    return {"right": right, "of": len(expected), "lacking": lacking, "further": further}


def _named(keys: frozenset[str]) -> str:
    return " and ".join(sorted(keys)) or "nothing"


def main() -> None:
    """Mines each domain whose runs are there, and writes the result file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the set's folder output/")
    folder = parser.parse_args().folder
    domains = [judged(name, folder) for name in READS if (folder / name).is_dir()]
    report = {"command": "python -m benchmarks.sopbench FOLDER", "domains": domains}
    RESULT.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
