"""A failing case as a person reads it: what was read, what was asked, who says what."""

from __future__ import annotations

import json

from ledgeragent import Gate, ToolCall

from .judgement import Exchange
from .scene import Scene
from .steps import Arrive, Case, Look, Send, Step


def listing(gate: Gate, scene: Scene, call: ToolCall, problems: list[str]) -> str:
    """The case, line by line."""
    verdict = gate.judge(call, scene.ledger)
    truth = scene.world.judge(scene.talk, call)
    lines = [f"{scene.world.domain}: {problem}" for problem in problems]
    records = scene.world.excerpt(call)
    lines += ["", "records (of the whole database, those that matter to the call):"]
    lines += [f"  {name}: {json.dumps(value)}" for name, value in records.items()]
    lines += ["conversation:", *_told(scene, call, {name.partition(".")[2] for name in records})]
    lines += ["proposed:", f"  {call}", f"gate: {verdict.decision.name}"]
    for finding in (*verdict.findings, *verdict.shadow):
        lines.append(
            f"  {finding.kind.name} {finding.predicate}: {finding.error or finding.reason}"
        )
    lines.append("judge:")
    for name in ("broken", "may", "presumed", "ungrounded", "unasked"):
        if clauses := sorted(getattr(truth, name)):
            lines.append(f"  {name}: {', '.join(clauses)}")
    if truth.ghost:
        lines.append("  names a record that does not exist")
    return "\n".join(lines)


def _told(scene: Scene, call: ToolCall, records: set[str]) -> list[str]:
    """What was said, without the reads of records that the call has nothing to do with."""
    lines, left_out = [], 0
    for exchange in scene.talk:
        given = {str(value) for value in exchange.arguments.values()}
        near = given & records or all(value in str(call) for value in given)
        other = exchange.tool in scene.world.reads and not near
        if other and not exchange.tool.startswith(("find_", "get_customer_by")):
            left_out += 1
        else:
            lines.append(f"  {_said(exchange)}")
    return [*lines, f"  and {left_out} reads of other records"] if left_out else lines


def _said(exchange: Exchange) -> str:
    if not exchange.tool:
        return "(turn of the customer)"
    answer = exchange.answer if len(exchange.answer) <= 100 else exchange.answer[:97] + "..."
    return f"{ToolCall(name=exchange.tool, arguments=exchange.arguments)} -> {answer!r}"


def case_listing(case: Case, problems: list[str]) -> str:
    """A conversation of replies, step by step, with what is wrong."""
    lack = sorted(case.tools) if case.tools is not None else "all"
    lines = [f"{case.world}: {problem}" for problem in problems]
    lines += [f"world {case.seed!r}, calls run in {case.order} order, tools: {lack}"]
    return "\n".join([*lines, *(f"  {line}" for step in case.steps for line in _step(step))])


def _step(step: Step) -> list[str]:
    match step:
        case Look():
            odd = "" if step.odd is None else f"  [an odd word in the answer, by {step.odd}]"
            return [f"read {step.call}{odd}"]
        case Send():
            pairs = zip(step.calls, step.fates, strict=True)
            told = [f"  {call}  [{fate.value}]" for call, fate in pairs]
            return [f"reply, in an order by {step.seed}:", *told]
        case Arrive():
            return [f"the result of {step.id} comes"]
    return [f"the customer speaks, by {step.seed}"]
