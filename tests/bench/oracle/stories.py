"""Stories of our own: for each action of a domain, a run that keeps every condition."""

from __future__ import annotations

from typing import Any

from tests.bench.oracle.story import ADA, Story, alone, pair

SLOT = {"test_type": "drive", "schedule_time": "2024-12-01T09:00:00"}
CAR = {**ADA, "plate_num": "P-1"}
CARD = {"card_number": "1", "credit_limit": 100.0, "credit_balance": 0.0}
NOW = "2024-11-21T16:25:31"

_BALANCE = pair("get_account_balance", 50.0, **ADA)
_SCORE = pair("internal_get_credit_score", 700, **ADA)
_OWED = pair("get_account_owed_balance", 20.0, **ADA)
_CARD = pair("get_credit_card_info", CARD, **ADA, card_number="1")
_TIME = alone("internal_get_interaction_time", NOW)
_VEHICLE = pair(
    "internal_get_vehicle_details",
    {"reg_date": "2024-12-01", "address": "Old Street", "insurance_status": "valid"},
    **CAR,
)
_LICENSE = alone(
    "internal_get_dl_details", repr({"exp_date": "2024-12-01", "address": "Old Street"}), **ADA
)
_TEST = {"status": "scheduled", "scheduled_time": "2024-11-22T09:00:00", "attempts": 1}
_ABLE = {"status": "passed", "scheduled_time": None, "attempts": 1}
_READY = {"status": "not scheduled", "scheduled_time": None, "attempts": 0}
_STUDENT = {
    "major": "Logic",
    "minors": [],
    "major_changes": 1,
    "enrolled_courses": ["L-1"],
    "completed_courses": ["L-0", *(f"GEN{number}" for number in range(10))],
    "completed_credits": 180,
    "current_credits": 15,
    "gpa": 3.0,
    "tuition_balance": 0,
    "academic_status": "Good",
    "financial_aid_quarters": 1,
    "residency": "in-state",
    "income": 10,
}
_COURSE = {
    "prerequisites": ["L-0"],
    "capacity": 2,
    "enrolled": 1,
    "schedule": {"days": ["Mon"], "time": "10:00-11:30"},
    "credits": 3,
    "division": "upper",
    "exam_schedule": "2024-12-20T09:00",
    "restricted_to_majors": ["Logic"],
}
_LATER = {
    **_COURSE,
    "schedule": {"days": ["Mon"], "time": "11:30-12:30"},
    "exam_schedule": "2024-12-20T11:00",
}
_CALENDAR = {
    "registration_period": ["2024-11-01", "2024-11-21"],
    "graduation_deadline": "2024-11-22",
    "withdrawal_deadline": "2024-11-22",
    "major_change_deadline": "2024-11-21",
    "minor_declaration_deadline": "2024-11-22",
}
_MAJOR = {"required_courses": ["L-0", "GEN0"], "min_gpa": 3.0, "capacity": 5}
_MINOR = {
    "required_courses": ["M-0", "L-0"],
    "min_gpa": 2.0,
    "prerequisites": ["L-0"],
    "incompatible_majors": ["Law"],
}


def student(**changes: Any) -> str:
    """The student's record, with some fields otherwise."""
    return repr({**_STUDENT, **changes})


def course(**changes: Any) -> str:
    """The course's record, with some fields otherwise."""
    return repr({**_COURSE, **changes})


_MEMBER = (
    alone("internal_get_membership_status", "October 9th, 2024", **ADA),
    alone("internal_get_interaction_date", "2024-10-09"),
)
_PAID = {"claim_id": "1", "amount": 60, "status": "approved", "claim_date": "2024-11-01"}
_DENIED = {**_PAID, "claim_id": "2", "status": "denied"}
_CLAIMS = alone("get_claim_history", repr([_PAID, _DENIED]), **ADA)
_DOCTOR = pair(
    "get_provider_details", {"service_type": "Dental", "availability": "Available"}, provider_id="D"
)


def policy(**changes: Any) -> str:
    """The policy, with some fields otherwise."""
    own = {"type": "Dental", "coverage_amount": 100, "authorized_providers": ["E"]}
    return repr({**own, "enrollment_date": "2024-11-01", **changes})


_POLICY = alone("get_policy_details", policy(), **ADA)
_HER = alone("internal_get_student_info", student(), **ADA)
_DAYS = (_TIME, alone("internal_get_academic_calendar", repr(_CALENDAR)))
_TAKEN = alone("internal_get_course_info", repr(_LATER), course_code="L-1")
_NEW = alone("internal_get_course_info", course(), course_code="L-2")
_LOGIC = alone("internal_get_major_info", repr(_MAJOR), major="Logic")

STORIES = {
    "transfer": Story(
        "bank",
        "transfer_funds",
        {**ADA, "destination_username": "bo", "amount": 49},
        (_BALANCE, pair("internal_check_username_exist", True, username="bo")),
    ),
    "open": Story(
        "bank",
        "open_account",
        {"username": "new"},
        (pair("internal_check_username_exist", False, username="new"),),
    ),
    "open again": Story(
        "bank",
        "open_account",
        ADA,
        (
            pair("internal_check_username_exist", True, **ADA),
            pair("get_account_owed_balance", 1.0, **ADA),
            pair("get_credit_cards", [{**CARD, "credit_balance": 1.0}], **ADA),
        ),
    ),
    "deposit": Story("bank", "deposit_funds", {**ADA, "amount": 9}, (), {"maximum_deposit": 9}),
    "exchange": Story(
        "bank",
        "exchange_foreign_currency",
        {"amount": 9, "foreign_currency_type": "EUR"},
        (pair("internal_check_foreign_currency_available", True, foreign_currency_type="EUR"),),
        {"maximum_exchange": 9},
    ),
    "bill": Story(
        "bank", "pay_bill_with_credit_card", {**ADA, "amount": 100, "card_number": "1"}, (_CARD,)
    ),
    "cancel card": Story("bank", "cancel_credit_card", {**ADA, "card_number": "1"}, (_CARD,)),
    "loan": Story(
        "bank",
        "get_loan",
        ADA,
        (_SCORE, _OWED),
        {"minimum_credit_score": 600, "maximum_owed_balance": 21},
    ),
    "repay": Story("bank", "pay_loan", {**ADA, "pay_owed_amount_request": 60}, (_BALANCE, _OWED)),
    "box": Story(
        "bank",
        "set_safety_box",
        ADA,
        (_SCORE, _BALANCE),
        {"minimum_credit_score": 600, "minimum_account_balance_safety_box": 50},
    ),
    "update policy": Story(
        "healthcare",
        "update_policy",
        {**ADA, "policy_type": "Dental", "coverage_amount": 20, "annual_income": 100},
        (_TIME, _POLICY, _CLAIMS),
        {"enrollment_period": 21, "max_coverage_percentage": 20},
    ),
    "reactivate": Story(
        "healthcare",
        "reactivate_policy",
        {**ADA, "policy_type": "Dental"},
        ((*_POLICY[:2], policy(type="Inactive")),),
    ),
    "claim": Story(
        "healthcare",
        "submit_claim",
        {**ADA, "amount": 40, "provider_id": "D"},
        (_POLICY, _CLAIMS, _DOCTOR),
        {"maximum_claimable_amount": 41},
    ),
    "appeal": Story(
        "healthcare",
        "appeal_claim",
        {**ADA, "claim_id": "2"},
        (_TIME, _POLICY, pair("get_claim_details", _DENIED, **ADA, claim_id="2")),
        {"appeal_period": 21},
    ),
    "appointment": Story(
        "healthcare",
        "schedule_appointment",
        {**ADA, "provider_id": "D", "appointment_date": "2024-11-22"},
        (_TIME, _POLICY, _DOCTOR),
    ),
    "authorize": Story(
        "healthcare", "add_authorized_provider", {**ADA, "provider_id": "D"}, (_POLICY,)
    ),
    "register": Story(
        "dmv",
        "register_vehicle",
        CAR,
        (
            pair("internal_vehicle_registered", False, plate_num="P-1"),
            pair("internal_has_dl", True, **ADA),
        ),
    ),
    "title": Story(
        "dmv",
        "transfer_title",
        {**CAR, "target_owner": "bo"},
        (
            _LICENSE,
            _VEHICLE,
            pair("internal_check_username_exist", True, username="bo"),
            pair("internal_has_dl", True, username="bo"),
        ),
    ),
    "move car": Story(
        "dmv", "change_vehicle_address", {**CAR, "address_new": "New Street"}, (_VEHICLE,)
    ),
    "move license": Story(
        "dmv", "change_dl_address", {**ADA, "address_new": "New Street"}, (_LICENSE,)
    ),
    "insure": Story(
        "dmv",
        "validate_vehicle_insurance",
        CAR,
        (_LICENSE, (*_VEHICLE[:2], _VEHICLE[2].replace("valid", "expired"))),
    ),
    "insure unread": Story(
        "dmv",
        "validate_vehicle_insurance",
        CAR,
        (_LICENSE, pair("internal_has_vehicle", True, **CAR)),
    ),
    "renew car": Story(
        "dmv", "renew_vehicle", CAR, (_TIME, _VEHICLE), {"vehicle_renewal_window": 10}
    ),
    "renew license": Story("dmv", "renew_dl", ADA, (_TIME, _LICENSE), {"dl_renewal_window": 10}),
    "schedule": Story(
        "dmv",
        "schedule_test",
        {**ADA, **SLOT},
        (
            _TIME,
            alone("internal_check_test_slot_available", "True", **SLOT),
            pair("internal_get_test_details", _ABLE, **ADA, test_type="knowledge"),
            pair("internal_get_test_details", _READY, **ADA, test_type="drive"),
            alone("internal_get_user_birthday", "2008-11-21", **ADA),
        ),
        {"min_age": 16, "attempt_limit": 3},
    ),
    "cancel test": Story(
        "dmv",
        "cancel_test",
        {**ADA, "test_type": "drive"},
        (_TIME, pair("internal_get_test_details", _TEST, **ADA, test_type="drive")),
    ),
    "update test": Story(
        "dmv",
        "update_test_status",
        {**ADA, "test_type": "drive"},
        (
            alone("internal_get_interaction_time", "2024-11-22T09:00:01"),
            pair("internal_get_test_details", _TEST, **ADA, test_type="drive"),
        ),
    ),
    "add book": Story("library", "add_book", ADA, (alone("internal_is_admin", "True", **ADA),)),
    "borrow": Story(
        "library",
        "borrow_book",
        {**ADA, "book_title": "Emma"},
        (
            pair("internal_check_book_available", True, book_title="Emma"),
            pair("internal_is_restricted", True, book_title="Emma"),
            *_MEMBER,
            alone("internal_convert_book_title_to_id", "E1", book_title="Emma"),
            pair("internal_get_user_borrowed", ["F1"], **ADA),
            alone("internal_get_user_num_borrowed", "1", **ADA),
        ),
        {"borrow_limit": 2},
    ),
    "return": Story(
        "library",
        "return_book",
        {**ADA, "book_title": "Emma"},
        (
            pair("internal_convert_book_title_to_id", "E1", book_title="Emma"),
            alone("internal_get_user_borrowed", "['E1']", **ADA),
        ),
    ),
    "reserve": Story(
        "library",
        "reserve_room",
        {**ADA, "room_id": "R", "resv_date": "2024-10-10", "slots": ["9:00"]},
        (
            pair("show_available_rooms", {"R": {"October 10th, 2024": ["9:00"]}}, **ADA),
            alone("internal_get_num_reserved_slots", "2", **ADA),
            *_MEMBER,
        ),
        {"max_reservation_slots": 2},
    ),
    "pay fee": Story(
        "library",
        "pay_late_fee",
        ADA,
        (_BALANCE, alone("internal_calculate_late_fee", "49.5", **ADA)),
    ),
    "join": Story(
        "library", "update_membership", ADA, (_BALANCE, pair("internal_get_membership_fee", 5.0))
    ),
    "enroll": Story(
        "university",
        "enroll_course",
        {**ADA, "course_code": "L-2"},
        (_HER, *_DAYS, _TAKEN, _NEW),
        {"max_credits_per_quarter": 18},
    ),
    "drop": Story(
        "university",
        "drop_course",
        {**ADA, "course_code": "L-1"},
        (_HER, *_DAYS, _TAKEN),
        {"min_credits_drop": 12},
    ),
    "graduate": Story(
        "university",
        "request_graduation",
        ADA,
        (_HER, *_DAYS, _LOGIC),
        {"graduation_credit_requirement": 180, "min_gpa_graduation": 3.0},
    ),
    "change major": Story(
        "university",
        "change_major",
        {**ADA, "new_major": "Logic"},
        (
            _HER,
            *_DAYS,
            _LOGIC,
            alone("internal_get_number_of_students_for_major", "4", major="Logic"),
        ),
        {"max_major_changes": 2, "min_credits_major_change": 45},
    ),
    "declare minor": Story(
        "university",
        "declare_minor",
        {**ADA, "minor": "Maths"},
        (_HER, *_DAYS, _LOGIC, alone("internal_get_minor_info", repr(_MINOR), minor="Maths")),
        {"max_minors": 1, "max_overlap_minor_major": 1},
    ),
    "aid": Story(
        "university",
        "apply_financial_aid",
        ADA,
        (_HER,),
        {
            "min_credits_financial_aid": 6,
            "max_financial_aid_quarters": 2,
            "min_gpa_financial_aid": 3.0,
            "max_income_financial_aid": 11,
        },
    ),
}
