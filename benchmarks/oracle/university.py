"""The university of SOPBench."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from benchmarks.oracle.answers import moment, neutral, read, write
from benchmarks.oracle.pack import Pack
from benchmarks.oracle.rules import LOGIN, LOGOUT, Rules, logged_in_user, within
from benchmarks.oracle.studies import CALENDAR, CLOCK, COURSE, MAJOR, MINOR, STUDENT, STUDENTS
from ledgeragent import Domain, PathTemplate, violation
from ledgeragent.effects import touch
from ledgeragent.predicates import Broken, Check, View

ENROLL, DROP, GRADUATE = "enroll_course", "drop_course", "request_graduation"
CHANGE, DECLARE, AID = "change_major", "declare_minor", "apply_financial_aid"

rule = Rules("university")
rule(ENROLL, DROP, GRADUATE, CHANGE, DECLARE, AID)(logged_in_user)


def _student(call: Any, ledger: View) -> Any:
    return ledger[STUDENT(call["username"])]


def _course(call: Any, ledger: View) -> Any:
    return ledger[COURSE(call["course_code"])]


def _taken(call: Any, ledger: View) -> Iterator[tuple[str, Any]]:
    """The courses that the student takes."""
    return ((code, ledger[COURSE(code)]) for code in _student(call, ledger)["enrolled_courses"])


def _least(what: str, has: float, least: float) -> Broken | None:
    facts: dict[str, Any] = {"what": what, "has": has, "least": least}
    return None if has >= least else violation("{what} is {has}, of {least}", **facts)


def _under(what: str, has: float, most: float) -> Broken | None:
    facts: dict[str, Any] = {"what": what, "has": has, "most": most}
    return None if has < most else violation("{what} is {has}, not under {most}", **facts)


def _by(deadline: str, days: int = 0) -> Check:
    """A day of the calendar has not come, or has not passed for so many days."""

    def check(call: Any, ledger: View) -> Broken | None:
        calendar: Any = ledger[CALENDAR()]
        end = datetime.fromisoformat(calendar[deadline]) + timedelta(days=days)
        if datetime.fromisoformat(ledger[CLOCK()]) < end:
            return None
        return violation("the {deadline} was {end}", deadline=deadline, end=str(end))

    return check


rule(DROP, name="within_withdrawal_period")(_by("withdrawal_deadline"))
rule(GRADUATE, name="before_graduation_deadline")(_by("graduation_deadline"))
rule(CHANGE, name="within_major_change_period")(_by("major_change_deadline", days=1))
rule(DECLARE, name="within_minor_declaration_period")(_by("minor_declaration_deadline"))
_LEAST = (
    (GRADUATE, "credit_requirement_met", "completed_credits", "graduation_credit_requirement"),
    (GRADUATE, "gpa_requirement_met", "gpa", "min_gpa_graduation"),
    (CHANGE, "has_min_credits_for_major_change", "completed_credits", "min_credits_major_change"),
    (AID, "meets_half_time_enrollment", "current_credits", "min_credits_financial_aid"),
    (AID, "meets_min_gpa_for_aid", "gpa", "min_gpa_financial_aid"),
)
_MOST = (
    (CHANGE, "under_max_major_changes", "major_changes", "max_major_changes"),
    (AID, "financial_aid_quota_available", "financial_aid_quarters", "max_financial_aid_quarters"),
    (AID, "meets_income_requirements", "income", "max_income_financial_aid"),
)
"""Where a student's number has to be on one side of a number that the task states."""


def _compared(compare: Callable[..., Broken | None], field: str, parameter: str) -> Check:
    return lambda call, ledger: compare(
        field, _student(call, ledger)[field], ledger.parameters[parameter]
    )


for _compare, _rows in ((_least, _LEAST), (_under, _MOST)):
    for _tool, _constraint, _field, _parameter in _rows:
        rule(_tool, name=_constraint)(_compared(_compare, _field, _parameter))


def _lacking(needed: list[str], call: Any, ledger: View) -> Broken | None:
    done = _student(call, ledger)["completed_courses"]
    lacking = [course for course in needed if course not in done]
    return violation("{lacking} is not completed", lacking=lacking) if lacking else None


@rule(ENROLL)
def has_completed_prerequisites(call: Any, ledger: View) -> Broken | None:
    """The student has completed what the course builds on."""
    return _lacking(_course(call, ledger)["prerequisites"], call, ledger)


@rule(ENROLL)
def within_registration_period(call: Any, ledger: View) -> Broken | None:
    """Registration is open."""
    start, end = ledger[CALENDAR()]["registration_period"]
    return within(ledger[CLOCK()][:10], start, end)


@rule(ENROLL)
def course_has_capacity(call: Any, ledger: View) -> Broken | None:
    """The course has a seat left."""
    course = _course(call, ledger)
    return _under("enrolled", course["enrolled"], course["capacity"])


@rule(ENROLL)
def credits_within_limit(call: Any, ledger: View) -> Broken | None:
    """The student stays within the credits of a quarter."""
    total = _student(call, ledger)["current_credits"] + _course(call, ledger)["credits"]
    most = ledger.parameters["max_credits_per_quarter"]
    return None if total <= most else violation("{n} credits of {most}", n=total, most=most)


@rule(ENROLL)
def no_schedule_conflict(call: Any, ledger: View) -> Broken | None:
    """The course is at other times than the student's others."""
    own, others = _course(call, ledger)["schedule"], _taken(call, ledger)
    meets = [code for code, other in others if _overlap(own, other["schedule"])]
    return violation("it overlaps with {meets}", meets=meets) if meets else None


def _overlap(one: Any, other: Any) -> bool:
    (start, end), (begin, finish) = (record["time"].split("-") for record in (one, other))
    return any(day in other["days"] for day in one["days"]) and start < finish and begin < end


@rule(ENROLL)
def meets_division_requirements(call: Any, ledger: View) -> Broken | None:
    """An upper course is for students with 90 credits."""
    if _course(call, ledger)["division"] != "upper":
        return None
    return _least("completed_credits", _student(call, ledger)["completed_credits"], 90)


@rule(ENROLL)
def course_not_completed(call: Any, ledger: View) -> Broken | None:
    """The student has not completed the course."""
    done = call["course_code"] in _student(call, ledger)["completed_courses"]
    return violation("the course is completed already") if done else None


@rule(ENROLL)
def no_exam_conflict(call: Any, ledger: View) -> Broken | None:
    """The exam is at another time than the student's others."""
    own, others = _course(call, ledger)["exam_schedule"], _taken(call, ledger)
    meets = [code for code, other in others if other["exam_schedule"] == own]
    return violation("the exam is at the time of {meets}", meets=meets) if meets else None


@rule(ENROLL)
def meets_major_restriction(call: Any, ledger: View) -> Broken | None:
    """The course is for the student's major, or for all."""
    majors = _course(call, ledger)["restricted_to_majors"]
    if not majors or _student(call, ledger)["major"] in majors:
        return None
    return violation("it is for {majors}", majors=majors)


@rule(DROP)
def course_enrolled_by_user(call: Any, ledger: View) -> Broken | None:
    """The student takes the course."""
    takes = call["course_code"] in _student(call, ledger)["enrolled_courses"]
    return None if takes else violation("the student does not take the course")


@rule(DROP)
def maintains_min_credits(call: Any, ledger: View) -> Broken | None:
    """The student keeps the credits that are needed."""
    left = _student(call, ledger)["current_credits"] - _course(call, ledger)["credits"]
    return _least("current_credits", left, ledger.parameters["min_credits_drop"])


@rule(GRADUATE)
def major_requirements_met(call: Any, ledger: View) -> Broken | None:
    """The student has completed what the major requires."""
    major = ledger[MAJOR(_student(call, ledger)["major"])]
    return _lacking(major["required_courses"], call, ledger)


@rule(GRADUATE)
def gen_ed_requirements_met(call: Any, ledger: View) -> Broken | None:
    """The student has completed ten courses of general education."""
    done = _student(call, ledger)["completed_courses"]
    return _least("GEN courses", sum(code.startswith("GEN") for code in done), 10)


@rule(GRADUATE)
def tuition_balance_zero(call: Any, ledger: View) -> Broken | None:
    """The student owes no tuition."""
    owes = _student(call, ledger)["tuition_balance"] > 0
    return violation("tuition is owed") if owes else None


@rule(GRADUATE, AID)
def not_on_probation(call: Any, ledger: View) -> Broken | None:
    """The student is not on probation."""
    on = _student(call, ledger)["academic_status"].lower() == "probation"
    return violation("the student is on probation") if on else None


@rule(CHANGE)
def meets_major_gpa_requirement(call: Any, ledger: View) -> Broken | None:
    """The student has the grades that the major asks for."""
    return _least("gpa", _student(call, ledger)["gpa"], ledger[MAJOR(call["new_major"])]["min_gpa"])


@rule(CHANGE)
def major_has_capacity(call: Any, ledger: View) -> Broken | None:
    """The new major has a place left."""
    major = call["new_major"]
    return _under("students", ledger[STUDENTS(major)], ledger[MAJOR(major)]["capacity"])


@rule(DECLARE)
def minor_compatible_with_major(call: Any, ledger: View) -> Broken | None:
    """The minor goes with the student's major."""
    major = _student(call, ledger)["major"]
    barred = major in ledger[MINOR(call["minor"])]["incompatible_majors"]
    return violation("it does not go with {major}", major=major) if barred else None


@rule(DECLARE)
def under_max_minors(call: Any, ledger: View) -> Broken | None:
    """The student has a minor left to declare."""
    minors = _student(call, ledger)["minors"]
    return _under("minors", len(minors), ledger.parameters["max_minors"])


@rule(DECLARE)
def minor_course_overlap_check(call: Any, ledger: View) -> Broken | None:
    """The minor shares few courses with the major."""
    major = ledger[MAJOR(_student(call, ledger)["major"])]["required_courses"]
    both = [code for code in ledger[MINOR(call["minor"])]["required_courses"] if code in major]
    most = ledger.parameters["max_overlap_minor_major"]
    return None if len(both) <= most else violation("{both} is of both", both=both)


@rule(DECLARE)
def meets_minor_gpa_requirement(call: Any, ledger: View) -> Broken | None:
    """The student has the grades that the minor asks for."""
    return _least("gpa", _student(call, ledger)["gpa"], ledger[MINOR(call["minor"])]["min_gpa"])


@rule(DECLARE)
def meets_minor_prerequisites(call: Any, ledger: View) -> Broken | None:
    """The student has completed what the minor builds on."""
    return _lacking(ledger[MINOR(call["minor"])]["prerequisites"], call, ledger)


@rule(AID)
def valid_residency_status(call: Any, ledger: View) -> Broken | None:
    """The student lives in the state, or went to a public school."""
    fits = _student(call, ledger)["residency"] in ("in-state", "public school graduate")
    return None if fits else violation("the student is of another state and school")


_STUDENT, _COURSE = touch(STUDENT), touch(COURSE)

UNIVERSITY = Pack(
    domain=Domain(
        name="university",
        version="sopbench",
        tools=(
            read("internal_get_interaction_time", CLOCK, parse=moment),
            read("internal_get_academic_calendar", CALENDAR),
            read("internal_get_student_info", STUDENT, "username"),
            read("internal_get_course_info", COURSE, "course_code"),
            read("internal_get_major_info", MAJOR, "major"),
            read("internal_get_minor_info", MINOR, "minor"),
            read("internal_get_number_of_students_for_major", STUDENTS, "major"),
            write(LOGIN),
            write(LOGOUT),
            write(ENROLL, _STUDENT, _COURSE),
            write(DROP, _STUDENT, _COURSE),
            write(GRADUATE, _STUDENT),
            write(CHANGE, _STUDENT, touch(PathTemplate("students_of.{new_major}", int))),
            write(DECLARE, _STUDENT),
            write(AID, _STUDENT),
            *neutral(
                "internal_check_username_exists",
                "internal_check_course_exists",
                "internal_check_major_exists",
                "internal_check_minor_exists",
            ),
        ),
        predicates=rule.all,
    ),
)
"""One rule for each constraint."""
