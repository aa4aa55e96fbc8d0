"""Runs of AgentDojo: chat messages whose calls have `function` and `args`, and how the run ended."""

from __future__ import annotations

from collections.abc import Iterator

from ledgeragent.offline.forms.chat import write_chat
from ledgeragent.offline.forms.form import Dialogue, Form, listed
from ledgeragent.types import Json


def _talks(value: Json) -> Iterator[Dialogue]:
    task = "/".join(
        str(value[key])
        for key in ("suite_name", "user_task_id", "injection_task_id")
        if value.get(key) is not None
    )
    utility = value.get("utility")
    record = {"task_id": task, "reward": float(utility) if isinstance(utility, bool) else utility}
    messages = listed(value, "messages") or []
    yield Dialogue(record, lambda scribe: write_chat(messages, scribe))


def _unfit(value: Json) -> str | None:
    if not isinstance(value, dict) or "user_task_id" not in value or "messages" not in value:
        return "no user_task_id beside messages"
    return None


FORM = Form(
    name="agentdojo",
    title="AgentDojo runs",
    looks='`{"suite_name", "user_task_id", "messages", "utility"}`, calls with `function` and `args`',
    unfit=_unfit,
    dialogues=_talks,
)
