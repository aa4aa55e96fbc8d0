"""The office of motor vehicles of SOPBench."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any, TypedDict

from benchmarks.oracle.answers import flag, moment, neutral, read, write
from benchmarks.oracle.pack import Pack
from benchmarks.oracle.rules import (
    AUTHENTICATE,
    LOGIN,
    LOGOUT,
    USER,
    Rules,
    authenticated_admin_password,
    exists,
    logged_in_user,
    was_read,
    within,
)
from ledgeragent import Domain, PathTemplate, violation
from ledgeragent.effects import touch
from ledgeragent.predicates import Broken, View


class Vehicle(TypedDict):
    """A registered vehicle."""

    reg_date: str
    address: str
    insurance_status: str


class License(TypedDict):
    """A driver's license."""

    exp_date: str
    address: str


class Test(TypedDict):
    """A user's test of one kind."""

    status: str
    scheduled_time: str | None
    attempts: int


CLOCK = PathTemplate("clock", str)
BIRTHDAY = PathTemplate("birthdays.{username}", str)
OWNS = PathTemplate("owned.{username}.{plate_num}", bool)
REGISTERED = PathTemplate("registered.{plate_num}", bool)
VEHICLE = PathTemplate("vehicles.{username}.{plate_num}", Vehicle)
LICENSED = PathTemplate("licensed.{username}", bool)
LICENSE = PathTemplate("licenses.{username}", License)
FREE = PathTemplate("slots.{test_type}.{schedule_time}", bool)
TEST = PathTemplate("tests.{username}.{test_type}", Test)

SET_PASSWORD = "set_admin_password"
REGISTER, TRANSFER, INSURE = "register_vehicle", "transfer_title", "validate_vehicle_insurance"
MOVE_VEHICLE, RENEW_VEHICLE = "change_vehicle_address", "renew_vehicle"
RENAME, MOVE_LICENSE, RENEW_LICENSE = "update_dl_legal_name", "change_dl_address", "renew_dl"
SCHEDULE, CANCEL, UPDATE_TEST = "schedule_test", "cancel_test", "update_test_status"
OF_VEHICLES = (TRANSFER, INSURE, MOVE_VEHICLE, RENEW_VEHICLE)
OF_LICENSES = (RENAME, MOVE_LICENSE, RENEW_LICENSE)
OF_TESTS = (SCHEDULE, CANCEL, UPDATE_TEST)

rule = Rules("dmv")
rule(LOGOUT, AUTHENTICATE, REGISTER, *OF_VEHICLES, *OF_LICENSES, *OF_TESTS)(logged_in_user)
rule(SET_PASSWORD)(authenticated_admin_password)
look = Rules("dmv")
look("get_reg_status", "get_dl_status", "show_available_test_slots")(logged_in_user)


@rule(*OF_VEHICLES)
@look("get_reg_status")
def internal_has_vehicle(call: Any, ledger: View) -> Broken | None:
    """The vehicle is the user's: that its record was read under their name shows it as well."""
    user, plate = call["username"], call["plate_num"]
    if was_read(VEHICLE(user, plate), ledger) or ledger[OWNS(user, plate)]:
        return None
    return violation("{user} has no vehicle {plate}", user=user, plate=plate)


@rule(REGISTER)
def not_internal_vehicle_registered(call: Any, ledger: View) -> Broken | None:
    """The vehicle is not registered yet."""
    plate = call["plate_num"]
    taken = ledger[REGISTERED(plate)]
    return violation("{plate} is registered", plate=plate) if taken else None


@rule(REGISTER, TRANSFER, INSURE, *OF_LICENSES)
@look("get_dl_status")
def internal_has_dl(call: Any, ledger: View) -> Broken | None:
    """The user has a license."""
    return _licensed(call["username"], ledger)


@rule(TRANSFER)
def internal_has_dl_of_target_owner(call: Any, ledger: View) -> Broken | None:
    """The new owner has a license."""
    return _licensed(call["target_owner"], ledger)


def _licensed(user: str, ledger: View) -> Broken | None:
    if was_read(LICENSE(user), ledger) or ledger[LICENSED(user)]:
        return None
    return violation("{user} has no license", user=user)


@rule(TRANSFER)
def internal_check_username_exist_of_target_owner(call: Any, ledger: View) -> Broken | None:
    """The new owner is known."""
    return exists(call["target_owner"], ledger, LICENSE, BIRTHDAY)


@rule(MOVE_VEHICLE)
def is_vehicle_address_different(call: Any, ledger: View) -> Broken | None:
    """The vehicle gets another address."""
    return _other(call, ledger[VEHICLE(call["username"], call["plate_num"])])


@rule(MOVE_LICENSE)
def is_dl_address_different(call: Any, ledger: View) -> Broken | None:
    """The license gets another address."""
    return _other(call, ledger[LICENSE(call["username"])])


def _other(call: Any, record: Any) -> Broken | None:
    old = record["address"]
    return (
        violation("{old} is the address already", old=old) if old == call["address_new"] else None
    )


@rule(RENEW_VEHICLE)
def valid_vehicle_insurance(call: Any, ledger: View) -> Broken | None:
    """The vehicle is insured."""
    status = _insurance(call, ledger)
    return None if status == "valid" else violation("the insurance is {status}", status=status)


@rule(INSURE)
def not_valid_vehicle_insurance(call: Any, ledger: View) -> Broken | None:
    """The vehicle is not insured yet."""
    insured = _insurance(call, ledger) == "valid"
    return violation("the insurance is valid already") if insured else None


def _insurance(call: Any, ledger: View) -> Any:
    return ledger[VEHICLE(call["username"], call["plate_num"])]["insurance_status"]


@rule(RENEW_VEHICLE)
def within_vehicle_renewal_period(call: Any, ledger: View) -> Broken | None:
    """A registration is renewed in the days before it ends."""
    end = ledger[VEHICLE(call["username"], call["plate_num"])]["reg_date"]
    return _before(end, ledger.parameters["vehicle_renewal_window"], ledger)


@rule(RENEW_LICENSE)
def within_dl_renewal_period(call: Any, ledger: View) -> Broken | None:
    """A license is renewed in the days before it ends."""
    end = ledger[LICENSE(call["username"])]["exp_date"]
    return _before(end, ledger.parameters["dl_renewal_window"], ledger)


def _before(end: str, days: Any, ledger: View) -> Broken | None:
    start = datetime.fromisoformat(end) - timedelta(days=days)
    return within(ledger[CLOCK()], start.isoformat(), end)


@rule(SCHEDULE)
def internal_check_test_slot_available(call: Any, ledger: View) -> Broken | None:
    """The slot is one of this kind of test, and free."""
    kind, time = call["test_type"], call["schedule_time"]
    return None if ledger[FREE(kind, time)] else violation("{time} is not free", time=time)


@rule(SCHEDULE)
def drive_test_ready(call: Any, ledger: View) -> Broken | None:
    """The drive test is for those ready for it, the other test for those who are not."""
    user = call["username"]
    knows = ledger[TEST(user, "knowledge")]["status"] == "passed"
    ready = knows and ledger[TEST(user, "drive")]["status"] == "not scheduled"
    if ready == (call["test_type"] == "drive"):
        return None
    return violation("{user} is {state} for the drive test", user=user, state=_READY[ready])


_READY = {True: "ready", False: "not ready"}


@rule(SCHEDULE)
def above_minimum_age(call: Any, ledger: View) -> Broken | None:
    """The user is old enough."""
    born = date.fromisoformat(ledger[BIRTHDAY(call["username"])])
    today, least = datetime.fromisoformat(ledger[CLOCK()]).date(), ledger.parameters["min_age"]
    age = today.year - born.year - ((today.month, today.day) < (born.month, born.day))
    return None if age >= least else violation("{age} is under {least}", age=age, least=least)


@rule(SCHEDULE)
def within_attempt_limit(call: Any, ledger: View) -> Broken | None:
    """The user has attempts left."""
    tried, most = _test(call, ledger)["attempts"], ledger.parameters["attempt_limit"]
    return None if tried < most else violation("all {most} attempts are used", most=most)


def _test(call: Any, ledger: View) -> Any:
    return ledger[TEST(call["username"], call["test_type"])]


@rule(CANCEL, UPDATE_TEST)
def test_scheduled(call: Any, ledger: View) -> Broken | None:
    """The test is scheduled."""
    test = _test(call, ledger)
    if test["status"] == "scheduled" and test["scheduled_time"]:
        return None
    return violation("the test is {status}", status=test["status"])


@rule(CANCEL)
def before_test_date(call: Any, ledger: View) -> Broken | None:
    """The test is yet to come."""
    time = _test(call, ledger)["scheduled_time"]
    return None if time and ledger[CLOCK()] < time else violation("{time} is past", time=time)


@rule(UPDATE_TEST)
def not_before_test_date(call: Any, ledger: View) -> Broken | None:
    """The test has been."""
    time = _test(call, ledger)["scheduled_time"]
    past = time and time < ledger[CLOCK()]
    return None if past else violation("{time} is yet to come", time=time)


_VEHICLE, _LICENSE, _TEST = touch(VEHICLE), touch(LICENSE), touch(TEST)
_SLOTS = (touch(FREE), _TEST)

DMV = Pack(
    domain=Domain(
        name="dmv",
        version="sopbench",
        tools=(
            read("internal_get_interaction_time", CLOCK, parse=moment),
            flag("internal_check_username_exist", USER, "username"),
            read("internal_get_user_birthday", BIRTHDAY, "username", parse=moment),
            flag("internal_has_vehicle", OWNS, "username", "plate_num"),
            flag("internal_vehicle_registered", REGISTERED, "plate_num"),
            read("internal_get_vehicle_details", VEHICLE, "username", "plate_num"),
            flag("internal_has_dl", LICENSED, "username"),
            read("internal_get_dl_details", LICENSE, "username"),
            flag("internal_check_test_slot_available", FREE, "test_type", "schedule_time"),
            read("internal_get_test_details", TEST, "username", "test_type"),
            *(write(tool) for tool in (LOGIN, LOGOUT, AUTHENTICATE, SET_PASSWORD)),
            write(REGISTER, touch(REGISTERED), touch(OWNS)),
            write(TRANSFER, touch(OWNS), _VEHICLE),
            *(write(tool, _VEHICLE) for tool in (INSURE, MOVE_VEHICLE, RENEW_VEHICLE)),
            *(write(tool, _LICENSE) for tool in OF_LICENSES),
            write(SCHEDULE, *_SLOTS),
            write(CANCEL, *_SLOTS),
            write(UPDATE_TEST, *_SLOTS, _LICENSE, touch(LICENSED)),
            *neutral(
                "get_reg_status",
                "get_dl_status",
                "show_available_test_slots",
                "internal_valid_test_type",
            ),
        ),
        predicates=rule.all,
    ),
    reads=look.all,
    same=dict.fromkeys(
        ("test_type_is_drive", "not test_type_is_drive", "not drive_test_ready"), "drive_test_ready"
    ),
)
"""One rule for each constraint; those of the either-or of two kinds of test are one."""
