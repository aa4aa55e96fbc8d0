"""The arms of an experiment: what each agent has that the harness's own has not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ledgeragent.adapters.method import Method, PackOf, pack_for
from ledgeragent.bench.arms.papergate import paper_gate
from ledgeragent.domain import Domain
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger
from ledgeragent.plan import Order, Plan
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision, Verdict

ArmKind = Literal["plain", "ledger", "helped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenGate(Gate):
    """A gate that lets everything pass: for arms that have the ledger and no gate."""

    order: Order = "snapshot"

    def judge(self, call: ToolCall, ledger: Ledger, plan: Plan | None = None) -> Verdict:
        """ALLOW."""
        return Verdict(call=call, decision=Decision.ALLOW)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One method under test.

    `plain`: the harness's own agent. `ledger`: ours, with the ledger shown, the gate judging, or both.
    `keeps_turn`: a reply of which the gate revises a call goes back to the model, text and all.
    `helped`: the plain agent with helpers that write into its prompt (`irma` or `fama`).
    """

    name: str
    kind: ArmKind
    summary: str
    shows: bool = False
    gate: Callable[[Domain], Gate] | None = None
    empty: bool = False
    keeps_turn: bool = False

    @property
    def method(self) -> Method:
        """The method as the adapters of the harnesses take it."""
        return Method(gate=self.gate_for, shows=self.shows, keeps_turn=self.keeps_turn)

    def gate_for(self, tools: Collection[str], pack: PackOf = pack_for) -> Gate:
        """This arm's gate for an agent with these tools."""
        domain = _NOTHING if self.empty else pack(tools)
        return self.gate(domain) if self.gate is not None else OpenGate(domain=domain)


_NOTHING = Domain(name="nothing", version="0", tools=())


def _full(domain: Domain) -> Gate:
    return Gate(domain=domain, order="listed")


def _paper(domain: Domain) -> Gate:
    return paper_gate(domain) or OpenGate(domain=domain.literal())


def _unlisted(domain: Domain) -> Gate:
    return Gate(domain=domain, order="listed", unknown=Decision.ALLOW)


_OURS = Arm(
    name="ledgeragent",
    kind="ledger",
    summary="the ledger in the prompt and the gate before every write",
    shows=True,
    gate=_full,
)
_ALL = (
    Arm(name="fc", kind="plain", summary="the harness's own agent"),
    _OURS,
    replace(_OURS, name="ledger-only", summary="the ledger in the prompt, no gate", gate=None),
    replace(_OURS, name="gate-only", summary="the gate, no ledger in the prompt", shows=False),
    replace(
        _OURS,
        name="ledgeragent-paper",
        summary="ledger and gate as the paper has them: 28 predicates of its families (10 airline, 12 "
        "retail, 6 telecom, none in telehealth), values as last read, each call judged alone, and a "
        "rejected reply never reaches the customer",
        gate=_paper,
        keeps_turn=True,
    ),
    replace(
        _OURS,
        name="ledger-empty",
        summary="all our code with an empty pack: what differs from fc is not the method",
        gate=_unlisted,
        empty=True,
    ),
    Arm(
        name="irma", kind="helped", summary="questions before acting, and a rewritten user message"
    ),
    Arm(name="fama", kind="helped", summary="the helpers that earlier failures call for"),
)
SUMMARIES = "".join(f"  {arm.name:<18}{arm.summary}\n" for arm in _ALL)
"""Each arm in a line, for help texts."""

ARMS: Mapping[str, Arm] = {arm.name: arm for arm in _ALL}
"""Every arm by its name, in the order of reports."""
