"""A pack for the health insurer of SOPBench, by us, from what its prompt says of each action.

A rule has the name of the constraint that it stands for: a task is judged by those that it states.
"""

from __future__ import annotations

import ast
from datetime import datetime, timedelta
from typing import Any, NotRequired, TypedDict

from ledgeragent import Domain, PathTemplate, Read, Write, predicate, violation
from ledgeragent.effects import Neutral, touch
from ledgeragent.predicates import Broken, View
from ledgeragent.types import Arguments, Json

KINDS = ("Health", "Dental", "Pharmacy", "Vision")


class Policy(TypedDict):
    """The policy of a customer; `type` is Inactive for one that does not count."""

    type: str
    coverage_amount: float
    authorized_providers: list[str]
    enrollment_date: NotRequired[str]


class Claim(TypedDict):
    """A claim."""

    claim_id: str
    amount: float
    status: str
    claim_date: str


class Provider(TypedDict):
    """A provider of care."""

    service_type: str
    availability: str


CLOCK = PathTemplate("clock", str)
POLICY = PathTemplate("policies.{username}", Policy)
CLAIM = PathTemplate("claims.{username}.{claim_id}", Claim)
CLAIMS = PathTemplate("claim_lists.{username}", list[Claim])
PROVIDER = PathTemplate("providers.{provider_id}", Provider)

LOGIN, LOGOUT = "login_user", "logout_user"
UPDATE, REACTIVATE, DEACTIVATE = "update_policy", "reactivate_policy", "deactivate_policy"
SUBMIT, APPEAL = "submit_claim", "appeal_claim"
AUTHORIZE, SCHEDULE = "add_authorized_provider", "schedule_appointment"
WRITES = (UPDATE, REACTIVATE, DEACTIVATE, SUBMIT, APPEAL, AUTHORIZE, SCHEDULE)


def value(text: str) -> Json:
    """The value behind `(True, ...)`, as the environment writes it; ValueError for another answer."""
    try:
        answer = ast.literal_eval(text)
    except (SyntaxError, TypeError) as error:
        raise ValueError(str(error)) from None
    if isinstance(answer, tuple) and len(answer) == 2 and answer[0] is True:
        return answer[1]
    if isinstance(answer, dict | list):
        return answer
    raise ValueError("no record")


def moment(text: str) -> Json:
    """The time that the environment tells, with `(True, ...)` around it or without."""
    inner = text.strip().removeprefix("(True, ").removesuffix(")").strip("'")
    datetime.fromisoformat(inner)
    return inner


def refused(text: str) -> bool:
    """True for the answer of a write that was not done."""
    return text.strip().startswith(("False", "(False", "Error"))


@predicate("healthcare/logged-in-user", guards=(*WRITES,))
def logged_in_user(call: Any, ledger: View) -> Broken | None:
    """The customer has logged in, and not out again."""
    last = [
        write.name
        for write in ledger.writes
        if write.name in (LOGIN, LOGOUT) and write.arguments.get("username") == call["username"]
    ]
    return (
        None if last[-1:] == [LOGIN] else violation("{who} is not logged in", who=call["username"])
    )


@predicate(
    "healthcare/policy-active", guards=(UPDATE, DEACTIVATE, SUBMIT, APPEAL, AUTHORIZE, SCHEDULE)
)
def policy_active(call: Any, ledger: View) -> Broken | None:
    """The policy is active."""
    active = ledger[POLICY(call["username"])]["type"] != "Inactive"
    return None if active else violation("the policy is inactive")


@predicate("healthcare/policy-inactive", guards=REACTIVATE)
def policy_inactive(call: Any, ledger: View) -> Broken | None:
    """The policy is inactive."""
    kind = ledger[POLICY(call["username"])]["type"]
    return None if kind == "Inactive" else violation("the policy is {kind}", kind=kind)


@predicate("healthcare/within-enrollment-period", guards=UPDATE)
def within_enrollment_period(call: Any, ledger: View) -> Broken | None:
    """No more than 90 days have passed since the enrollment."""
    return _within(ledger[POLICY(call["username"])]["enrollment_date"], 90, ledger)


@predicate("healthcare/within-appeal-period", guards=APPEAL)
def within_appeal_period(call: Any, ledger: View) -> Broken | None:
    """No more than 180 days have passed since the claim."""
    return _within(_claim(call, ledger)["claim_date"], 180, ledger)


def _within(start: str, days: int, ledger: View) -> Broken | None:
    begin, now = datetime.fromisoformat(start), datetime.fromisoformat(ledger[CLOCK()])
    if begin <= now <= begin + timedelta(days=days):
        return None
    return violation("{start} is more than {days} days ago", start=start, days=days)


def _claim(call: Any, ledger: View) -> Any:
    return ledger[CLAIM(call["username"], call["claim_id"])]


@predicate("healthcare/claim-status-denied", guards=APPEAL)
def claim_status_denied(call: Any, ledger: View) -> Broken | None:
    """Only a denied claim is appealed."""
    status = _claim(call, ledger)["status"]
    return None if status == "denied" else violation("the claim is {status}", status=status)


@predicate("healthcare/income-proof-enough", guards=UPDATE)
def income_proof_enough(call: Any, ledger: View) -> Broken | None:
    """Coverage is a fifth of the income at most."""
    if call["coverage_amount"] <= 0.2 * call["annual_income"]:
        return None
    return violation("{amount} is too much", amount=call["coverage_amount"])


@predicate("healthcare/policy-type-valid", guards=(UPDATE, REACTIVATE))
def policy_type_valid(call: Any, ledger: View) -> Broken | None:
    """The kind of policy is one of four."""
    if call["policy_type"] in KINDS:
        return None
    return violation("policy_type is {kinds}", kinds=list(KINDS))


@predicate("healthcare/no-pending-claims", guards=(UPDATE, DEACTIVATE))
def no_pending_claims(call: Any, ledger: View) -> Broken | None:
    """No claim is pending."""
    pending = [c["claim_id"] for c in ledger[CLAIMS(call["username"])] if c["status"] == "pending"]
    return violation("{pending} is pending", pending=pending) if pending else None


@predicate("healthcare/claim-within-coverage-amount", guards=SUBMIT)
def claim_within_coverage_amount(call: Any, ledger: View) -> Broken | None:
    """Claims that were not denied, with this one, stay within the coverage."""
    claims = ledger[CLAIMS(call["username"])]
    total = sum(c["amount"] for c in claims if c["status"] in ("pending", "approved"))
    covered = ledger[POLICY(call["username"])]["coverage_amount"]
    if total + call["amount"] <= covered:
        return None
    return violation("claims of {total} are covered to {covered}", total=total, covered=covered)


@predicate("healthcare/claim-within-limits", guards=SUBMIT)
def claim_within_limits(call: Any, ledger: View) -> Broken | None:
    """A claim is 5000 at most."""
    return None if call["amount"] <= 5000 else violation("5000 is the most")


@predicate("healthcare/provider-covers-policy", guards=(SUBMIT, SCHEDULE))
def provider_fits(call: Any, ledger: View) -> Broken | None:
    """The provider is authorized, or serves the kind of the policy."""
    policy = ledger[POLICY(call["username"])]
    if call["provider_id"] in policy["authorized_providers"]:
        return None
    served = ledger[PROVIDER(call["provider_id"])]["service_type"]
    return None if served == policy["type"] else violation("it serves {served}", served=served)


@predicate("healthcare/provider-available", guards=SCHEDULE)
def provider_available(call: Any, ledger: View) -> Broken | None:
    """The provider is available."""
    availability = ledger[PROVIDER(call["provider_id"])]["availability"]
    return None if availability == "Available" else violation("it is {now}", now=availability)


@predicate("healthcare/appointment-date-valid", guards=SCHEDULE)
def appointment_date_valid(call: Any, ledger: View) -> Broken | None:
    """An appointment is in the future."""
    then = datetime.fromisoformat(call["appointment_date"])
    later = then > datetime.fromisoformat(ledger[CLOCK()])
    return None if later else violation("{then} is past", then=call["appointment_date"])


@predicate("healthcare/provider-not-already-authorized", guards=AUTHORIZE)
def provider_not_already_authorized(call: Any, ledger: View) -> Broken | None:
    """The provider is not authorized yet."""
    if call["provider_id"] not in ledger[POLICY(call["username"])]["authorized_providers"]:
        return None
    return violation("{id} is authorized already", id=call["provider_id"])


def _each(claims: Json, arguments: Arguments) -> Json:
    return claims if isinstance(claims, list) else []


def _read(tool: str, to: PathTemplate[Any], *parameters: str, **more: Any) -> Read[Any]:
    return Read(tool=tool, to=to, parameters=parameters, parse=value, failed=refused, **more)


def _write(tool: str, *touches: Any) -> Write:
    return Write(tool=tool, arguments=dict, open=True, touches=touches, failed=refused)


_POLICY, _CLAIMS = touch(POLICY), touch(CLAIMS)

HEALTHCARE = Domain(
    name="healthcare",
    version="sopbench",
    tools=(
        Read(tool="internal_get_interaction_time", to=CLOCK, parse=moment),
        _read("get_policy_details", POLICY, "username"),
        _read("get_claim_details", CLAIM, "username", "claim_id"),
        _read("get_claim_history", CLAIMS, "username"),
        _read("get_claim_history", CLAIM, "username", records=_each),
        _read("get_provider_details", PROVIDER, "provider_id"),
        _write(LOGIN),
        _write(LOGOUT),
        _write(UPDATE, _POLICY),
        _write(REACTIVATE, _POLICY),
        _write(DEACTIVATE, _POLICY),
        _write(SUBMIT, _CLAIMS),
        _write(APPEAL, _CLAIMS, touch(CLAIM)),
        _write(AUTHORIZE, _POLICY),
        _write(SCHEDULE),
        *(
            Neutral(tool=tool)
            for tool in (
                "internal_check_username_exist",
                "internal_check_claim_exists",
                "internal_check_provider_exists",
                "exit_conversation",
            )
        ),
    ),
    predicates=(
        logged_in_user,
        policy_active,
        policy_inactive,
        within_enrollment_period,
        within_appeal_period,
        claim_status_denied,
        income_proof_enough,
        policy_type_valid,
        no_pending_claims,
        claim_within_coverage_amount,
        claim_within_limits,
        provider_fits,
        provider_available,
        appointment_date_valid,
        provider_not_already_authorized,
    ),
)
"""The insurer, with one rule for each constraint (two that are an either-or are one)."""
