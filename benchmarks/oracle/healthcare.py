"""The health insurer of SOPBench."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NotRequired, TypedDict

from benchmarks.oracle.answers import each, flag, moment, neutral, read, write
from benchmarks.oracle.pack import Pack
from benchmarks.oracle.rules import (
    LOGIN,
    LOGOUT,
    USER,
    Rules,
    internal_check_username_exist,
    logged_in_user,
    within,
)
from ledgeragent import Domain, PathTemplate, violation
from ledgeragent.effects import touch
from ledgeragent.predicates import Broken, View

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

UPDATE, REACTIVATE, DEACTIVATE = "update_policy", "reactivate_policy", "deactivate_policy"
SUBMIT, APPEAL = "submit_claim", "appeal_claim"
AUTHORIZE, SCHEDULE = "add_authorized_provider", "schedule_appointment"
WRITES = (UPDATE, REACTIVATE, DEACTIVATE, SUBMIT, APPEAL, AUTHORIZE, SCHEDULE)


rule = Rules("healthcare")
rule(*WRITES)(logged_in_user)
rule(LOGOUT)(internal_check_username_exist)
look = Rules("healthcare")
look("get_policy_details", "get_claim_details", "get_claim_history")(logged_in_user)


@rule(UPDATE, DEACTIVATE, SUBMIT, APPEAL, AUTHORIZE, SCHEDULE)
def policy_active(call: Any, ledger: View) -> Broken | None:
    """The policy is active."""
    active = ledger[POLICY(call["username"])]["type"] != "Inactive"
    return None if active else violation("the policy is inactive")


@rule(REACTIVATE)
def policy_inactive(call: Any, ledger: View) -> Broken | None:
    """The policy is inactive."""
    kind = ledger[POLICY(call["username"])]["type"]
    return None if kind == "Inactive" else violation("the policy is {kind}", kind=kind)


@rule(UPDATE)
def within_enrollment_period(call: Any, ledger: View) -> Broken | None:
    """No more than so many days have passed since the enrollment."""
    start = ledger[POLICY(call["username"])]["enrollment_date"]
    return within(ledger[CLOCK()], start, start, days=ledger.parameters["enrollment_period"])


@rule(APPEAL)
def within_appeal_period(call: Any, ledger: View) -> Broken | None:
    """No more than so many days have passed since the claim."""
    start = _claim(call, ledger)["claim_date"]
    return within(ledger[CLOCK()], start, start, days=ledger.parameters["appeal_period"])


def _claim(call: Any, ledger: View) -> Any:
    return ledger[CLAIM(call["username"], call["claim_id"])]


@rule(APPEAL)
def claim_status_denied(call: Any, ledger: View) -> Broken | None:
    """Only a denied claim is appealed."""
    status = _claim(call, ledger)["status"]
    return None if status == "denied" else violation("the claim is {status}", status=status)


@rule(UPDATE)
def income_proof_enough(call: Any, ledger: View) -> Broken | None:
    """Coverage is so many percent of the income at most."""
    share = ledger.parameters["max_coverage_percentage"] / 100
    if call["coverage_amount"] <= share * call["annual_income"]:
        return None
    return violation("{amount} is too much", amount=call["coverage_amount"])


@rule(UPDATE, REACTIVATE)
def policy_type_valid(call: Any, ledger: View) -> Broken | None:
    """The kind of policy is one of four."""
    if call["policy_type"] in KINDS:
        return None
    return violation("policy_type is {kinds}", kinds=list(KINDS))


@rule(UPDATE, DEACTIVATE)
def no_pending_claims(call: Any, ledger: View) -> Broken | None:
    """No claim is pending."""
    pending = [c["claim_id"] for c in ledger[CLAIMS(call["username"])] if c["status"] == "pending"]
    return violation("{pending} is pending", pending=pending) if pending else None


@rule(SUBMIT)
def claim_within_coverage_amount(call: Any, ledger: View) -> Broken | None:
    """Claims that were not denied, with this one, stay within the coverage."""
    claims = ledger[CLAIMS(call["username"])]
    total = sum(c["amount"] for c in claims if c["status"] in ("pending", "approved"))
    covered = ledger[POLICY(call["username"])]["coverage_amount"]
    if total + call["amount"] <= covered:
        return None
    return violation("claims of {total} are covered to {covered}", total=total, covered=covered)


@rule(SUBMIT)
def claim_within_limits(call: Any, ledger: View) -> Broken | None:
    """A claim is under the most that can be claimed."""
    most = ledger.parameters["maximum_claimable_amount"]
    return None if call["amount"] < most else violation("it is not under {most}", most=most)


@rule(SUBMIT, SCHEDULE)
def provider_covers_policy(call: Any, ledger: View) -> Broken | None:
    """The provider is authorized, or serves the kind of the policy."""
    policy = ledger[POLICY(call["username"])]
    if call["provider_id"] in policy["authorized_providers"]:
        return None
    served = ledger[PROVIDER(call["provider_id"])]["service_type"]
    return None if served == policy["type"] else violation("it serves {served}", served=served)


@rule(SCHEDULE)
def provider_available(call: Any, ledger: View) -> Broken | None:
    """The provider is available."""
    availability = ledger[PROVIDER(call["provider_id"])]["availability"]
    return None if availability == "Available" else violation("it is {now}", now=availability)


@rule(SCHEDULE)
def appointment_date_valid(call: Any, ledger: View) -> Broken | None:
    """An appointment is in the future."""
    then = datetime.fromisoformat(call["appointment_date"])
    later = then > datetime.fromisoformat(ledger[CLOCK()])
    return None if later else violation("{then} is past", then=call["appointment_date"])


@rule(AUTHORIZE)
def provider_not_already_authorized(call: Any, ledger: View) -> Broken | None:
    """The provider is not authorized yet."""
    if call["provider_id"] not in ledger[POLICY(call["username"])]["authorized_providers"]:
        return None
    return violation("{id} is authorized already", id=call["provider_id"])


_POLICY, _CLAIMS = touch(POLICY), touch(CLAIMS)

HEALTHCARE = Pack(
    domain=Domain(
        name="healthcare",
        version="sopbench",
        tools=(
            read("internal_get_interaction_time", CLOCK, parse=moment),
            flag("internal_check_username_exist", USER, "username"),
            read("get_policy_details", POLICY, "username"),
            read("get_claim_details", CLAIM, "username", "claim_id"),
            read("get_claim_history", CLAIMS, "username"),
            read("get_claim_history", CLAIM, "username", records=each),
            read("get_provider_details", PROVIDER, "provider_id"),
            write(LOGIN),
            write(LOGOUT),
            write(UPDATE, _POLICY),
            write(REACTIVATE, _POLICY),
            write(DEACTIVATE, _POLICY),
            write(SUBMIT, _CLAIMS),
            write(APPEAL, _CLAIMS, touch(CLAIM)),
            write(AUTHORIZE, _POLICY),
            write(SCHEDULE),
            *neutral("internal_check_claim_exists", "internal_check_provider_exists"),
        ),
        predicates=rule.all,
    ),
    reads=look.all,
    same={"provider_authorized": "provider_covers_policy"},
)
"""One rule for each constraint; two that are an either-or are one."""
