"""The gate's own checks of a call, which no pack has to state: explained like rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, TypedDict

from ledgeragent.compiler.problems import suggestion
from ledgeragent.domain import Domain
from ledgeragent.effects import Write, touch
from ledgeragent.errors import UsageError
from ledgeragent.findings import UNKNOWN_ARGUMENT
from ledgeragent.gate import MALFORMED, UNKNOWN_TOOL, Gate
from ledgeragent.ledger import Ledger
from ledgeragent.paths import PathTemplate
from ledgeragent.plan import WAIT
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Decision, Enforcement, Finding


class _Parcel(TypedDict):
    parcel_id: str
    weight: float


_PARCEL = PathTemplate("parcels.{parcel_id}", dict)
_SEND = Write(tool="send_parcel", arguments=_Parcel, touches=(touch(_PARCEL, "status"),))
_DESK = Domain(name="desk", version="1", tools=(_SEND,))
"""A domain without rules, in which samples of the gate's own checks are judged."""

_GIVEN: Mapping[str, Json] = {"parcel_id": "P1", "weight": 2.5}
_SENT = ToolCall(name="send_parcel", arguments=_GIVEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCheck:
    """One check of the gate: which calls it `judges`, when it `answers`, and what it `accepts`.

    `beside` are the calls that go before each sample in the same reply.
    """

    id: str
    about: str
    judges: str
    answers: str
    accepts: str
    rejected: tuple[ToolCall, ...]
    allowed: tuple[ToolCall, ...] = (_SENT,)
    beside: tuple[ToolCall, ...] = ()
    decision: Decision = Decision.REVISE
    enforcement: Enforcement = field(default=Enforcement.ENFORCE, init=False)
    clause: ClassVar[None] = None


class GateSample(NamedTuple):
    """A call, on which side it is, and what the gate finds; None where it is satisfied."""

    side: str
    call: ToolCall
    finding: Finding | None


_CHECKS = (
    GateCheck(
        id=MALFORMED,
        about="The arguments of a call can be read as what its tool takes.",
        judges="writes, and other calls that a rule guards, by what the pack says of their arguments",
        answers="the arguments are not a JSON object, one that the tool requires is absent, or a value "
        "cannot be read as its declared type. The rules are then not asked: they could judge "
        "nothing but a guess",
        accepts="a JSON object with every required argument, each of its declared type; a number may be "
        "written as text",
        rejected=(
            ToolCall(name="send_parcel", malformed='{"parcel_id": '),
            ToolCall(name="send_parcel", arguments={"parcel_id": "P1"}),
            ToolCall(name="send_parcel", arguments={**_GIVEN, "weight": "heavy"}),
        ),
        allowed=(_SENT, ToolCall(name="send_parcel", arguments={**_GIVEN, "weight": "2.5"})),
    ),
    GateCheck(
        id=UNKNOWN_ARGUMENT,
        about="A call carries no argument that its tool does not take.",
        judges="writes, and other calls that a rule guards, whose tool's arguments are all listed",
        answers="an argument has a name that the tool does not list: no rule has looked at it, so nobody "
        "could say what it would do. The rules are asked all the same",
        accepts="the same call with nothing but the arguments that the tool lists; the reason names them",
        rejected=(ToolCall(name="send_parcel", arguments={**_GIVEN, "insured": True}),),
    ),
    GateCheck(
        id=UNKNOWN_TOOL,
        about="A call names a tool that the pack knows.",
        judges="every call",
        answers="the pack lists no read, write or neutral tool of that name, so it is not known what "
        "the call would change; `Gate(unknown=...)` can block or allow such calls instead",
        accepts="a call of one of the tools that the pack lists, spelled as there",
        rejected=(ToolCall(name="sned_parcel", arguments=_GIVEN),),
    ),
    GateCheck(
        id=WAIT,
        about="A call changes nothing that another call of the same reply rests on or changes.",
        judges="every write after another write of the same reply, or beside one whose result is still "
        "to come, unless the host is known to run calls as listed. The samples are judged after "
        f"`{_SENT}`",
        answers="it repeats the earlier call, or touches what that call's rules read or what it touches: "
        "hosts may run both at once, so that neither could be sure of what was read",
        accepts="the same call once the result of the earlier one is there, judged on what is known then; "
        "adapters and the MCP proxy wait for it by themselves",
        rejected=(_SENT, ToolCall(name="send_parcel", arguments={**_GIVEN, "weight": 4.0})),
        allowed=(ToolCall(name="send_parcel", arguments={**_GIVEN, "parcel_id": "P2"}),),
        beside=(_SENT,),
    ),
)

CHECKS: Mapping[str, GateCheck] = {check.id: check for check in _CHECKS}
"""The gate's own checks by the id that their findings carry."""

PREFIX = "gate"
"""The beginning of all their ids, as a rule's id begins with its domain."""


def explain_check(id: str) -> GateCheck:
    """The gate's check of this id; raises UsageError if it has none."""
    check = CHECKS.get(id)
    if check is None:
        raise UsageError(f"the gate itself has no check {id}{suggestion(id, CHECKS)}")
    return check


def gate_samples(check: GateCheck) -> Iterator[GateSample]:
    """The samples of a check with what the gate really finds."""
    for side, calls in (("allowed", check.allowed), ("rejected", check.rejected)):
        for call in calls:
            plan = Gate(domain=_DESK).plan(Ledger())
            for earlier in check.beside:
                plan.judge(earlier)
            own = (f for f in plan.judge(call).findings if f.predicate == check.id)
            yield GateSample(side, call, next(own, None))
