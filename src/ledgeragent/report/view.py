"""HTML: runs as one page that needs nothing else, and in which nothing of a run can act.

What a run holds is data in a JSON block; the page's own script shows it as text. The content policy
names the page's own style and script by their hashes and allows nothing else, no network either.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from string import Template

from ledgeragent.domain import Domain
from ledgeragent.offline.jsontext import json_text
from ledgeragent.offline.timeline import TimelineStep
from ledgeragent.offline.viewing import RunView
from ledgeragent.types import Json

MARK = '<meta name="generator" content="LedgerAgent view">'
"""What a page begins with, by which it is known for one."""

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def view_html(runs: Sequence[RunView], source: str) -> str:
    """The page for these runs; `source` says where they come from."""
    return _page({"source": source, "runs": [run_json(run) for run in runs]}, source)


def live_view_html() -> str:
    """The page without a run, which shows what the page that holds it tells it to."""
    return _page({"source": "", "runs": []}, "live")


def _page(data: Json, title: str) -> str:
    style, script = _asset("page.css"), _asset("page.js")
    return Template(_asset("page.html")).substitute(
        title=html.escape(title.encode("utf-8", "replace").decode()),
        policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        data=_embedded(data),
    )


def _embedded(value: Json) -> str:
    """JSON that can't end the block it stands in. ASCII, so half a character does no harm either."""
    text = json_text(value, separators=(",", ":"))
    return "".join(_ESCAPES.get(letter, letter) for letter in text)


def run_json(viewed: RunView) -> Json:
    """A run as the page has it."""
    trace = viewed.conversation.trace
    return {
        "run": trace.run,
        "benchmark": trace.benchmark,
        "domain": viewed.domain.name,
        "version": viewed.domain.version,
        "task": trace.task_id,
        "reward": trace.reward,
        "recorded": viewed.conversation.verdicts is not None,
        "redacted": viewed.conversation.redacted,
        "rules": _rules(viewed.domain, viewed.steps),
        "steps": [_lean(asdict(step)) for step in viewed.steps],
    }


def _lean(value: Json) -> Json:
    """The value without fields that hold nothing: the script takes an absent one for empty."""
    if isinstance(value, dict):
        return {k: _lean(v) for k, v in value.items() if v not in (None, "", (), [], False)}
    return [_lean(item) for item in value] if isinstance(value, list | tuple) else value


def _rules(domain: Domain, steps: Sequence[TimelineStep]) -> Json:
    """The decisions of the rules that found something in this run."""
    named = {
        finding.rule
        for step in steps
        for call in step.calls
        if call.answer is not None
        for finding in call.answer.findings
    }
    clauses = {clause.id: clause.summary for clause in domain.clauses}
    return {
        rule.id: {"summary": rule.summary, "clause": clauses.get(rule.clause, "")}
        for rule in domain.predicates
        if rule.id in named
    }


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _asset(name: str) -> str:
    return (files("ledgeragent.report") / "html" / name).read_text(encoding="utf-8")
