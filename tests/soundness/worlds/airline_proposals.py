"""The small airline: what an agent may try, and the worlds that look the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from random import Random
from typing import Any

from ledgeragent import ToolCall

from ..judges import airline as judge
from ..world import Facts, World, call, one_in, some
from .airline_records import (
    AIRPORTS,
    CABINS,
    CREATED,
    DAYS,
    bare,
    method,
    reroute,
    some_bags,
    some_day,
    some_passengers,
)

_TOOLS = (
    "cancel_reservation",
    "update_reservation_flights",
    "update_reservation_baggages",
    "book_reservation",
    "send_certificate",
    "update_reservation_passengers",
)


class AirlineProposals(World):
    """What an agent may try in this world, and its twins."""

    def propose(self, rng: Random) -> ToolCall:
        tool = rng.choice(_TOOLS)
        if tool == "book_reservation":
            return call(tool, **self._booking(rng))
        if tool == "send_certificate":
            return call(tool, **self._certificate(rng))
        reservation = self._some_reservation(rng)
        key = "NONE00" if one_in(rng, 40) else reservation["reservation_id"]
        given: dict[str, Any] = {"reservation_id": key}
        owner = self.db["users"][reservation["user_id"]]
        match tool:
            case "update_reservation_flights":
                given |= self._new_flights(rng, reservation)
                kinds = ("certificate",) if one_in(rng, 10) else ("credit_card", "gift_card")
                given["payment_id"] = self._method(rng, owner, kinds)
            case "update_reservation_baggages":
                extra = rng.choice([0, 1, 2, 3])
                total = reservation["total_baggages"] + (-1 if one_in(rng, 6) else extra)
                given |= some_bags(
                    rng,
                    self._free(owner, reservation["cabin"]),
                    len(reservation["passengers"]),
                    total,
                )
                given["payment_id"] = self._method(rng, owner, ("credit_card", "gift_card"))
            case "update_reservation_passengers":
                count = len(reservation["passengers"])
                count = max(1, count + (rng.choice([1, -1]) if one_in(rng, 4) else 0))
                given["passengers"] = some_passengers(rng, count)
        return call(tool, **given)

    def _free(self, user: Any, cabin: str) -> int:
        return self.policy.free_bags[user["membership"]][cabin]

    def _some_reservation(self, rng: Random) -> Any:
        every = list(self.db["reservations"].values())
        mine = [r for r in every if r["user_id"] == self.me]
        return rng.choice(mine if not one_in(rng, 8) else every)

    def _method(self, rng: Random, owner: Any, kinds: tuple[str, ...]) -> str:
        methods = [k for k in owner["payment_methods"] if k.startswith(kinds)]
        if one_in(rng, 6):
            methods = self._methods()
        return str(rng.choice(methods or ["credit_card_0"]))

    def _new_flights(self, rng: Random, reservation: Any) -> dict[str, Any]:
        cabin, kept = reservation["cabin"], bare(reservation["flights"])
        kind = rng.randrange(5)
        if kind in (0, 1):
            cabin = rng.choice([c for c in CABINS if c != cabin])
        if kind == 0:
            return {"cabin": cabin, "flights": kept}
        origin, destination = reservation["origin"], reservation["destination"]
        there_and_back = reservation["flight_type"] == "round_trip"
        if one_in(rng, 5):
            origin, destination = some(rng, list(AIRPORTS), 2, 2)
        if one_in(rng, 6):
            there_and_back = not there_and_back
        flights = self._trip(rng, origin, destination, there_and_back, 8)
        if kind == 4 and len(kept) > 1:
            flights = [kept[0], *flights[1:]] if len(flights) == len(kept) == 2 else kept
        if one_in(rng, 40):
            flights[0] = {"flight_number": "XA404", "date": "2024-05-20"}
        return {"cabin": cabin, "flights": flights}

    def _trip(
        self, rng: Random, origin: str, destination: str, there_and_back: bool, odd: int
    ) -> list[dict[str, Any]]:
        """Segments from origin to destination, once in `odd` times over a stop, and back."""
        if origin == destination:
            stop = rng.choice([a for a in AIRPORTS if a != origin])
            return [*self._leg(rng, origin, stop, odd), *self._leg(rng, stop, origin, odd)]
        legs = [(origin, destination)]
        if one_in(rng, 4):
            stop = next(a for a in AIRPORTS if a not in (origin, destination))
            legs = [(origin, stop), (stop, destination)]
        if there_and_back:
            legs.append((destination, origin))
        return [segment for leg in legs for segment in self._leg(rng, *leg, odd)]

    def _leg(self, rng: Random, origin: str, destination: str, odd: int) -> list[dict[str, Any]]:
        """One flight of that route, on a day when it is available, unless `odd` strikes."""
        pairs = [
            (flight, date)
            for flight in self.db["flights"].values()
            if (flight["origin"], flight["destination"]) == (origin, destination)
            for date in DAYS
        ]
        good = [(f, d) for f, d in pairs if f["dates"][d]["status"] == "available"]
        flight, date = rng.choice(pairs if one_in(rng, odd) else good or pairs)
        return [{"flight_number": flight["flight_number"], "date": date}]

    def _booking(self, rng: Random) -> dict[str, Any]:
        people = list(self.db["users"])
        user = self.db["users"][rng.choice(people) if one_in(rng, 10) else self.me]
        origin, destination = some(rng, list(AIRPORTS), 2, 2)
        there_and_back = one_in(rng, 2)
        flights = self._trip(rng, origin, destination, there_and_back, 12)
        count = rng.choice([5, 6]) if one_in(rng, 8) else rng.randint(1, 3)
        cabin = rng.choice(CABINS)
        given: dict[str, Any] = {
            "user_id": user["user_id"] if not one_in(rng, 60) else "nobody_1",
            "origin": origin,
            "destination": destination,
            "flight_type": "round_trip" if there_and_back else "one_way",
            "cabin": cabin,
            "flights": flights,
            "passengers": some_passengers(rng, count),
            "insurance": rng.choice(["no", "yes"]),
            **some_bags(rng, self._free(user, cabin), count, rng.choice([0, 1, 2, 3, 6])),
        }
        total = self._price(flights, cabin) * count + 50 * given["nonfree_baggages"]
        total += 30 * count if given["insurance"] == "yes" else 0
        if one_in(rng, 7):
            total += rng.choice([-1, 30, 50, -30 * count])
        given["payment_methods"] = self._payments(rng, user, total)
        return given

    def _price(self, flights: Any, cabin: str) -> int:
        days = [self.db["flights"][f["flight_number"]]["dates"][f["date"]] for f in flights]
        return sum(day.get("prices", {}).get(cabin, 0) for day in days)

    def _payments(self, rng: Random, user: Any, total: int) -> list[dict[str, Any]]:
        methods = list(user["payment_methods"]) or ["credit_card_0"]
        chosen = some(rng, methods, 1, 5 if one_in(rng, 5) else 2)
        if one_in(rng, 8):
            chosen[0] = rng.choice(self._methods())
        if self.used_up and one_in(rng, 3):
            chosen[0] = self.used_up[-1]
        chosen = list(dict.fromkeys(chosen))
        payments = [{"payment_id": key, "amount": 10} for key in chosen]
        payments[0]["amount"] = total - 10 * (len(chosen) - 1)
        return payments

    def _certificate(self, rng: Random) -> dict[str, Any]:
        users = list(self.db["users"]) if one_in(rng, 8) else [self.me]
        user_id = rng.choice(users)
        amounts = [50, 100, 150, 200]
        for key in self.db["users"][user_id]["reservations"]:
            reservation = self.db["reservations"][key]
            people = len(reservation["passengers"])
            statuses = {
                self.db["flights"][f["flight_number"]]["dates"][f["date"]]["status"]
                for f in reservation["flights"]
            }
            if statuses & {"cancelled", "delayed"}:
                amounts = [100 * people, 50 * people, 100]
        return {"user_id": user_id, "amount": rng.choice(amounts)}

    def vary(self, known: Facts, rng: Random) -> None:
        self._vary_flights(known, rng)
        for key, reservation in self.db["reservations"].items():
            self._vary_reservation(key, reservation, known, rng)
        for user_id, user in self.db["users"].items():
            if ("users", user_id, "membership") not in known:
                user["membership"] = rng.choice(list(judge.FREE_BAGS))
            self._vary_methods(user_id, user, known, rng)

    def _vary_flights(self, known: Facts, rng: Random) -> None:
        listings = {k: self._onestop(*k.split()) for kind, k, _ in known if kind == "onestop"}
        sights = defaultdict[str, list[list[str]]](list)
        for number, *asked in (key.split() for kind, key, _ in known if kind == "direct"):
            sights[number].append(asked)
        fixed = {key for table, key, name in known if (table, name) == ("flights", "route")}
        for reservation in self.db["reservations"].values():
            fixed |= {flight["flight_number"] for flight in reservation["flights"]}
        for number, flight in self.db["flights"].items():
            before = {**flight, "dates": {**flight["dates"]}}
            seen = self._seen(flight, sights[number])
            for date in DAYS:
                if ("days", f"{number} {date}", "status") not in known and one_in(rng, 2):
                    flight["dates"][date] = some_day(rng, date)
            if number not in fixed and one_in(rng, 3):
                flight["origin"], flight["destination"] = some(rng, list(AIRPORTS), 2, 2)
            if flight != before and not (
                seen == self._seen(flight, sights[number])
                and self._every_route()
                and self._listed_as(listings, before, flight)
            ):
                self.db["flights"][number] = before

    def _every_route(self) -> bool:
        served = {(f["origin"], f["destination"]) for f in self.db["flights"].values()}
        return len(served) == len(AIRPORTS) * (len(AIRPORTS) - 1)

    def _seen(self, flight: Any, searches: list[list[str]]) -> list[bool]:
        """Whether searches for direct flights would list this one."""
        route = [flight["origin"], flight["destination"]]
        return [
            flight["dates"][date]["status"] == "available" and route == ends
            for *ends, date in searches
        ]

    def _listed_as(self, listings: Mapping[str, list[Any]], before: Any, flight: Any) -> bool:
        """True if searches for connections list what they did when the flight was as `before`.

        Only those that begin where it does, or end there, can tell.
        """
        for asked, listing in listings.items():
            origin, destination, date = asked.split()
            near = any(
                f["origin"] == origin or f["destination"] == destination for f in (before, flight)
            )
            if near and self._onestop(origin, destination, date) != listing:
                return False
        return True

    def _vary_reservation(self, key: str, reservation: Any, known: Facts, rng: Random) -> None:
        def unknown(name: str) -> bool:
            return ("reservations", key, name) not in known and one_in(rng, 2)

        if unknown("user_id"):
            self._give(reservation, known, rng)
        if unknown("cabin"):
            reservation["cabin"] = rng.choice(CABINS)
        if unknown("insurance"):
            reservation["insurance"] = rng.choice(["no", "yes"])
        if unknown("created_at"):
            reservation["created_at"] = rng.choice(CREATED)
        if unknown("total_baggages"):
            reservation["total_baggages"] = rng.choice([0, 1, 5])
        if unknown("passengers"):
            reservation["passengers"] = some_passengers(rng, rng.randint(1, 3))
        if unknown("flights"):
            fixed = ("reservations", key, "origin") in known
            reroute(rng, self.db, reservation, fixed=fixed)

    def _give(self, reservation: Any, known: Facts, rng: Random) -> None:
        open_lists = [u for u in self.db["users"] if ("users", u, "reservations") not in known]
        if reservation["user_id"] not in open_lists:
            return
        owner = rng.choice(open_lists)
        key = reservation["reservation_id"]
        self.db["users"][reservation["user_id"]]["reservations"].remove(key)
        self.db["users"][owner]["reservations"].append(key)
        reservation["user_id"] = owner

    def _vary_methods(self, user_id: str, user: Any, known: Facts, rng: Random) -> None:
        """Other methods in the profile; a card that paid for a known reservation is one of them."""
        paid = {
            payment["payment_id"]
            for key, reservation in self.db["reservations"].items()
            if reservation["user_id"] == user_id
            and ("reservations", key, "payment_history") in known
            for payment in reservation["payment_history"]
        }
        methods = user["payment_methods"]
        for key in self._methods():
            if ("users", user_id, f"has {key}") in known or not one_in(rng, 3):
                continue
            if key not in methods:
                methods[key] = method(key, 500)
            elif key not in paid:
                del methods[key]
