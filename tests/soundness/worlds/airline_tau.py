"""The same small airline as tau-bench has it: an older policy, and no tool that tells a flight's status."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ledgeragent import ToolCall

from ..judges import airline as judge
from ..world import Answer, Facts, call
from .airline import AirlineWorld


class TauAirlineWorld(AirlineWorld):
    """What the tools of tau-bench show less of, otherwise, and wrongly.

    A profile leaves out its own id, airports are keys. Of a connection's flight on the day after,
    the search tells status and prices of the day searched.
    """

    version = "tau"
    policy = judge.OLDER
    same = judge.SAME_WITHOUT_STATUSES
    reads = AirlineWorld.reads - {"get_flight_status"}

    def tour(self) -> list[ToolCall]:
        return [*super().tour(), *self._searches("search_onestop_flight")]

    def _status_look_ups(self) -> list[ToolCall]:
        return []

    def _airports(self) -> Any:
        return {airport["iata"]: airport["city"] for airport in super()._airports()}

    def _profile(self, key: Any) -> Answer:
        answer = super()._profile(key)
        if answer.failed:
            return answer
        profile = json.loads(answer.text)
        del profile["user_id"]
        return replace(answer, text=json.dumps(profile))

    def _returned(self, tool: str, before: Any, changed: Facts) -> Answer:
        """The cabin in the answer to a change of flights is the one from before."""
        answer = super()._returned(tool, before, changed)
        if tool != "update_reservation_flights":
            return answer
        outdated = {**json.loads(answer.text), "cabin": before["cabin"]}
        cabin = ("reservations", before["reservation_id"], "cabin")
        return replace(answer, text=json.dumps(outdated), shown=answer.shown - ({cabin} & changed))

    def _onwards(self, first: Any, destination: str) -> list[Any]:
        return [
            {**flight, **self.db["flights"][flight["flight_number"]]["dates"][first["date"]]}
            for flight in super()._onwards(first, destination)
        ]

    def _tells_status(self, flight: Any, searched: str) -> bool:
        return flight["date"] in (None, searched)

    def _look_at(self, flight: Any, date: str) -> ToolCall:
        route = {name: flight[name] for name in ("origin", "destination")}
        return call("search_direct_flight", **route, date=date)

    def _listings(self, flight: Any, date: str) -> Facts:
        status = ("days", f"{flight['flight_number']} {date}", "status")
        return super()._listings(flight, date) | {status}
