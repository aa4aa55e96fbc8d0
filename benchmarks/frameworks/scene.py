"""The scenes: a wrong refund is sent back and the right one goes through; a cancellation is blocked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Call = tuple[str, dict[str, Any]]

_REFUND = {"order_id": "G-1012", "parcel_id": "P-33", "sku": "secateurs", "quantity": 1}


@dataclass(frozen=True, slots=True)
class Scene:
    """Calls in order. `refused` are the places of those that must not run; `told` is said then."""

    name: str
    calls: tuple[Call, ...]
    refused: frozenset[int]
    told: str

    def verdict(self, answers: list[dict[str, Any]], executed: list[str]) -> str:
        """`ok`, or what was not as it should be."""
        if len(answers) != len(self.calls):
            return f"{len(answers)} answers to {len(self.calls)} calls"
        for place, (answer, (name, _)) in enumerate(zip(answers, self.calls, strict=True)):
            if answer["error"] is not (place in self.refused):
                return f"{name} (call {place + 1}): {answer['text'][:200]}"
        if not any(self.told in answers[place]["text"] for place in self.refused):
            return f"nobody is told {self.told!r}"
        names = [name for n, (name, _) in enumerate(self.calls) if n not in self.refused]
        ran = [call.partition("(")[0] for call in executed]
        return "ok" if ran == names else f"the server executed {', '.join(ran)}"


SCENES = (
    Scene(
        "revise",
        (
            ("find_customer", {"email": "elena.ricci@example.net"}),
            ("get_order", {"order_id": "G-1012"}),
            ("get_parcel", {"parcel_id": "P-33"}),
            ("refund_item", {**_REFUND, "amount": 29.0}),
            ("refund_item", {**_REFUND, "amount": 24.5}),
        ),
        frozenset({3}),
        "24.50",
    ),
    Scene(
        "block",
        (
            ("find_customer", {"email": "maya.brandt@example.org"}),
            ("get_order", {"order_id": "G-1007"}),
            ("cancel_order", {"order_id": "G-1007"}),
        ),
        frozenset({2}),
        "only an order that is still open can be cancelled",
    ),
)
