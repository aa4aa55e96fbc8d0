"""A Python pack with mistakes on purpose, on each line that ends with "planted: CODE"."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from ledgeragent.domain import Clause, Domain
from ledgeragent.effects import Read, Write, touch
from ledgeragent.paths import PathTemplate
from ledgeragent.predicates import Broken, View, demand, predicate, violation
from ledgeragent.types import ToolCall


class Part(TypedDict):
    """A part of a repair."""

    part_id: str
    price: float
    grade: Literal["new", "used"]


class Repair(TypedDict):
    """A repair. `paid_on` is there once it is paid."""

    repair_id: str
    car_id: str
    status: Literal["open", "done", "collected"]
    parts: list[Part]
    fees: dict[str, float]
    paid_on: NotRequired[str]


class Call(TypedDict):
    """The argument of every write."""

    repair_id: str


class Sale(TypedDict):
    """The argument of a sale."""

    car_id: str
    price: float


REPAIR = PathTemplate("repairs.{repair_id}", Repair)
CAR = PathTemplate("cars.{car_id}", dict[str, str])
DONE = ("done", "colected")


@predicate("garage/collect-done", guards="collect", clause="garage/collect")
def collect_done(call: Call, ledger: View) -> Broken | None:
    """Only a finished repair is collected."""
    repair = ledger[REPAIR(call["repair_id"])]
    if repair["status"] == "finished":  # planted: impossible-value
        return None
    return violation("it is {status}", status=repair["state"])  # planted: unknown-field


@predicate("garage/collect-used", guards="collect", clause="garage/collect")
def collect_used(call: Call, ledger: View) -> Broken | None:
    """Used parts are named."""
    for part in _parts(ledger[REPAIR(call["repair_id"])]):
        if part["garde"] == "used":  # planted: unknown-field
            return violation("there is a used part")
    parts = ledger[REPAIR(call["repair_id"])]["parts"]
    prices = [part["prize"] for part in parts]  # planted: unknown-field
    return violation("nothing was done") if not prices else None


def _parts(repair: Repair) -> list[Part]:
    return [part for part in repair["parts"] if part["price"] > repair["fees"].get("least", 0)]


@predicate("garage/collect-car", guards="collect", clause="garage/colect")
# planted above: unknown-clause
def collect_car(call: Call, ledger: View) -> Broken | None:
    """The car is known."""
    repair = ledger[REPAIR(call["repair_id"])]
    if repair["status"] not in DONE:  # planted: impossible-value
        return violation("not yet")
    car = ledger[CAR(repair["car_id"])]  # planted: no-evidence
    return None if car["plate"] else violation("no plate")


@predicate("garage/scrap-demand", guards="scrap", clause="garage/scrap")
def scrap_demand(call: Call, ledger: View) -> Broken | None:
    """Something that only a lookup tells."""
    if ledger.get(REPAIR(call["repair_id"])) is None:
        demand(CAR("x"), ToolCall(name="look"))  # planted: no-evidence
    return None


@predicate("garage/scrap-any", guards="scrap", clause="garage/scrap")  # planted: missing-samples
def scrap_any(call: Call, ledger: View) -> Broken | None:
    """Anything: what has no known type is left alone."""
    rows: list[object] = []
    found = rows or ledger.writes
    status = "open"
    status = "closed"
    return violation("no") if len(found) > 3 and status == "x" else None


@predicate("garage/given", guards="give", clause="garage/scrap")  # planted: missing-samples
def given(call: Sale, ledger: View) -> Broken | None:
    """Only what costs nothing is given away."""
    return violation("it costs {price}", price=call["price"]) if call["price"] > 0 else None


@predicate("garage/scrap-kinds", guards="scrap", clause="garage/scrap")  # planted: missing-samples
def scrap_kinds(call: Call, ledger: View) -> Broken | None:
    """What is compared is of one kind."""
    repair = ledger[REPAIR(call["repair_id"])]
    if repair["car_id"] == 3:  # planted: type-error
        return violation("no")
    if len(repair["parts"]) < 3 or repair["fees"]["least"] > "3":  # planted: type-error
        return violation("no")
    if repair.get("payed_on"):  # planted: unknown-field
        return violation("no")
    if "paid" in repair or "paid_on" not in repair:  # planted: unknown-field
        return violation("no")
    match repair["status"]:
        case "open" | "closed":  # planted: impossible-value
            return violation("no")
    return None


PACK = Domain(
    name="garage",
    version="1",
    tools=(
        Read(tool="get_repair", to=REPAIR, parameters=("repair_id",)),
        Write(tool="collect", arguments=Call, touches=(touch(REPAIR, "status", "paid_on"),)),
        Write(
            tool="scrap",  # planted: unknown-field
            arguments=Call,
            touches=(touch(REPAIR, "state"),),
        ),
        Write(tool="sell", arguments=Sale),  # planted: write-without-rule
        Write(tool="give", arguments=Sale, touches=(touch(REPAIR),)),  # planted: unknown-field
    ),
    predicates=(
        collect_done,
        collect_used,
        collect_car,
        scrap_demand,
        scrap_any,
        scrap_kinds,
        given,
    ),
    clauses=(
        Clause(id="garage/collect", section="", summary="", checkable="state", predicates=("x",)),
        Clause(id="garage/scrap", section="", summary="", checkable="state", predicates=("x",)),
    ),
)
