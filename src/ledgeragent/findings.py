"""Findings in words: what a rule's answer, its question or its failure becomes in a verdict."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ledgeragent.ledger import Evidence, Unconfirmed
from ledgeragent.missing import MissingEvidence
from ledgeragent.paths import quote
from ledgeragent.plan import spoken_calls
from ledgeragent.predicates import Broken, Predicate, violation
from ledgeragent.text import visible
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision, Finding, Kind
from ledgeragent.view import View

_tuple = tuple.__new__
UNKNOWN_ARGUMENT = "gate/unknown-argument"


def finding_of(
    rule: Predicate, evidence: list[Evidence], kind: Kind, decision: Decision, reason: str
) -> Finding:
    """The finding of a rule, with a reason that anybody may hear."""
    return against(rule, evidence, kind, decision, Broken(reason))


def against(
    rule: Predicate, evidence: list[Evidence], kind: Kind, decision: Decision, broken: Broken
) -> Finding:
    """The finding of a rule that is broken."""
    parts = (kind, rule.id, rule.clause, decision, broken.reason, (), evidence, rule.enforcement)
    # Half of what the class's own constructor costs.
    return _tuple(Finding, (*parts, None, (), broken.public))


def failure_of(rule: Predicate, error: BaseException, evidence: list[Evidence]) -> Finding:
    """The finding of a rule that raised: its call is refused, the exception told to the operator."""
    reason = "this action could not be checked against the policy, so it was not done"
    failed = finding_of(rule, evidence, Kind.ERROR, Decision.BLOCK, reason)
    try:
        text = str(error)
    except Exception:  # pack code may raise anything, even what has no text
        text = "it has no text"
    return failed._replace(error=f"{type(error).__name__}: {text}")


def wait_for(rule: Predicate, doubts: tuple[Unconfirmed, ...], evidence: list[Evidence]) -> Finding:
    """The finding of a rule whose answer depends on writes that may have happened."""
    running = tuple(doubt.call for doubt in doubts if doubt.running)
    if running:
        reason = f"wait for the result of {spoken_calls(running)}, then send this again"
    else:
        lost = spoken_calls([doubt.call for doubt in doubts])
        reason = f"it is not known whether {lost} was done, since its result never came{_UNSEEN}"
    finding = finding_of(rule, evidence, Kind.EVIDENCE, Decision.REVISE, reason)
    return finding._replace(waits_for=running)


def unusable(id: str, decision: Decision, reason: str) -> Finding:
    """The gate's own finding against a call that no rule can judge."""
    return Finding(kind=Kind.VIOLATION, predicate=id, clause=None, decision=decision, reason=reason)


def running_write(missing: MissingEvidence, view: View) -> tuple[ToolCall, ...]:
    """The write whose result has to come before the evidence can be read, if one is to come."""
    if missing.stale is None:
        return ()
    writes = (d.call for d in view.unconfirmed if d.running and d.call is missing.stale.by)
    return tuple(writes)


def request_for(
    missing: MissingEvidence,
    view: View,
    reads: Sequence[str],
    running: Sequence[ToolCall],
    more: Sequence[ToolCall] = (),
    *,
    nameless: bool = False,
) -> str:
    """The reason of a finding that asks for evidence, or says that it cannot be had.

    Where whose record it is is not established (`nameless`), no value of it is told.
    """
    subject = ".".join((str(missing.path), *map(quote, missing.fields)))
    if not reads and not running:
        return f"{subject} is needed to decide this, and no tool here can supply it"
    calls = ", ".join([" or ".join(map(visible, reads)), *(visible(str(call)) for call in more)])
    if running:
        then = f", then call {calls}" if reads else ""
        return (
            f"{subject} may be changed by another call; wait for the result of "
            f"{spoken_calls(running)}{then} and send this again"
        )
    asking = "; ask the user for what stands as ?" if "=?" in calls else ""
    state = _state_of(missing, view, nameless)
    again = _STAYS_UNKNOWN if state.startswith("was read, but") else ""
    return f"{subject} {state}; call {calls} first{asking}{again}"


_UNSEEN = "; read what it changes, or tell the user where nothing shows it"
_STAYS_UNKNOWN = "; if it answers the same again, tell the user that this cannot be decided here"


def _state_of(missing: MissingEvidence, view: View, nameless: bool) -> str:
    """Why a fact is not known, in words that follow its path."""
    entry = view.entry(missing.path)
    if entry is not None and not entry.typed:
        return "was read, but what came back could not be understood"
    if missing.objection:
        objection = missing.objection.partition(", not ")[0] if nameless else missing.objection
        return f"was read, but {visible(objection)}"
    if missing.stale is None:
        return "has not been read yet"
    if missing.stale.by is None:
        return "may have been changed by the user since it was read"
    if any(doubt.call is missing.stale.by for doubt in view.unconfirmed):
        name = missing.stale.by.name
        return f"may have been changed by {name}, whose result never came, since it was read"
    return f"was changed by {missing.stale.by.name} since it was read"


def unknown_arguments(accepted: frozenset[str], call: ToolCall) -> Finding:
    """No rule has heard of an argument that the tool doesn't take: nobody would have judged it."""
    unknown = sorted(quote(str(name)) for name in call.arguments.keys() - accepted)
    template = "it takes no argument {unknown}; it takes {known}"
    broken = violation(template, unknown=unknown, known=", ".join(sorted(accepted)) or "nothing")
    return unusable(UNKNOWN_ARGUMENT, Decision.REVISE, broken.reason)


def spelled(call: ToolCall, asked_of_user: Sequence[str]) -> str:
    """A read as the model can make it; what it has to ask the user for stands as `?`."""
    if not asked_of_user:
        return str(call)
    arguments = [f"{name}={json.dumps(value)}" for name, value in call.arguments.items()]
    return f"{call.name}({', '.join([*arguments, *(f'{name}=?' for name in asked_of_user)])})"
