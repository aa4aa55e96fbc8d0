"""The numbers that the LedgerAgent paper prints, to stand beside measured ones."""

from __future__ import annotations

from typing import NamedTuple


class Cell(NamedTuple):
    """Avg, pass^1 and pass^4 in percent."""

    average: float
    pass_1: float
    pass_4: float


DOMAINS = ("airline", "retail", "telecom", "telehealth")

_MAIN = {
    ("Kimi-K2.5", "fc"): (54.4, 69.0, 44.0, 38.3, 57.5, 24.6, 80.9, 90.8, 71.9, 11.3, 15.0, 10.0),
    ("Kimi-K2.5", "ledgeragent"): (
        *(62.3, 74.0, 52.0, 53.9, 70.6, 41.2),
        *(69.9, 76.5, 64.0, 18.8, 25.0, 15.8),
    ),
    ("GLM-5", "fc"): (51.3, 66.5, 40.0, 40.9, 61.0, 26.3, 63.7, 80.3, 50.9, 16.9, 20.0, 15.8),
    ("GLM-5", "ledgeragent"): (
        *(64.6, 76.0, 56.0, 48.5, 67.1, 35.1),
        *(68.7, 75.9, 62.3, 17.6, 27.5, 10.0),
    ),
    ("MiniMax M2.5", "fc"): (46.2, 61.5, 36.0, 16.7, 33.6, 7.0, 66.1, 81.8, 53.5, 10.7, 18.8, 5.0),
    ("MiniMax M2.5", "ledgeragent"): (
        *(49.9, 63.0, 40.0, 36.6, 58.1, 21.1),
        *(66.3, 74.8, 58.8, 20.7, 28.8, 15.0),
    ),
}
MAIN: dict[tuple[str, str, str], Cell] = {
    (model, arm, domain): Cell(*numbers[3 * place : 3 * place + 3])
    for (model, arm), numbers in _MAIN.items()
    for place, domain in enumerate(DOMAINS)
}
"""The main results by model, arm and domain."""

GAINS = {
    "Kimi-K2.5": (3.4, 5.6),
    "GLM-5": (4.7, 7.6),
    "MiniMax M2.5": (7.3, 8.3),
    "GPT-4.1": (12.2, None),
    "GPT-5.2": (15.5, None),
}
"""The gain of pass^1 and pass^4 over fc in points, as the text says: mean over all four domains, for the
last two over airline and retail, whose figure has no other number in the text."""

OVERHEAD = {"irma": (23.4, 9.6, 53.1), "ledgeragent": (27.2, 17.1, 0.0)}
"""pass^1, pass^4 and token overhead in percent, of the comparison with IRMA."""

WRITE_TASKS = {
    "airline": (26, 50),
    "retail": (104, 114),
    "telecom": (94, 114),
    "telehealth": (19, 20),
}
"""How many tasks change the world, of how many."""

FAILURES = {
    "all": {"missed action": 70.3, "wrong arguments": 20.4},
    "airline": {"missed action": 47.7, "wrong arguments": 33.9},
    "retail": {"missed action": 69.9, "wrong arguments": 20.0},
    "telecom": {"missed action": 98.7},
    "telehealth": {"wrong arguments": 25.9},
}
"""Shares of failures in percent that the error analysis gives, for its own arm."""

CONTROL = {"airline": "single", "retail": "single", "telecom": "dual", "telehealth": "single"}
"""Whether the customer, too, changes the world."""


MODELS = tuple(dict.fromkeys(model for model, _, _ in MAIN))
"""The models of the main results, in their order."""
