"""The small airline's records: flights, customers and reservations, invented at random."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

from ..judgement import Db
from ..judges import airline as judge
from ..world import one_in, some

AIRPORTS = ("ABE", "BRN", "CLY")
DAYS = ("2024-05-20", "2024-05-21", "2024-05-15", "2024-05-13")
_STATUSES = {
    "2024-05-20": ("available", "available", "available", "cancelled", "delayed"),
    "2024-05-21": ("available", "available", "available", "cancelled", "on time"),
    "2024-05-15": ("on time", "delayed", "landed", "flying", "cancelled"),
    "2024-05-13": ("landed", "cancelled", "delayed"),
}
CABINS = ("economy", "business", "basic_economy")
CREATED = (
    "2024-05-01T10:00:00",
    "2024-05-14T14:59:59",
    "2024-05-14T15:00:00",
    "2024-05-15T09:00:00",
)


def day_after(date: str) -> str:
    """The next date of the same month."""
    return f"{date[:8]}{int(date[8:]) + 1:02}"


def some_day(rng: Random, date: str) -> dict[str, Any]:
    status = rng.choice(_STATUSES[date])
    if status != "available":
        return {"status": status}
    return {
        "status": status,
        "available_seats": dict.fromkeys(CABINS, 9),
        "prices": {cabin: rng.choice([100, 120]) + 10 * i for i, cabin in enumerate(CABINS)},
    }


def some_flights(rng: Random) -> dict[str, Any]:
    routes = list(permutations(AIRPORTS, 2))
    slots = [(route, "08:00:00", "10:00:00") for route in routes]
    slots += [(route, "14:00:00", "16:00:00") for route in routes[:3]]
    slots += [(route, "22:00:00", "01:00:00+1") for route in routes[3:]]
    flights = {}
    for index, ((origin, destination), leaves, lands) in enumerate(slots):
        number = f"XA10{index}"
        flights[number] = {
            "flight_number": number,
            "origin": origin,
            "destination": destination,
            "scheduled_departure_time_est": leaves,
            "scheduled_arrival_time_est": lands,
            "dates": {date: some_day(rng, date) for date in DAYS},
        }
    return flights


def method(key: str, amount: float) -> dict[str, Any]:
    """A payment method, of the kind that its id names."""
    source = key.rsplit("_", 1)[0]
    if source == "credit_card":
        return {"source": source, "id": key, "brand": "visa", "last_four": "1234"}
    return {"source": source, "id": key, "amount": float(amount)}


def some_user(rng: Random, user_id: str, number: int) -> dict[str, Any]:
    kinds = [
        "credit_card_1",
        "gift_card_2",
        "certificate_3",
        "credit_card_4",
        "certificate_5",
        "gift_card_6",
        "gift_card_7",
        "gift_card_8",
    ]
    keys = [f"{kind}{number}" for kind in some(rng, kinds, 1, 8)]
    first, last, _ = user_id.title().split("_")
    return {
        "user_id": user_id,
        "name": {"first_name": first, "last_name": last},
        "address": {"address1": "1 Hill Road", "city": "Derby", "zip": "10001"},
        "email": f"{user_id}@example.com",
        "dob": "1980-01-01",
        "payment_methods": {key: method(key, 5000) for key in keys},
        "saved_passengers": [],
        "membership": rng.choice(list(judge.FREE_BAGS)),
        "reservations": [],
    }


def some_passengers(rng: Random, count: int) -> list[dict[str, Any]]:
    people: list[dict[str, Any]] = [
        {"first_name": f"P{n}", "last_name": "Moss", "dob": "1990-01-01"} for n in range(count)
    ]
    if one_in(rng, 15):
        field = rng.choice(["first_name", "last_name", "dob"])
        people[-1][field] = ""
    return people


def some_bags(rng: Random, free: int, people: int, total: int) -> dict[str, int]:
    total = max(0, total)
    paid = max(0, total - free * people)
    if one_in(rng, 5):
        paid = max(0, paid + rng.choice([1, -1]))
    return {"total_baggages": total, "nonfree_baggages": paid}


def bare(flights: Any) -> list[dict[str, Any]]:
    """The flights as a call names them."""
    return [{"flight_number": f["flight_number"], "date": f["date"]} for f in flights]


def segment(db: Db, number: str, date: str, cabin: str) -> dict[str, Any]:
    flight = db["flights"][number]
    return {
        "flight_number": number,
        "origin": flight["origin"],
        "destination": flight["destination"],
        "date": date,
        "price": flight["dates"][date].get("prices", {}).get(cabin, 100),
    }


def reroute(rng: Random, db: Db, reservation: Any, *, fixed: bool) -> None:
    """Gives a reservation new flights; with `fixed` from and to the same airports."""
    if not fixed:
        reservation["origin"], reservation["destination"] = some(rng, list(AIRPORTS), 2, 2)
        reservation["flight_type"] = rng.choice(["one_way", "round_trip"])
        if reservation["flight_type"] == "one_way" and one_in(rng, 10):
            reservation["destination"] = reservation["origin"]
    origin, destination = reservation["origin"], reservation["destination"]
    stops = [origin, destination]
    if origin == destination or one_in(rng, 4):
        stops.insert(1, next(a for a in AIRPORTS if a not in (origin, destination)))
    if reservation["flight_type"] == "round_trip":
        stops.append(origin)
    reservation["flights"] = []
    dates = sorted(rng.choice(DAYS) for _ in stops[1:])
    for start, end, date in zip(stops, stops[1:], dates, strict=False):
        numbers = [
            number
            for number, flight in db["flights"].items()
            if (flight["origin"], flight["destination"]) == (start, end)
        ]
        reservation["flights"].append(segment(db, rng.choice(numbers), date, "economy"))


def reserve(rng: Random, db: Db, user_id: str, policy: judge.Policy) -> None:
    key = f"RES00{len(db['reservations'])}"
    user = db["users"][user_id]
    people = rng.randint(1, 3)
    cabin = rng.choice(CABINS)
    cards = [m for m in user["payment_methods"] if not m.startswith("certificate")]
    free = policy.free_bags[user["membership"]][cabin]
    bags = some_bags(rng, free, people, rng.choice([0, 1, 2, 4]))
    reservation: dict[str, Any] = {
        "reservation_id": key,
        "user_id": user_id,
        "cabin": cabin,
        "passengers": [
            {"first_name": f"P{n}", "last_name": "Moss", "dob": "1990-01-01"} for n in range(people)
        ],
        "payment_history": [{"payment_id": rng.choice(cards), "amount": 100}] if cards else [],
        "created_at": rng.choice(CREATED),
        **bags,
        "insurance": rng.choice(["no", "yes"]),
        "status": None,
    }
    reroute(rng, db, reservation, fixed=False)
    db["reservations"][key] = reservation
    user["reservations"].append(key)
