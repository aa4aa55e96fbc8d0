"""The judgement of one failed run: four analysts, one who weighs what they say, one who picks helpers.

Every judge is a call of a chat model that answers in JSON; the wording of the prompts is ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ledgeragent.bench.arms.fama.causes import CAUSES, Cause
from ledgeragent.bench.arms.helpers import HELPERS
from ledgeragent.bench.results.results import Run
from ledgeragent.bench.running.endpoint import Endpoint, EndpointUsage
from ledgeragent.bench.tokens.transcript import transcript
from ledgeragent.errors import DataError
from ledgeragent.offline.traces import read_messages
from ledgeragent.types import Json

Causes: TypeAlias = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class FamaJudge:
    """A model that answers in JSON; `unread` counts its answers that were none."""

    endpoint: Endpoint
    usage: EndpointUsage
    unread: int = 0

    def ask(self, instructions: str, question: str, schema: Json) -> Causes:
        """The answer; {} where there is none."""
        body = {
            "messages": [
                {"role": "system", "content": instructions},
                {"role": "user", "content": question},
            ],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "judgement", "schema": schema},
            },
        }
        completion = self.endpoint.ask("chat/completions", body)
        usage = completion.get("usage")
        self.usage.add(usage if isinstance(usage, dict) else {})
        answer = _object(str((completion["choices"][0].get("message") or {}).get("content") or ""))
        self.unread += not answer
        return answer


def _object(text: str) -> Causes:
    start = text.find("{")
    try:
        value = json.JSONDecoder().raw_decode(text, start)[0] if start >= 0 else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def judged(run: Run, policy: str, judge: FamaJudge) -> Causes:
    """The analysts' words on a failed run, its dominant causes, and the helpers that cover them."""
    record = f"Policy:\n{policy or '(not given)'}\n\n{_conversation(run)}"
    analyses = {cause.id: _analysed(cause, record, judge) for cause in CAUSES.values()}
    causes = _weighed(analyses, record, judge)
    return {
        "analyses": analyses,
        "causes": causes,
        "helpers": _covering(causes, judge) if causes else [],
    }


def _conversation(run: Run) -> str:
    try:
        text = transcript(read_messages(run.messages))
    except ValueError as error:
        raise DataError(f"no conversation: {error}", file=f"{run.domain} task {run.task}") from None
    return f"The conversation, which ended by {run.termination or 'itself'}:\n{text}"


_VERDICT = {
    "type": "object",
    "properties": {
        "violation": {"type": "string", "enum": ["Yes", "No"]},
        "rationale": {"type": "string"},
    },
    "required": ["violation", "rationale"],
}


def _analysed(cause: Cause, record: str, judge: FamaJudge) -> Causes:
    """One analyst's word, who knows of one cause only."""
    instructions = (
        "A service agent failed at a task. Decide about one possible cause of it and no other: "
        f"{cause.is_that}. Signs of it:\n"
        + "\n".join(f"- {sign}" for sign in cause.signs)
        + '\nAnswer in JSON: "violation" is "Yes" or "No", "rationale" quotes where it shows.'
    )
    answer = judge.ask(instructions, record, _VERDICT)
    says = str(answer.get("violation")).strip().lower() == "yes"
    return {"violation": "Yes" if says else "No", "rationale": str(answer.get("rationale", ""))}


def _weighed(analyses: Mapping[str, Causes], record: str, judge: FamaJudge) -> list[str]:
    """The causes that decided, of all that were named."""
    instructions = (
        "A service agent failed at a task, and four analysts each looked for one cause. With the "
        "whole conversation before you, say which causes decided that it failed: one, or more only "
        "if it took them together. An error that the agent made good later is none. The causes:\n"
        + "\n".join(map(str, CAUSES.values()))
        + '\nAnswer in JSON: "causes" is a list of their names, "rationale" says why.'
    )
    opinions = "\n".join(
        f"{name}: {one['violation']}. {one['rationale']}" for name, one in analyses.items()
    )
    answer = judge.ask(
        instructions, f"{record}\n\nThe analysts:\n{opinions}", _list_of("causes", list(CAUSES))
    )
    return _known(answer.get("causes"), CAUSES)


def _covering(causes: Sequence[str], judge: FamaJudge) -> list[str]:
    """The fewest helpers that together counter these causes."""
    instructions = (
        "A service agent can be given helpers that write into its prompt before it acts. Pick the "
        "fewest that together counter the given causes of failure; each costs a call per step. The "
        "helpers:\n"
        + "\n".join(f"{helper.name}: {helper.does}" for helper in HELPERS.values())
        + '\nAnswer in JSON: "helpers" is a list of their names, "rationale" says why.'
    )
    question = "\n".join(str(CAUSES[name]) for name in causes)
    answer = judge.ask(instructions, question, _list_of("helpers", list(HELPERS)))
    return _known(answer.get("helpers"), HELPERS)


def _list_of(name: str, of: Sequence[str]) -> Json:
    names = {"type": "array", "items": {"type": "string", "enum": list(of)}}
    properties = {name: names, "rationale": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": [name, "rationale"]}


def _known(answer: Any, pool: Mapping[str, object]) -> list[str]:
    """The names of the pool among what was given, in the pool's order."""
    listed = answer if isinstance(answer, list) else []
    return [name for name in pool if name in listed]
