"""Packs mined from one half of recorded runs, against the shipped ones: `python -m benchmarks.mining`.

Needs the public benchmark data (`LEDGERAGENT_DATA_DIR`) and the extra `cel`. Runs are halved by task, so
that no task of one half is in the other. Each half's pack is compared with the one written by hand.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.ownreport import own_report
from ledgeragent.compiler.loader import load_pack
from ledgeragent.domain import Domain
from ledgeragent.mining.draft import Draft, draft
from ledgeragent.mining.folder import write_folder
from ledgeragent.mining.packtext import PackText
from ledgeragent.mining.recording import RecordedRuns
from ledgeragent.mining.rules.drafting import drafted
from ledgeragent.mining.rules.proposal import LEAST_SITUATIONS
from ledgeragent.mining.rules.rulestext import rule_id
from ledgeragent.packs.catalogue import versions

RESULT = Path(__file__).parent / "results" / "mining.json"
HALVES = ("first half", "second half", "all runs")

TOUCHES: dict[str, dict[str, tuple[str, ...]]] = {
    "retail": {
        "cancel_pending_order": ("orders status", "orders cancel_reason", "orders payment_history"),
        "modify_pending_order_address": ("orders address",),
        "modify_pending_order_payment": ("orders payment_history",),
        "modify_pending_order_items": ("orders status", "orders items", "orders payment_history"),
        "return_delivered_order_items": (
            "orders status",
            "orders return_items",
            "orders return_payment_method_id",
        ),
        "exchange_delivered_order_items": (
            "orders status",
            "orders exchange_items",
            "orders exchange_new_items",
            "orders exchange_payment_method_id",
            "orders exchange_price_difference",
        ),
        "modify_user_address": ("users address",),
    },
    "airline": {
        "book_reservation": ("users reservations",),
        "update_reservation_flights": (
            "reservations flights",
            "reservations cabin",
            "reservations payment_history",
        ),
        "cancel_reservation": ("reservations status", "reservations payment_history"),
        "update_reservation_baggages": (
            "reservations total_baggages",
            "reservations nonfree_baggages",
            "reservations payment_history",
        ),
        "update_reservation_passengers": ("reservations passengers",),
    },
}
"""The fields that the shipped packs mark on the record that the call names."""

SECOND: dict[str, dict[str, tuple[str, ...]]] = {
    "retail": dict.fromkeys(
        (
            "cancel_pending_order",
            "modify_pending_order_payment",
            "modify_pending_order_items",
            "return_delivered_order_items",
            "exchange_delivered_order_items",
        ),
        ("users payment_methods",),
    ),
    "airline": {
        "book_reservation": ("users payment_methods", "flights available_seats"),
        "update_reservation_flights": ("users payment_methods",),
        "update_reservation_baggages": ("users payment_methods",),
        "send_certificate": ("users payment_methods",),
    },
}
"""The fields that they mark on another record: balances, certificates, seats."""

ROUTES: dict[str, dict[str, tuple[str, ...]]] = {
    "retail": {
        "get_user_details": ("users.{user_id}",),
        "get_order_details": ("orders.{order_id}",),
        "get_product_details": ("products.{product_id}",),
        "list_all_product_types": ("product_types",),
        "find_user_id_by_email": ("located.user_id",),
        "find_user_id_by_name_zip": ("located.user_id",),
    },
    "airline": {
        "get_user_details": ("users.{user_id}",),
        "get_reservation_details": ("reservations.{reservation_id}",),
        "list_all_airports": ("airports",),
        "get_flight_status": ("flight_status.{flight_number}.{date}",),
        "search_direct_flight": (
            "flights.{flight_number}.{date}",
            "direct_flights.{date}.{destination}.{origin}",
        ),
        "search_onestop_flight": (
            "flights.{flight_number}.{date}",
            "onestop_flights.{date}.{destination}.{origin}",
        ),
    },
}
"""The routes of the shipped packs, in the words of a mined one; keys in alphabetical order."""


@contextmanager
def recorded(files: list[str], half: int) -> Iterator[RecordedRuns]:
    """The runs of one half of the tasks, or all."""
    with tempfile.TemporaryDirectory() as place:
        if half < len(HALVES) - 1:
            own = Path(place, "runs.jsonl")
            own.write_text("".join(_lines(files, half)))
            files = [str(own)]
        with RecordedRuns(files) as recording:
            yield recording


def judged(domain: str, half: int, files: list[str]) -> dict[str, Any]:
    """One mined pack beside the shipped one."""
    begin = time.perf_counter()
    with recorded(files, half) as recording:
        mined = draft(recording)
    seconds = time.perf_counter() - begin
    row = {
        "half": HALVES[half],
        "runs": mined.runs,
        "seconds": round(seconds, 1),
        "tools": _tools(domain, mined),
        "routes": _routes(domain, mined),
        "touches": _touches(TOUCHES[domain], mined),
        "touches_on_other_records": _touches(SECOND[domain], mined),
        "further_touches": _further(domain, mined),
        "rules": [_rules(domain, mined, half, files, least) for least in (LEAST_SITUATIONS, 10)],
    }
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "pack")
        write_folder(folder, {"pack.yaml": PackText(mined, domain).text()})
        load_pack(folder)
        findings = _run("check", str(folder), "--format", "json")
        row["check"] = {level: findings[level] for level in ("errors", "warnings")}
        row["replay"] = _run("replay", *files, "--domain", str(folder), "--format", "json")[
            "writes"
        ]
    return row


def _rules(domain: str, mined: Draft, half: int, files: list[str], least: int) -> dict[str, Any]:
    """The rules that are drafted, and what they would have stopped in the other half if enforced."""
    with recorded(files, half) as recording:
        rules = drafted(domain, mined, recording, least=least)
    row: dict[str, Any] = {"situations": least, "drafted": len(rules.proposals)}
    row["ids"] = [rule_id(domain, proposal) for proposal in rules.proposals]
    if not rules.proposals or half == len(HALVES) - 1:
        return row
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "pack")
        text = PackText(mined, domain).text(rules.guarded)
        write_folder(folder, {"pack.yaml": text, **rules.texts})
        other = Path(place, "runs.jsonl")
        other.write_text("".join(_lines(files, 1 - half)))
        replayed = ("replay", str(other), "--domain", str(folder), "--format", "json")
        report = _run(*replayed, "--enforce", "*=enforce", "--enforce", "gate/*=audit")
        tested = _run("test", "--domain", str(folder), "--format", "json")
        row["samples"] = {name: tested[name] for name in ("samples", "passed")}
    for reward, name in (("1", "right"), ("0", "failed")):
        counts = report["by_reward"][reward]
        row[f"{name}_runs"] = counts["runs_with_executed_write"]
        row[f"{name}_runs_stopped"] = counts["runs_with_rejected_executed_write"]
    return row


def _lines(files: list[str], half: int) -> Iterator[str]:
    """The recorded runs of a half, as they stand in their files."""
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                if zlib.crc32(str(json.loads(line)["task_id"]).encode()) % 2 == half:
                    yield line


def _tools(domain: str, mined: Draft) -> dict[str, Any]:
    """The tools that were called, and those of the kind that a shipped version says."""
    effects = _effects(versions(domain).values())
    wrong = [n for n, (kind, _) in mined.kinds.items() if effects.get(n, kind) != kind]
    return {"right": len(mined.kinds) - len(wrong), "of": len(mined.kinds), "wrong": wrong}


def _effects(domains: Any) -> dict[str, str]:
    listed: list[Domain] = [*domains]
    return {tool.tool: tool.effect.value for domain in listed for tool in domain.tools}


def _routes(domain: str, mined: Draft) -> dict[str, Any]:
    expected = {(tool, path) for tool, paths in ROUTES[domain].items() for path in paths}
    called = {(tool, path) for tool, path in expected if tool in mined.conducts}
    paths = {(route.tool, _sorted_keys(route.family.path)) for route in mined.routes}
    lacking = sorted(map(" ".join, called - paths))
    further = sorted(map(" ".join, paths - expected))
    return {"right": len(called & paths), "of": len(called), "lacking": lacking, "further": further}


def _sorted_keys(path: str) -> str:
    parts = path.split(".")
    keys = sorted(part for part in parts if part.startswith("{"))
    names = [part for part in parts if not part.startswith("{")]
    single = path.startswith(("flights", "flight_status"))
    return path if single else ".".join((*names, *keys))


def _touches(expected: dict[str, tuple[str, ...]], mined: Draft) -> dict[str, Any]:
    """How many of the expected touches are there: seen, guessed, guessed as the whole record."""
    counts = {"seen": 0, "guessed": 0, "guessed_whole": 0, "of": 0}
    lacking = []
    for tool, fields in expected.items():
        for family, field in map(str.split, fields):
            counts["of"] += 1
            how = _how(tool, family, field, mined)
            if how:
                counts[how] += 1
            else:
                lacking.append(f"{tool}: {family} {field}")
    return {**counts, "lacking": lacking}


def _how(tool: str, family: str, field: str, mined: Draft) -> str:
    touches = [t for t in mined.touches.get(tool, ()) if t.family.name == family]
    exact = [touch for touch in touches if touch.field == field]
    if exact:
        return "seen" if exact[0].seen else "guessed"
    return "guessed_whole" if any(not touch.field for touch in touches) else ""


def _further(domain: str, mined: Draft) -> list[str]:
    """The touches that the shipped pack does not have."""
    own = {
        (tool, *field.split())
        for table in (TOUCHES[domain], SECOND[domain])
        for tool, fields in table.items()
        for field in fields
    }
    pairs = {(tool, family) for tool, family, _ in own}
    return sorted(
        f"{tool}: {touch.path} {touch.field}{'' if touch.seen else ' (guessed)'}".replace("  ", " ")
        for tool, touches in mined.touches.items()
        for touch in touches
        if (tool, touch.family.name, touch.field) not in own
        and (touch.field or (tool, touch.family.name) not in pairs)
    )


def _run(*words: str) -> dict[str, Any]:
    report: dict[str, Any] = own_report(words, codes=(0, 1))
    return report


def rows(data: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The judged packs of each domain."""
    for domain in TOUCHES:
        files = sorted(map(str, (data / "trajectories").glob(f"*_{domain}__*.jsonl.gz")))
        yield domain, [judged(domain, half, files) for half in range(len(HALVES))]


def main() -> int:
    """Mines, compares, and writes the result file."""
    folder = os.environ.get("LEDGERAGENT_DATA_DIR")
    if folder is None:
        sys.exit("set LEDGERAGENT_DATA_DIR to the folder with trajectories/")
    report = {"command": "python -m benchmarks.mining", **dict(rows(Path(folder)))}
    RESULT.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
