"""Why a run failed, by rules over what was called, what should have been, and how the run ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from ledgeragent.bench.results.results import Gold, MadeCall, Run, intent
from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.errors import UsageError
from ledgeragent.offline.judging import gate_of_records
from ledgeragent.offline.traces import read_messages
from ledgeragent.packs import load_domain
from ledgeragent.state import State
from ledgeragent.types import Reply
from ledgeragent.verdict import Verdict

MISSED = "missed action"
ARGUMENTS = "wrong arguments"
EXTRA = "extra or unauthorized action"
LOOP = "loop"
POLICY = "policy violation"
COMMUNICATION = "communication"
AUTHENTICATION = "authentication"
OTHER = "other"
CLASSES = (MISSED, ARGUMENTS, EXTRA, LOOP, POLICY, COMMUNICATION, AUTHENTICATION, OTHER)

_STUCK = ("max_steps", "too_many_errors", "judge_stop", "timeout")
_REPEATED = 4
_LOOKS = ("check_", "get_", "can_", "run_")
_LOOKUPS = ("find_", "get_customer_by_", "get_user_details")


def is_write(domain: str, name: str, own: bool) -> bool:
    """True if a tool changes the world. What customers do on their own devices is told by its name."""
    if own:
        return not name.startswith(_LOOKS)
    pack = _pack(domain)
    return pack is not None and pack.effect(name) is Effect.WRITE


@cache
def _pack(domain: str) -> Domain | None:
    try:
        return load_domain(domain)
    except UsageError:
        return None


def is_write_task(run: Run) -> bool:
    """True if the reference solution changes the world, whoever does it."""
    return any(is_write(run.domain, gold.name, gold.own) for gold in run.gold or ())


def required(run: Run) -> list[Gold]:
    """The gold actions that the reward rests on: writes, and all of them where actions are scored."""
    scored = "ACTION" in run.basis
    return [g for g in run.gold or () if scored or is_write(run.domain, g.name, g.own)]


def write_rate(run: Run, own: bool | None = None) -> tuple[int, int]:
    """How many of the gold writes were made, and how many there are.

    `own` True counts those that the customer has to make, False the agent's, None both.
    """
    chosen = [g for g in run.gold or () if own is None or g.own == own]
    writes = [g for g in chosen if is_write(run.domain, g.name, g.own)]
    return sum(any(map(gold.is_met_by, run.calls)) for gold in writes), len(writes)


def failure(run: Run) -> str:
    """The class of a failed run: the first rule that fits, from the surest sign to the weakest."""
    if run.termination in _STUCK:
        return LOOP
    unmet = [gold for gold in required(run) if not any(map(gold.is_met_by, run.calls))]
    if unmet and _gave_up_unknown(run):
        return AUTHENTICATION
    names = {call.name for call in run.calls}
    if any(gold.name not in names for gold in unmet):
        return MISSED
    if unmet:
        return ARGUMENTS
    extra = [m for m in _writes(run) if not any(gold.is_met_by(m) for gold in run.gold or ())]
    if extra:
        return POLICY if _against_policy(run, extra) else EXTRA
    if run.breakdown.get("COMMUNICATE") == 0.0 or run.breakdown.get("NL_ASSERTION") == 0.0:
        return COMMUNICATION
    repeated = Counter(map(intent, run.calls))
    return LOOP if any(count >= _REPEATED for count in repeated.values()) else OTHER


def _gave_up_unknown(run: Run) -> bool:
    """True if the agent handed over to a person without ever looking the customer up."""
    names = [call.name for call in run.calls if not call.own]
    handed_over = any(name.startswith("transfer_to_human") for name in names)
    return handed_over and not any(name.startswith(_LOOKUPS) for name in names)


def _writes(run: Run) -> list[MadeCall]:
    return [
        m for m in run.calls if not m.failed and not m.own and is_write(run.domain, m.name, m.own)
    ]


def _against_policy(run: Run, extra: Iterable[MadeCall]) -> bool:
    """True if the pack finds that one of these writes contradicts what was observed before it."""
    pack = _pack(run.domain)
    if pack is None:
        return False
    intents = {intent(write) for write in extra}
    # Here nobody is told anything, so that whose record it is need not be settled first.
    rules = tuple(replace(rule, identity=False) for rule in pack.predicates)
    gate, state = gate_of_records(replace(pack, predicates=rules)), State()
    try:
        messages = read_messages(run.messages)
    except ValueError:
        return False
    for message in messages:
        for call in message.calls if isinstance(message, Reply) else ():
            write = MadeCall(name=call.name, arguments=call.arguments)
            if intent(write) in intents and _contradicted(gate.judge(call, state.ledger)):
                return True
        state = state.observe(message, pack)
    return False


def _contradicted(verdict: Verdict) -> bool:
    """True for a rule's finding; that arguments can't be read is none."""
    return any(finding.clause is not None for finding in verdict.violations)


def failures(runs: Iterable[Run]) -> Counter[str]:
    """How many failed runs each class has; runs without a known solution are left out."""
    failing = (r for r in runs if not r.success and not r.invalid and r.gold is not None)
    return Counter(map(failure, failing))
