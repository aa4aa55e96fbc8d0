"""A small airline: three airports, a dozen flights on four days, two or three customers."""

from __future__ import annotations

import json
from itertools import permutations
from random import Random
from typing import Any, ClassVar

from ledgeragent import ToolCall

from ..judgement import Db, Judgement, Talk
from ..judges import airline as judge
from ..world import Answer, Facts, call, fields, one_in, some
from .airline_proposals import AirlineProposals
from .airline_records import (
    AIRPORTS,
    CABINS,
    DAYS,
    bare,
    day_after,
    method,
    reserve,
    segment,
    some_day,
    some_flights,
    some_user,
)

_PEOPLE = ("ada_moss_11", "ben_reed_22", "cyd_hale_33")
_RESERVATION = (
    "user_id",
    "origin",
    "destination",
    "flight_type",
    "cabin",
    "flights",
    "passengers",
    "created_at",
    "total_baggages",
    "nonfree_baggages",
    "insurance",
    "status",
    "payment_history",
)
_NOBODYS = ("credit_card_0", "certificate_0")


class AirlineWorld(AirlineProposals):
    """Reservations on every side of the rules.

    `friend` is True if the agent reads all profiles. `used_up` are certificates that paid before.
    """

    domain = "airline"
    policy: ClassVar[judge.Policy] = judge.NEWER
    same: ClassVar[tuple[frozenset[str], ...]] = judge.SAME
    reads = frozenset(
        {
            "get_user_details",
            "get_reservation_details",
            "search_direct_flight",
            "search_onestop_flight",
            "get_flight_status",
            "list_all_airports",
        }
    )
    worded: ClassVar = {
        "get_reservation_details": ("cabin", "insurance"),
        "get_user_details": ("membership",),
        "get_flight_status": ("status",),
    }
    friend = False
    used_up: tuple[str, ...] = ()

    @classmethod
    def make(cls, rng: Random) -> AirlineWorld:
        people = list(_PEOPLE[: rng.randint(1, 3)])
        db: Db = {"users": {}, "reservations": {}, "flights": some_flights(rng)}
        for number, user_id in enumerate(people):
            db["users"][user_id] = some_user(rng, user_id, number)
            for _ in range(rng.randint(1, 3)):
                reserve(rng, db, user_id, cls.policy)
        world = cls(db, people[0])
        world.friend = one_in(rng, 3)
        return world

    def tour(self) -> list[ToolCall]:
        readers = list(self.db["users"]) if self.friend else [self.me]
        return [
            *(call("get_user_details", user_id=key) for key in readers),
            *(call("get_reservation_details", reservation_id=r) for r in self.db["reservations"]),
            *self._status_look_ups(),
            *self._searches("search_direct_flight"),
        ]

    def _searches(self, tool: str) -> list[ToolCall]:
        """That search of every route on every day."""
        return [
            call(tool, origin=origin, destination=destination, date=date)
            for origin, destination in permutations(AIRPORTS, 2)
            for date in DAYS
        ]

    def _status_look_ups(self) -> list[ToolCall]:
        return [
            call("get_flight_status", flight_number=number, date=date)
            for number in self.db["flights"]
            for date in DAYS
        ]

    def read(self, call: ToolCall) -> Answer:
        given = call.arguments
        match call.name:
            case "get_user_details":
                return self._profile(given.get("user_id"))
            case "get_reservation_details":
                return self._record(
                    "reservations", given.get("reservation_id"), "Reservation", _RESERVATION
                )
            case "get_flight_status":
                return self._status(given["flight_number"], given["date"])
            case "search_direct_flight":
                return self._search(given, "direct")
            case "search_onestop_flight":
                return self._search(given, "onestop")
        return Answer(json.dumps(self._airports()))

    def _airports(self) -> Any:
        return [{"iata": code, "city": code.title()} for code in AIRPORTS]

    def _profile(self, key: Any) -> Answer:
        """Shows of every payment method whether it is in the profile."""
        answer = self._record("users", key, "User", ("membership", "reservations"))
        if answer.failed:
            return answer
        has = fields("users", key, *(f"has {method}" for method in self._methods()))
        return Answer(answer.text, shown=answer.shown | has)

    def _methods(self) -> list[str]:
        """Every payment method of this world, past ones too, and some that nobody has."""
        stored = [m for u in self.db["users"].values() for m in u["payment_methods"]]
        return [*stored, *_NOBODYS, *self.used_up]

    def _record(self, table: str, key: Any, kind: str, names: tuple[str, ...]) -> Answer:
        if key not in self.db[table]:
            return Answer(f"Error: {kind} {key} not found", failed=True)
        shown = frozenset(fields(table, key, *names))
        return Answer(json.dumps(self.db[table][key]), shown=shown)

    def _status(self, number: str, date: str) -> Answer:
        day = self.db["flights"].get(number, {"dates": {}})["dates"].get(date)
        if day is None:
            return Answer(f"Error: Flight {number} not found on date {date}", failed=True)
        return Answer(day["status"], shown=frozenset({("days", f"{number} {date}", "status")}))

    def _search(self, given: Any, kind: str) -> Answer:
        asked = (given["origin"], given["destination"], given["date"])
        listed = self._direct(*asked, None) if kind == "direct" else self._onestop(*asked)
        shown = {("onestop", " ".join(asked), "listing")}
        if kind == "direct":
            shown = {
                ("direct", " ".join((number, *asked)), "listed") for number in self.db["flights"]
            }
        for flight in listed if kind == "direct" else [f for pair in listed for f in pair]:
            number = flight["flight_number"]
            shown.add(("flights", number, "route"))
            if self._tells_status(flight, given["date"]):
                shown.add(("days", f"{number} {flight['date'] or given['date']}", "status"))
        return Answer(json.dumps(listed), shown=frozenset(shown))

    def _tells_status(self, flight: Any, searched: str) -> bool:
        """True if what a search of that date lists of a flight is true of the flight's own date."""
        return True

    def _direct(self, origin: str, destination: str, date: str, shown_date: Any) -> list[Any]:
        found = []
        for flight in self.db["flights"].values():
            if flight["origin"] != origin or flight["destination"] != destination:
                continue
            day = flight["dates"].get(date)
            if day is not None and day["status"] == "available":
                found.append(
                    {
                        "flight_number": flight["flight_number"],
                        "origin": origin,
                        "destination": destination,
                        "status": "available",
                        "scheduled_departure_time_est": flight["scheduled_departure_time_est"],
                        "scheduled_arrival_time_est": flight["scheduled_arrival_time_est"],
                        "date": shown_date,
                        "available_seats": day["available_seats"],
                        "prices": day["prices"],
                    }
                )
        return found

    def _onestop(self, origin: str, destination: str, date: str) -> list[Any]:
        return [
            [first, second]
            for stop in AIRPORTS
            if stop not in (origin, destination)
            for first in self._direct(origin, stop, date, date)
            for second in self._onwards(first, destination)
        ]

    def _onwards(self, first: Any, destination: str) -> list[Any]:
        """The flights that go on from where one lands, on the day after if that is past midnight."""
        lands = first["scheduled_arrival_time_est"]
        day = day_after(first["date"]) if lands.endswith("+1") else first["date"]
        flights = self._direct(first["destination"], destination, day, day)
        return [f for f in flights if lands < f["scheduled_departure_time_est"]]

    def complete(self, read: ToolCall) -> list[ToolCall]:
        if not read.name.startswith("search_") or len(read.arguments) == 3:
            return [read]
        return [
            call(read.name, **{**search.arguments, **read.arguments})
            for search in self._searches(read.name)
        ]

    def stray(self, rng: Random) -> ToolCall:
        origin, destination = some(rng, list(AIRPORTS), 2, 2)
        date = rng.choice(DAYS)
        strays = [
            call("list_all_airports"),
            call("search_onestop_flight", origin=origin, destination=destination, date=date),
            call("get_user_details", user_id="nobody_1"),
            call("get_reservation_details", reservation_id="NONE00"),
            call("get_flight_status", flight_number="XA404", date=date),
        ]
        return rng.choice([stray for stray in strays if stray.name in self.reads])

    def drift(self, rng: Random) -> tuple[ToolCall, Facts]:
        kind = rng.randrange(3)
        if kind == 0:
            number, date = rng.choice(list(self.db["flights"])), rng.choice(DAYS)
            flight = self.db["flights"][number]
            day = some_day(rng, date)
            if day["status"] != flight["dates"][date]["status"]:
                flight["dates"][date] = day
            return self._look_at(flight, date), self._listings(flight, date)
        if kind == 1:
            user = self.db["users"][self.me]
            user["membership"] = rng.choice(list(judge.FREE_BAGS))
            return call("get_user_details", user_id=self.me), frozenset()
        reservation = rng.choice(list(self.db["reservations"].values()))
        reservation["cabin"] = rng.choice(CABINS)
        reservation["insurance"] = rng.choice(["no", "yes"])
        read = call("get_reservation_details", reservation_id=reservation["reservation_id"])
        return read, frozenset()

    def _look_at(self, flight: Any, date: str) -> ToolCall:
        """The read that shows what became of a flight on a date."""
        return call("get_flight_status", flight_number=flight["flight_number"], date=date)

    def _listings(self, flight: Any, date: str) -> Facts:
        """What searches have shown of a flight on a date, those of the day before among them."""
        number, origin, destination = (
            flight[n] for n in ("flight_number", "origin", "destination")
        )
        days = [day for day in DAYS if date in (day, day_after(day))]
        through = [f"{o} {d} {day}" for o, d in permutations(AIRPORTS, 2) for day in days]
        direct = ("direct", f"{number} {origin} {destination} {date}", "listed")
        return frozenset({direct, *(("onestop", key, "listing") for key in through)})

    def judge(self, talk: Talk, call: ToolCall) -> Judgement:
        return judge.judge(self.db, talk, call.name, call.arguments, self.policy)

    # -- writes ------------------------------------------------------------------------------------

    def write(self, call: ToolCall) -> Answer:
        given = call.arguments
        if call.name == "book_reservation":
            return self._book(given)
        if call.name == "send_certificate":
            user = self.db["users"][given["user_id"]]
            key = f"certificate_{len(user['payment_methods'])}77"
            user["payment_methods"][key] = method(key, given["amount"])
            text = (
                f"Certificate {key} added to user {user['user_id']} with amount {given['amount']}."
            )
            changed = fields("users", user["user_id"], f"has {key}")
            others = {("users", other, f"has {key}") for other in self.db["users"]} - changed
            return Answer(text, shown=frozenset(others), changed=frozenset(changed))
        reservation = self.db["reservations"][given["reservation_id"]]
        before = {**reservation, "flights": bare(reservation["flights"])}
        if call.name == "cancel_reservation":
            reservation["status"] = "cancelled"
        elif call.name == "update_reservation_flights":
            reservation["cabin"] = given["cabin"]
            reservation["flights"] = self._booked(given["flights"], given["cabin"])
        else:
            reservation.update({name: given[name] for name in given if name in reservation})
        after = {**reservation, "flights": bare(reservation["flights"])}
        names = [name for name in after if after[name] != before[name]]
        changed = fields("reservations", reservation["reservation_id"], *names)
        return self._returned(call.name, before, changed)

    def _returned(self, tool: str, before: Any, changed: Facts) -> Answer:
        """What a write answers with: the whole reservation as it is now."""
        key = before["reservation_id"]
        shown = fields("reservations", key, *_RESERVATION)
        return Answer(
            json.dumps(self.db["reservations"][key]),
            shown=frozenset(shown),
            changed=frozenset(changed),
        )

    def _book(self, given: Any) -> Answer:
        key = f"NEW00{len(self.db['reservations'])}"
        user = self.db["users"][given["user_id"]]
        self.db["reservations"][key] = {
            "reservation_id": key,
            "user_id": given["user_id"],
            "origin": given["origin"],
            "destination": given["destination"],
            "flight_type": given["flight_type"],
            "cabin": given["cabin"],
            "flights": self._booked(given["flights"], given["cabin"]),
            "passengers": given["passengers"],
            "payment_history": given["payment_methods"],
            "created_at": "2024-05-15T15:00:00",
            "total_baggages": given["total_baggages"],
            "nonfree_baggages": given["nonfree_baggages"],
            "insurance": given["insurance"],
            "status": None,
        }
        user["reservations"].append(key)
        changed = fields("users", user["user_id"], "reservations")
        for payment in given["payment_methods"]:
            method = user["payment_methods"][payment["payment_id"]]
            if method["source"] == "certificate":
                del user["payment_methods"][payment["payment_id"]]
                self.used_up = (*self.used_up, payment["payment_id"])
                changed |= fields("users", user["user_id"], f"has {payment['payment_id']}")
            elif method["source"] == "gift_card":
                method["amount"] -= payment["amount"]
        text = json.dumps(self.db["reservations"][key])
        shown = fields("reservations", key, *_RESERVATION)
        return Answer(text, shown=frozenset(shown), changed=frozenset(changed))

    def _booked(self, flights: Any, cabin: str) -> list[dict[str, Any]]:
        return [segment(self.db, f["flight_number"], f["date"], cabin) for f in flights]
