"""Records of SOPBench's university, and where they stand."""

from __future__ import annotations

from typing import TypedDict

from ledgeragent import PathTemplate


class Student(TypedDict):
    """A student."""

    major: str
    minors: list[str]
    major_changes: int
    enrolled_courses: list[str]
    completed_courses: list[str]
    completed_credits: float
    current_credits: float
    gpa: float
    tuition_balance: float
    academic_status: str
    financial_aid_quarters: int
    residency: str
    income: float


class Schedule(TypedDict):
    """When a course takes place: from one time to another, on some days of the week."""

    days: list[str]
    time: str


class Course(TypedDict):
    """A course."""

    prerequisites: list[str]
    capacity: int
    enrolled: int
    schedule: Schedule
    credits: float
    division: str
    exam_schedule: str
    restricted_to_majors: list[str]


class Subject(TypedDict):
    """What can be studied, as a major or a minor."""

    required_courses: list[str]
    min_gpa: float


class Minor(Subject):
    """A minor."""

    prerequisites: list[str]
    incompatible_majors: list[str]


class Major(Subject):
    """A major."""

    capacity: int


class Calendar(TypedDict):
    """The days of an academic year."""

    registration_period: list[str]
    graduation_deadline: str
    withdrawal_deadline: str
    major_change_deadline: str
    minor_declaration_deadline: str


CLOCK = PathTemplate("clock", str)
CALENDAR = PathTemplate("calendar", Calendar)
STUDENT = PathTemplate("students.{username}", Student)
COURSE = PathTemplate("courses.{course_code}", Course)
MAJOR = PathTemplate("majors.{major}", Major)
MINOR = PathTemplate("minors.{minor}", Minor)
STUDENTS = PathTemplate("students_of.{major}", int)
