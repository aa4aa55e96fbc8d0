"""Invented customers, lines and bills of the telecom, calls on them, and conversations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgeragent.domain import Domain
from ledgeragent.gate import Gate
from ledgeragent.packs import load_domain
from ledgeragent.paths import Path
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Verdict
from tests.packs.talk import Talk

TELECOM = load_domain("telecom")
GATE = Gate(domain=TELECOM)
LINE_IDS = ["L71", "L72"]
BILL_IDS = ["B71", "B72"]
ON_LINE = {"customer_id": "C7", "line_id": "L71"}


def customer(**changes: Any) -> dict[str, Any]:
    return {
        "customer_id": "C7",
        "full_name": "Noor Haddad",
        "line_ids": LINE_IDS,
        "bill_ids": BILL_IDS,
        **changes,
    }


def line(**changes: Any) -> dict[str, Any]:
    return {
        "line_id": "L71",
        "status": "Suspended",
        "contract_end_date": "2026-05-31",
        "data_refueling_gb": 0.0,
        "roaming_enabled": False,
        **changes,
    }


def bill(bill_id: str, status: str, **changes: Any) -> dict[str, Any]:
    return {
        "bill_id": bill_id,
        "customer_id": "C7",
        "total_due": 48.5,
        "line_items": [],
        "status": status,
        **changes,
    }


class TelecomTalk(Talk):
    def __init__(self, domain: Domain = TELECOM) -> None:
        super().__init__(domain)

    def details(self, record: Mapping[str, Any]) -> TelecomTalk:
        return self.tool("get_details_by_id", record, id=next(iter(record.values())))

    def bills(self, *listed: Mapping[str, Any], **limit: Any) -> TelecomTalk:
        return self.tool("get_bills_for_customer", list(listed), customer_id="C7", **limit)

    def judge(self, name: str, **arguments: Any) -> Verdict:
        return GATE.judge(ToolCall(name=name, arguments=arguments), self.state.ledger)

    def stale(self, path: str) -> set[str]:
        entry = self.ledger.get(Path.parse(path))
        assert entry is not None
        return {".".join(mark.fields) for mark in entry.stale}


def known() -> TelecomTalk:
    """The customer and their suspended line have been read, no bill yet."""
    talk = TelecomTalk().user("hello")
    return talk.tool("get_customer_by_phone", customer(), phone_number="1").details(line())


def resume(talk: TelecomTalk) -> Verdict:
    return talk.judge("resume_line", **ON_LINE)


def request(talk: TelecomTalk, bill_id: str) -> Verdict:
    return talk.judge("send_payment_request", customer_id="C7", bill_id=bill_id)


def awaiting() -> TelecomTalk:
    return known().bills(bill("B71", "Paid"), bill("B72", "Awaiting Payment"))
