"""The airline clauses, over the whole database. The time is 2024-05-15 15:00.

tau-bench's older policy is judged too: it has no tool that tells the status of a flight.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..judgement import Db, Judgement, Talk, successes

TODAY = "2024-05-15"
YESTERDAY_THIS_HOUR = "2024-05-14T15:00:00"
FREE_BAGS = {
    "regular": {"basic_economy": 0, "economy": 1, "business": 2},
    "silver": {"basic_economy": 1, "economy": 2, "business": 3},
    "gold": {"basic_economy": 2, "economy": 3, "business": 4},
}
OLDER_FREE_BAGS = {**FREE_BAGS, "gold": {"basic_economy": 2, "economy": 3, "business": 3}}
STATUSES = ("available", "on time", "delayed", "flying", "landed", "cancelled")
COMPENSATION = frozenset(
    f"airline/compensation-{name}"
    for name in ("facts", "eligibility", "amount", "delay-after-change")
)
CANCELLING = frozenset({"airline/cancel-basis", "airline/cancel-insurance-reason"})
CHANGING = frozenset({"airline/same-route", "airline/same-trip-type"})
SAME = (COMPENSATION, CANCELLING, CHANGING)
SAME_WITHOUT_STATUSES = (
    frozenset({"airline/compensation-facts", "airline/compensation-delay-after-change"}),
    frozenset({"airline/compensation-eligibility", "airline/compensation-amount"}),
    CANCELLING,
    CHANGING,
)

Segment = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Policy:
    """Where the two policies differ.

    Without `statuses` no tool tells how a flight fares. Without `flown_cabin_stays` a cabin may
    change once a flight of the reservation was flown.
    """

    free_bags: Mapping[str, Mapping[str, int]]
    statuses: bool = True
    flown_cabin_stays: bool = True


NEWER = Policy(FREE_BAGS)
OLDER = Policy(OLDER_FREE_BAGS, statuses=False, flown_cabin_stays=False)


def judge(
    db: Db, talk: Talk, tool: str, arguments: Mapping[str, Any], policy: Policy = NEWER
) -> Judgement:
    """What is wrong with a proposed write."""
    found = Judgement()
    reservation: Any = None
    owner = arguments.get("user_id")
    if "reservation_id" in arguments:
        reservation = db["reservations"].get(arguments["reservation_id"])
        if reservation is None or reservation["status"] == "cancelled":
            found.ghost = True
            return found
        owner = reservation["user_id"]
    if owner not in db["users"]:
        found.ghost = True
        return found
    profiles = {e.arguments["user_id"] for e in successes(talk, "get_user_details")}
    if profiles and owner not in profiles:
        found.broken.add("airline/acting-user")
    elif not profiles:
        found.may |= {"airline/acting-user", "airline/user-id-obtained"}
    user = db["users"][owner]
    match tool:
        case "book_reservation":
            _booking(db, user, arguments, policy, found)
        case "cancel_reservation":
            _cancelling(db, talk, reservation, policy, found)
        case "update_reservation_flights":
            _changing(db, user, reservation, arguments, policy, found)
        case "update_reservation_baggages":
            _bags(user, reservation, arguments, policy, found)
        case "update_reservation_passengers":
            _details(arguments["passengers"], found)
            if len(arguments["passengers"]) != len(reservation["passengers"]):
                found.broken.add("airline/passenger-count")
        case "send_certificate":
            compensating = _compensating if policy.statuses else _compensating_unseen
            compensating(db, talk, user, arguments["amount"], found)
            _repeating(db, talk, user, arguments, policy, found)
    return found


def _status(db: Db, segment: Segment) -> str | None:
    """The status of a flight on a date, None where there is no such flight."""
    number, date = segment
    day = db["flights"].get(number, {"dates": {}})["dates"].get(date)
    return None if day is None else str(day["status"])


def _segments(flights: Sequence[Mapping[str, Any]]) -> list[Segment]:
    return [(flight["flight_number"], flight["date"]) for flight in flights]


def _flown(db: Db, segment: Segment) -> bool:
    return segment[1] <= TODAY and _status(db, segment) in ("landed", "flying")


def _unread(talk: Talk, segments: Sequence[Segment]) -> list[Segment]:
    """Segments whose status was never looked up.

    None counts as cancelled by the airline until that is read; without a tool that tells it, a trip
    with a flight of a past day is for a human agent.
    """
    told = successes(talk, "get_flight_status")
    given = [e.arguments for e in told if e.answer in STATUSES]
    read = {(g["flight_number"], g["date"]) for g in given}
    return [segment for segment in segments if segment not in read]


def _cancelling(
    db: Db, talk: Talk, reservation: Mapping[str, Any], policy: Policy, found: Judgement
) -> None:
    segments = _segments(reservation["flights"])
    unread = _unread(talk, segments)
    if any(_flown(db, s) for s in segments):
        found.broken.add("airline/cancel-flown")
        if not policy.statuses and all(date >= TODAY for _, date in segments):
            found.unasked.add("airline/cancel-flown")
    if not policy.statuses and any(date < TODAY for _, date in unread):
        found.presumed.add("airline/cancel-flown")
    if (
        unread
        and reservation["created_at"] < YESTERDAY_THIS_HOUR
        and reservation["cabin"] != "business"
        and reservation["insurance"] != "yes"
    ):
        found.presumed.add("airline/cancel-basis")
    if not (
        reservation["created_at"] >= YESTERDAY_THIS_HOUR
        or reservation["cabin"] == "business"
        or reservation["insurance"] == "yes"
        or any(_status(db, s) == "cancelled" for s in segments)
    ):
        found.broken.add("airline/cancel-basis")


def _details(passengers: Sequence[Mapping[str, Any]], found: Judgement) -> None:
    wanted = ("first_name", "last_name", "dob")
    if not all(passenger.get(name) for passenger in passengers for name in wanted):
        found.broken.add("airline/passenger-details")


def _allowance(free_each: int, people: int, call: Mapping[str, Any], found: Judgement) -> None:
    free = free_each * people
    if call["nonfree_baggages"] != max(0, call["total_baggages"] - free):
        found.broken.add("airline/bag-allowance")


def _bags(
    user: Mapping[str, Any],
    reservation: Mapping[str, Any],
    call: Mapping[str, Any],
    policy: Policy,
    found: Judgement,
) -> None:
    if call["total_baggages"] < reservation["total_baggages"]:
        found.broken.add("airline/bags-no-removal")
    free = policy.free_bags[user["membership"]][reservation["cabin"]]
    _allowance(free, len(reservation["passengers"]), call, found)
    if call["payment_id"] not in user["payment_methods"]:
        charged = call["nonfree_baggages"] > reservation["nonfree_baggages"]
        (found.broken if charged else found.may).add("airline/payment-in-profile")


def _booking(
    db: Db, user: Mapping[str, Any], call: Mapping[str, Any], policy: Policy, found: Judgement
) -> None:
    people = len(call["passengers"])
    if people > 5:
        found.broken.add("airline/passenger-limit")
    _details(call["passengers"], found)
    _allowance(policy.free_bags[user["membership"]][call["cabin"]], people, call, found)
    used = [payment["payment_id"] for payment in call["payment_methods"]]
    if not all(method in user["payment_methods"] for method in used):
        found.broken.add("airline/payment-in-profile")
    kinds = [method.rsplit("_", 1)[0] for method in used]
    if (
        not used
        or len(used) > len(set(used))
        or any(payment["amount"] <= 0 for payment in call["payment_methods"])
        or kinds.count("certificate") > 1
        or kinds.count("credit_card") > 1
        or kinds.count("gift_card") > 3
    ):
        found.broken.add("airline/payment-mix")
    segments = _segments(call["flights"])
    legs = [db["flights"][number] for number, _ in segments if number in db["flights"]]
    stops = [call["origin"], *(leg["destination"] for leg in legs)]
    end = call["origin"] if call["flight_type"] == "round_trip" else call["destination"]
    if [leg["origin"] for leg in legs] != stops[:-1] or stops[-1] != end:
        found.may.add("airline/flight-available")
    statuses = [_status(db, s) for s in segments]
    if None in statuses:
        found.ghost = True
    elif any(status != "available" for status in statuses):
        found.broken.add("airline/flight-available")
        found.may.add("airline/booking-total")
    else:
        days = [db["flights"][number]["dates"][date] for number, date in segments]
        fares = sum(day["prices"][call["cabin"]] for day in days) * people
        extras = 50 * call["nonfree_baggages"] + (30 * people if call["insurance"] == "yes" else 0)
        if sum(payment["amount"] for payment in call["payment_methods"]) != fares + extras:
            found.broken.add("airline/booking-total")


def _changing(
    db: Db,
    user: Mapping[str, Any],
    reservation: Mapping[str, Any],
    call: Mapping[str, Any],
    policy: Policy,
    found: Judgement,
) -> None:
    old, new = _segments(reservation["flights"]), _segments(call["flights"])
    new_cabin = call["cabin"] != reservation["cabin"]
    if any(_status(db, segment) is None for segment in new):
        found.ghost = True
        return
    if old != new:
        if reservation["cabin"] == "basic_economy":
            found.broken.add("airline/basic-economy-flights")
        _route(db, reservation, new, found)
    if policy.flown_cabin_stays and new_cabin and any(_flown(db, segment) for segment in old):
        found.broken.add("airline/cabin-change-flown")
    for segment in new:
        if _status(db, segment) != "available":
            if segment not in old:
                found.broken.add("airline/flight-available")
            elif new_cabin:
                found.may.add("airline/flight-available")
    method = user["payment_methods"].get(call["payment_id"])
    against = found.broken if new_cabin or old != new else found.may
    if method is None:
        against.add("airline/payment-in-profile")
        found.may.add("airline/change-payment-type")
    elif method["source"] == "certificate":
        against.add("airline/change-payment-type")


def _route(
    db: Db, reservation: Mapping[str, Any], segments: Sequence[Segment], found: Judgement
) -> None:
    """Whether the new segments go where the old ones went, and come back if those did."""
    legs = [db["flights"][number] for number, _ in segments]
    if any(a["destination"] != b["origin"] for a, b in pairwise(legs)):
        found.may |= {"airline/same-trip-type", "airline/same-route", "airline/flight-available"}
    stops = [leg["origin"] for leg in legs]
    start, end, between = stops[0], legs[-1]["destination"], stops[1:]
    origin, destination = reservation["origin"], reservation["destination"]
    there = start == origin and end == destination
    back = start == origin and end == origin and destination in between
    if reservation["flight_type"] == "one_way":
        kept, retyped = there, back
    else:
        kept, retyped = back, there
    if not kept:
        clauses = ["airline/same-trip-type", "airline/same-route"]
        found.broken.add(clauses[0 if retyped else 1])
        found.may |= {*clauses, "airline/flight-available"}


def _seen(talk: Talk) -> set[str]:
    """The reservations that were read, or that a write answered with."""
    writes = [e for e in talk if e.answer.startswith('{"reservation_id"') and not e.failed]
    return {json.loads(e.answer)["reservation_id"] for e in writes}


def _compensating(
    db: Db, talk: Talk, user: Mapping[str, Any], amount: float, found: Judgement
) -> None:
    if _moved(talk) & set(user["reservations"]):
        found.may |= COMPENSATION
        return
    cancelled = {e.arguments["reservation_id"] for e in successes(talk, "cancel_reservation")}
    seen = _seen(talk)

    def against(keys: Iterable[str]) -> str | None:
        found = [_gesture(db, user, db["reservations"][k], amount, k in cancelled) for k in keys]
        return None if None in found else max((f for f in found if f), default=(0, "facts"))[1]

    problem = against(user["reservations"])
    if problem == "delay-after-change":
        found.may |= COMPENSATION
    elif problem is not None:
        found.broken.add(f"airline/compensation-{problem}")
    known = [
        key
        for key in user["reservations"]
        if key in seen and not _unread(talk, _segments(db["reservations"][key]["flights"]))
    ]
    if seen and len(known) < len(user["reservations"]) and against(known) is not None:
        found.may |= COMPENSATION


def _moved(talk: Talk) -> set[str]:
    """The reservations whose flights were changed in this conversation: what that makes of a flight
    that was cancelled or delayed is left open."""
    changes = successes(talk, "update_reservation_flights")
    return {change.arguments["reservation_id"] for change in changes}


def _repeating(
    db: Db,
    talk: Talk,
    user: Mapping[str, Any],
    call: Mapping[str, Any],
    policy: Policy,
    found: Judgement,
) -> None:
    """A certificate that was sent already takes one more incident that is worth as much."""
    sent = sum(dict(e.arguments) == dict(call) for e in successes(talk, "send_certificate"))
    if not sent or _moved(talk) & set(user["reservations"]):
        return
    worth = []
    for reservation in (db["reservations"][key] for key in user["reservations"]):
        statuses = {_status(db, segment) for segment in _segments(reservation["flights"])}
        people = len(reservation["passengers"]) if _is_eligible(user, reservation) else 0
        rates = {"cancelled": 100, "delayed": 50}
        worth += [
            rate * people
            for incident, rate in rates.items()
            if incident in statuses or not policy.statuses
        ]
    if sent >= worth.count(call["amount"]):
        found.broken.add("airline/compensation-amount")
    else:
        found.may.add("airline/compensation-amount")


def _gesture(
    db: Db, user: Mapping[str, Any], reservation: Mapping[str, Any], amount: float, cancelled: bool
) -> tuple[int, str] | None:
    """None if this reservation justifies the amount, else how near it came and what is amiss."""
    statuses = {_status(db, segment) for segment in _segments(reservation["flights"])}
    if not statuses & {"cancelled", "delayed"}:
        return 0, "facts"
    if not _is_eligible(user, reservation):
        return 1, "eligibility"
    people = len(reservation["passengers"])
    if "cancelled" in statuses and amount == 100 * people:
        return None
    if "delayed" in statuses and amount == 50 * people:
        return None if cancelled else (3, "delay-after-change")
    return 2, "amount"


def _is_eligible(user: Mapping[str, Any], reservation: Mapping[str, Any]) -> bool:
    insured, business = reservation["insurance"] == "yes", reservation["cabin"] == "business"
    return insured or business or bool(user["membership"] != "regular")


def _compensating_unseen(
    db: Db, talk: Talk, user: Mapping[str, Any], amount: float, found: Judgement
) -> None:
    """Where nobody can know what happened to a flight: what no incident whatever would justify.

    A reservation of the customer's has to have been looked at, and until all of them were, those
    that were count.
    """
    own = {key: db["reservations"][key] for key in user["reservations"]}
    seen = _seen(talk)
    looked_at = [own[key] for key in own if key in seen]
    if own and not looked_at:
        found.ungrounded.add("airline/compensation-facts")
    if problem := _unfit(user, own.values(), amount):
        found.broken.add(f"airline/compensation-{problem}")
    elif looked_at and (problem := _unfit(user, looked_at, amount)):
        found.may.add(f"airline/compensation-{problem}")
    if all(_gesture(db, user, r, amount, cancelled=False) for r in own.values()):
        found.broken.add("airline/compensation-facts")
        found.unasked.add("airline/compensation-facts")


def _unfit(
    user: Mapping[str, Any], reservations: Iterable[Mapping[str, Any]], amount: float
) -> str:
    """Why none of these could justify the amount, "" if one could."""
    eligible = [r for r in reservations if _is_eligible(user, r)]
    if not eligible:
        return "eligibility"
    worth = {rate * len(r["passengers"]) for r in eligible for rate in (50, 100)}
    return "" if amount in worth else "amount"
