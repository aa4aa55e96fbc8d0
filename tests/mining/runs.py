"""Recorded runs for the tests: the parking office of the examples, and conversations made call by call."""

from __future__ import annotations

import importlib.util
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ledgeragent.mining.draft import Draft, draft
from ledgeragent.mining.recording import RecordedRuns

EXAMPLE = Path(__file__).parents[2] / "examples" / "parking" / "play.py"
Answered = tuple[str, dict[str, Any], Any]
"""A tool, its arguments and what it answers."""


def office_runs(folder: Path, count: int) -> Path:
    """A file with conversations at the parking office."""
    spec = importlib.util.spec_from_file_location("parking_play", EXAMPLE)
    assert spec is not None and spec.loader is not None
    play = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(play)
    office = play.Office(count, random.Random(7))
    dialogues = [{"messages": play.played(office, n)} for n in range(1, count + 1)]
    return written(folder, dialogues)


def runs_of(folder: Path, *conversations: Sequence[Answered]) -> Path:
    """A file with a conversation for each list of answered calls."""
    return written(folder, [{"messages": _messages(calls)} for calls in conversations])


def written(folder: Path, dialogues: Sequence[dict[str, Any]]) -> Path:
    """The file with these conversations, a line each."""
    file = folder / "runs.jsonl"
    file.write_text("".join(f"{json.dumps(dialogue)}\n" for dialogue in dialogues))
    return file


def _messages(calls: Sequence[Answered]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "hello"}]
    for number, (tool, arguments, answer) in enumerate(calls):
        function = {"name": tool, "arguments": json.dumps(arguments)}
        call = {"id": f"c{number}", "type": "function", "function": function}
        content = answer if isinstance(answer, str) else json.dumps(answer)
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": content})
    return messages


def drafted(folder: Path, *conversations: Sequence[Answered]) -> Draft:
    """The draft from these conversations."""
    with RecordedRuns([str(runs_of(folder, *conversations))]) as recording:
        return draft(recording)
