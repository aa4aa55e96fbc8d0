"""Packs for SOPBench's domains: each rule says no where its condition is not met, and only there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.oracle.outcome import Outcome, outcome
from benchmarks.oracle.packs import PACKS
from tests.bench.oracle.stories import STORIES, course, policy, student
from tests.bench.oracle.story import Story

NOW, HER = "internal_get_interaction_time", "internal_get_student_info"
COURSE, MINOR = "internal_get_course_info", "internal_get_minor_info"
CAR, TEST = "internal_get_vehicle_details", "internal_get_test_details"
MEMBER, CARD = "internal_get_membership_status", "get_credit_card_info"
LOGGED_IN, AUTHENTICATED = "logged-in-user", "authenticated-admin-password"
GOOD = {
    name: story for name, story in STORIES.items() if name not in ("open again", "insure unread")
}
OWING = "(True, {'card_number': '1', 'credit_limit': 100.0, 'credit_balance': 1.0})"
BLANK = "{'required_courses': ['L-0', 'L-1'], 'min_gpa': %s, 'capacity': 4}"
POLICY = "get_policy_details"
PENDING = "[{'claim_id': '2', 'amount': 1, 'status': 'pending', 'claim_date': '2024-10-31'}]"
ABSENT = "{'service_type': 'Vision', 'availability': 'Away'}"
INSURED = "{'reg_date': '2024-12-01', 'address': 'Old Street', 'insurance_status': 'valid'}"
SHARED = (
    "{'required_courses': ['L-0', 'GEN0'], 'min_gpa': 2.0, 'prerequisites': [],"
    " 'incompatible_majors': []}"
)
SPENT = "(True, {'status': %r, 'scheduled_time': '2024-11-21T09:00:00', 'attempts': 3})"


def judged(story: Story, **opening: bool) -> Outcome:
    return outcome(story.record(**opening), PACKS[story.domain])


@pytest.mark.parametrize("name", GOOD)
def test_an_action_whose_conditions_are_met_passes(name: str) -> None:
    one = judged(STORIES[name])
    assert one.wrote
    assert not one.stopped


@pytest.mark.parametrize(("name", "tool"), [(n, r[0]) for n, s in GOOD.items() for r in s.reads])
def test_each_read_that_decides_is_asked_for(name: str, tool: str) -> None:
    one = judged(STORIES[name].without(tool))
    assert one.stopped
    assert not one.violated


CONTRADICTED = [
    ("transfer", "get_account_balance", "49.0", "sufficient-account-balance"),
    (
        "transfer",
        "internal_check_username_exist",
        "False",
        "internal-check-username-exist-of-destination-username",
    ),
    (
        "exchange",
        "internal_check_foreign_currency_available",
        "(True, False)",
        "internal-check-foreign-currency-available",
    ),
    ("open", "internal_check_username_exist", "True", "not-internal-check-username-exist"),
    ("insure", CAR, INSURED, "not-valid-vehicle-insurance"),
    ("renew car", CAR, INSURED.replace("valid", "expired"), "valid-vehicle-insurance"),
    ("declare minor", MINOR, SHARED, "minor-course-overlap-check"),
    ("insure unread", "internal_has_vehicle", "False", "internal-has-vehicle"),
    (
        "title",
        "internal_check_username_exist",
        "False",
        "internal-check-username-exist-of-target-owner",
    ),
    ("update policy", POLICY, policy(enrollment_date="2024-10-31"), "within-enrollment-period"),
    ("update policy", POLICY, policy(type="Inactive"), "policy-active"),
    ("update policy", "get_claim_history", PENDING, "no-pending-claims"),
    ("reactivate", POLICY, policy(), "policy-inactive"),
    ("claim", POLICY, policy(coverage_amount=99), "claim-within-coverage-amount"),
    ("claim", "get_provider_details", ABSENT, "provider-covers-policy"),
    ("appeal", "get_claim_details", PENDING[1:-1], "claim-status-denied within-appeal-period"),
    ("appointment", "get_provider_details", ABSENT, "provider-covers-policy provider-available"),
    ("appointment", NOW, "2024-11-22T00:00:00", "appointment-date-valid"),
    ("authorize", POLICY, policy(authorized_providers=["D"]), "provider-not-already-authorized"),
    ("bill", CARD, OWING, "not-over-credit-limit"),
    ("cancel card", CARD, OWING, "no-credit-card-balance-on-card"),
    ("loan", "internal_get_credit_score", "600", "minimal-elgibile-credit-score"),
    ("loan", "get_account_owed_balance", "21.0", "get-loan-owed-balance-restr"),
    ("repay", "get_account_owed_balance", "51.0", "pay-loan-amount-restr"),
    ("box", "get_account_balance", "49.0", "safety-box-eligible"),
    ("register", "internal_vehicle_registered", "True", "not-internal-vehicle-registered"),
    ("register", "internal_has_dl", "False", "internal-has-dl"),
    ("title", "internal_has_dl", "(True, False)", "internal-has-dl-of-target-owner"),
    ("renew car", NOW, "2024-11-20T23:59:59", "within-vehicle-renewal-period"),
    ("renew car", NOW, "2024-12-01T00:00:01", "within-vehicle-renewal-period"),
    ("renew license", NOW, "2024-12-01T00:00:01", "within-dl-renewal-period"),
    (
        "schedule",
        "internal_check_test_slot_available",
        "False",
        "internal-check-test-slot-available",
    ),
    ("schedule", "internal_get_user_birthday", "2008-11-22", "above-minimum-age"),
    ("schedule", TEST, SPENT % "failed", "drive-test-ready within-attempt-limit"),
    ("cancel test", TEST, SPENT % "passed", "test-scheduled before-test-date"),
    ("update test", NOW, "2024-11-22T09:00:00", "not-before-test-date"),
    ("add book", "internal_is_admin", "False", "internal-is-admin"),
    ("borrow", "internal_check_book_available", "False", "internal-check-book-available"),
    ("borrow", MEMBER, "None", "not-internal-is-restricted"),
    ("borrow", MEMBER, "October 8th, 2024", "not-internal-is-restricted"),
    ("borrow", "internal_get_user_borrowed", "['E1']", "user-book-not-borrowed"),
    ("borrow", "internal_get_user_num_borrowed", "2", "within-borrow-limit"),
    ("return", "internal_get_user_borrowed", "[]", "user-book-borrowed"),
    ("reserve", MEMBER, "(True, None)", "within-max-reservation-slots"),
    (
        "reserve",
        "show_available_rooms",
        "{'R': {'October 10th, 2024': ['10:00']}}",
        "internal-all-slots-available-for-the-room-on-the-date",
    ),
    (
        "pay fee",
        "internal_calculate_late_fee",
        "50.0",
        "sufficient-account-balance-for-late-fee",
    ),
    (
        "join",
        "internal_get_membership_fee",
        "50.0",
        "sufficient-account-balance-for-membership",
    ),
    ("enroll", HER, student(completed_courses=[]), "has-completed-prerequisites"),
    ("enroll", HER, student(completed_courses=["L-0", "L-2"]), "course-not-completed"),
    ("enroll", HER, student(completed_credits=89), "meets-division-requirements"),
    ("enroll", HER, student(current_credits=16), "credits-within-limit"),
    ("enroll", HER, student(major="Law"), "meets-major-restriction"),
    ("enroll", NOW, "2024-10-31T10:00:00", "within-registration-period"),
    (
        "enroll",
        COURSE,
        course(enrolled=2),
        "course-has-capacity no-schedule-conflict no-exam-conflict",
    ),
    ("drop", HER, student(enrolled_courses=[]), "course-enrolled-by-user"),
    ("drop", HER, student(current_credits=14), "maintains-min-credits"),
    ("drop", NOW, "2024-11-22T10:00:00", "within-withdrawal-period"),
    ("graduate", HER, student(completed_courses=["L-0", "GEN0"]), "gen-ed-requirements-met"),
    ("graduate", HER, student(completed_credits=179), "credit-requirement-met"),
    ("graduate", HER, student(gpa=2.9), "gpa-requirement-met"),
    ("graduate", HER, student(tuition_balance=1), "tuition-balance-zero"),
    ("graduate", HER, student(academic_status="Probation"), "not-on-probation"),
    ("graduate", NOW, "2024-11-22T10:00:00", "before-graduation-deadline"),
    ("graduate", "internal_get_major_info", BLANK % 2.0, "major-requirements-met"),
    ("change major", HER, student(major_changes=2), "under-max-major-changes"),
    ("change major", HER, student(completed_credits=44), "has-min-credits-for-major-change"),
    (
        "change major",
        "internal_get_major_info",
        BLANK % 3.1,
        "meets-major-gpa-requirement major-has-capacity",
    ),
    ("change major", NOW, "2024-11-22T00:00:00", "within-major-change-period"),
    ("declare minor", HER, student(minors=["Art"]), "under-max-minors"),
    ("declare minor", HER, student(major="Law"), "minor-compatible-with-major"),
    ("declare minor", HER, student(gpa=1.9), "meets-minor-gpa-requirement"),
    ("declare minor", HER, student(completed_courses=[]), "meets-minor-prerequisites"),
    ("declare minor", NOW, "2024-11-22T00:00:00", "within-minor-declaration-period"),
    ("aid", HER, student(current_credits=5), "meets-half-time-enrollment"),
    ("aid", HER, student(financial_aid_quarters=2), "financial-aid-quota-available"),
    ("aid", HER, student(gpa=2.9), "meets-min-gpa-for-aid"),
    ("aid", HER, student(income=11), "meets-income-requirements"),
    ("aid", HER, student(residency="out-of-state"), "valid-residency-status"),
]
"""Stories, a tool that answers otherwise, and the rules that say no to that."""

ALTERED: list[tuple[str, dict[str, Any], str]] = [
    ("deposit", {"amount": 10}, "maximum-deposit-limit"),
    ("exchange", {"amount": 10}, "maximum-exchange-amount"),
    ("claim", {"amount": 41}, "claim-within-limits claim-within-coverage-amount"),
    ("update policy", {"coverage_amount": 21}, "income-proof-enough"),
    ("reactivate", {"policy_type": "Life"}, "policy-type-valid"),
    ("move car", {"plate_num": "P-2"}, ""),
    ("move car", {"address_new": "Old Street"}, "is-vehicle-address-different"),
    ("move license", {"address_new": "Old Street"}, "is-dl-address-different"),
]
"""Stories, arguments that are others, and the rule that says no to them."""


@pytest.mark.parametrize(("name", "tool", "answer", "rules"), CONTRADICTED)
def test_a_record_that_contradicts_an_action_stops_it(
    name: str, tool: str, answer: str, rules: str
) -> None:
    story = STORIES[name].answering(tool, answer)
    assert judged(story).violated == {f"{story.domain}/{rule}" for rule in rules.split()}


@pytest.mark.parametrize(("name", "changes", "rules"), ALTERED)
def test_arguments_that_contradict_a_number_or_record_stop_an_action(
    name: str, changes: dict[str, Any], rules: str
) -> None:
    story = STORIES[name]
    altered = replace(story, arguments={**story.arguments, **changes})
    assert judged(altered).stopped
    assert judged(altered).violated == {f"{story.domain}/{rule}" for rule in rules.split()}


def test_an_account_is_not_opened_for_a_user_who_has_one_and_owes_money() -> None:
    taken = ("not-internal-check-username-exist", "no-owed-balance", "no-credit-card-balance")
    assert judged(STORIES["open again"]).violated == {f"bank/{rule}" for rule in taken}


def test_who_has_not_logged_in_does_nothing_that_asks_for_it() -> None:
    for story in GOOD.values():
        guards = {rule.id: rule.guards for rule in PACKS[story.domain].domain.predicates}
        login, owner = (f"{story.domain}/{rule}" for rule in (LOGGED_IN, AUTHENTICATED))
        asked = {rule for rule in (login, owner) if story.tool in guards.get(rule, ())}
        violated = judged(story, login=False, password=False).violated
        assert violated & {login, owner} == asked
        assert (owner in judged(story, password=False).violated) == (owner in asked)


@pytest.mark.parametrize("domain", ["bank", "healthcare", "library"])
def test_a_user_is_taken_to_exist_who_has_logged_in_or_is_known(domain: str) -> None:
    rule = f"{domain}/internal-check-username-exist"
    for answer, exists in (("True", True), ("(True, False)", False)):
        check = ("internal_check_username_exist", {"username": "ada"}, answer)
        out = Story(domain, "logout_user", {"username": "ada"}, (check,))
        assert (rule in judged(out, login=False, password=False).violated) is not exists
        assert rule not in judged(out).violated


@pytest.mark.parametrize("free", [True, False])
def test_slots_that_were_asked_for_need_no_list_of_rooms(free: bool) -> None:
    story = STORIES["reserve"].without("show_available_rooms")
    arguments = {name: story.arguments[name] for name in ("room_id", "resv_date", "slots")}
    ask = ("internal_all_slots_available_for_the_room_on_the_date", arguments, str(free))
    one = judged(replace(story, reads=(*story.reads, ask)))
    assert one.stopped is not free
    assert bool(one.violated) is not free


@pytest.mark.parametrize(("status", "stopped"), [("failed", False), ("passed", True)])
def test_who_is_ready_for_the_drive_test_takes_no_other(status: str, stopped: bool) -> None:
    story = STORIES["schedule"]
    theory = {"test_type": "knowledge", "schedule_time": story.arguments["schedule_time"]}
    taken = f"(True, {{'status': {status!r}, 'scheduled_time': None, 'attempts': 0}})"
    steps = (
        (TEST, {"username": "ada", "test_type": "knowledge"}, taken),
        ("internal_check_test_slot_available", theory, "True"),
    )
    other = replace(story, arguments={**story.arguments, **theory}, reads=(*story.reads, *steps))
    assert judged(other).violated == ({"dmv/drive-test-ready"} if stopped else set())


def test_each_rule_says_no_in_some_story() -> None:
    rows = [(name, rules) for name, _, _, rules in CONTRADICTED]
    rows += [(name, rules) for name, _, rules in ALTERED]
    seen = {f"{STORIES[name].domain}/{rule}" for name, rules in rows for rule in rules.split()}
    every = {rule.id for pack in PACKS.values() for rule in pack.domain.predicates}
    others = {rule.partition("/")[2] for rule in every - seen}
    assert others == {
        LOGGED_IN,
        AUTHENTICATED,
        "internal-check-username-exist",
        "no-owed-balance",
        "no-credit-card-balance",
    }
