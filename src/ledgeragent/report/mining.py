"""What was mined, and how a pack differs from recorded conversations, as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ledgeragent.mining.draft import Draft
from ledgeragent.mining.drift import Discrepancy
from ledgeragent.mining.rules.drafting import DraftedRules

UNMINED = (
    "clocks and deadlines",
    "tables of allowances",
    "rules with an either-or",
    "what was said or agreed to",
    "rules that agents break by habit",
)
"""What no recording shows: to be written from the policy."""


def draft_text(draft: Draft, folder: Path, rules: DraftedRules | None, least: int) -> str:
    """What a draft holds, what it cannot hold, and what to do next.

    Rules were drafted for tools with at least so many different situations.
    """
    reads, writes, neutrals = (len(draft.named(kind)) for kind in ("read", "write", "neutral"))
    touches = [touch for listed in draft.touches.values() for touch in listed]
    guesses = sum(not touch.seen for touch in touches)
    drafted = _rules_text(rules, least) if rules is not None else ""
    shared = _shared_prefix([*draft.conducts])
    hint = (
        f"all tools begin with {shared}; mine again with --tool-prefix {shared}\n" if shared else ""
    )
    conversations = "conversation" if draft.runs == 1 else "conversations"
    return (
        f"wrote {folder} from {draft.runs:,} {conversations}\n"
        f"{hint}"
        f"tools: {reads} reads, {writes} writes, {neutrals} neutral\n"
        f"routes: {len(draft.routes)} into {len(draft.families)} families of records\n"
        f"touches: {len(touches) - guesses} seen, {guesses} guessed on the safe side\n"
        f"{drafted}"
        f"not mined, write it from your policy: {'; '.join(UNMINED)}\n"
        f"review it, then: ledgeragent check {folder}\n"
    )


def _rules_text(rules: DraftedRules, least: int) -> str:
    text = f"rules: {len(rules.proposals)} drafts, audited and not enforced\n"
    if rules.thin:
        thin = ", ".join(f"{tool} ({count})" for tool, count in rules.thin.items())
        text += f"no rules for tools with fewer than {least} different situations of right calls: {thin}\n"
    return text


def _shared_prefix(tools: Sequence[str]) -> str:
    """What a host put before the names of all tools, such as mcp__shop__; \"\" for nothing."""
    prefixes = {name[: name.rfind("__") + 2] for name in tools if "__" in name}
    shared = all("__" in name for name in tools) and len(tools) > 1 and len(prefixes) == 1
    return prefixes.pop() if shared else ""


def differences_text(pack: str, runs: int, differences: Sequence[Discrepancy]) -> str:
    """The differences, one a line, and how many there are."""
    lines = [f"{d.code}: {d.tool}: {d.text}" for d in differences]
    count = "no difference" if not lines else f"{len(lines)} differences"
    count = "1 difference" if len(lines) == 1 else count
    return "\n".join([*lines, f"{pack}: {count} from {runs:,} conversations"]) + "\n"


def differences_json(pack: str, runs: int, differences: Sequence[Discrepancy]) -> str:
    """The differences as JSON."""
    rows = [
        {"code": d.code, "tool": d.tool, "text": d.text, "times": d.times, "of": d.of}
        for d in differences
    ]
    return json.dumps({"pack": pack, "runs": runs, "differences": rows}, indent=1) + "\n"
