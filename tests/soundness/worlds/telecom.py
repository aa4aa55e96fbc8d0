"""A small telephone company, whose customers pay their bills behind the agent's back."""

from __future__ import annotations

import json
from random import Random
from typing import Any, ClassVar

from ledgeragent import ToolCall

from ..judgement import Db, Judgement, Talk
from ..judges import telecom as judge
from ..world import Answer, Facts, World, call, fields, one_in

_PEOPLE = {"C101": "Ada Moss", "C102": "Ben Reed", "C103": "Cyd Hale"}
_BILL_STATUSES = ("Paid", "Overdue", "Awaiting Payment", "Draft", "Issued", "Disputed")
_LINE_STATUSES = ("Suspended", "Active", "Pending Activation", "Closed")
_CONTRACTS = ("2026-12-31", "2025-02-24", "2025-02-26", "2024-01-31")
_TOOLS = (
    "send_payment_request",
    "resume_line",
    "refuel_data",
    "enable_roaming",
    "suspend_line",
    "disable_roaming",
)
_LINE = ("status", "contract_end_date", "roaming_enabled", "data_refueling_gb")
_CUSTOMER = ("line_ids", "bill_ids")


class TelecomWorld(World):
    """Bills in every status and lines in every state."""

    domain = "telecom"
    same = judge.SAME
    worded: ClassVar = {"get_details_by_id": ("status",), "get_bills_for_customer": ("status",)}
    reads = frozenset(
        {
            "get_customer_by_phone",
            "get_customer_by_id",
            "get_customer_by_name",
            "get_details_by_id",
            "get_bills_for_customer",
            "get_data_usage",
        }
    )

    @classmethod
    def make(cls, rng: Random) -> TelecomWorld:
        db: Db = {"customers": {}, "lines": {}, "bills": {}, "plans": {"P101": _plan()}}
        for customer_id in list(_PEOPLE)[: rng.randint(1, 3)]:
            db["customers"][customer_id] = _customer(customer_id)
            for _ in range(rng.randint(1, 3)):
                _add_line(rng, db, customer_id)
            for _ in range(rng.choice([1, 2, 3, 0])):
                _add_bill(db, customer_id, _bill_status(rng))
        return cls(db, "C101")

    def tour(self) -> list[ToolCall]:
        others = [key for key in self.db["customers"] if key != self.me]
        return [
            call(
                "get_customer_by_phone", phone_number=self.db["customers"][self.me]["phone_number"]
            ),
            *(call("get_customer_by_id", customer_id=key) for key in others),
            *(call("get_bills_for_customer", customer_id=key) for key in self.db["customers"]),
            *(call("get_details_by_id", id=key) for key in self.db["lines"]),
            *(call("get_details_by_id", id=key) for key in self.db["bills"]),
        ]

    def read(self, call: ToolCall) -> Answer:
        given = call.arguments
        match call.name:
            case "get_customer_by_id":
                return self._customer(given.get("customer_id"))
            case "get_customer_by_phone":
                return self._by_phone(given.get("phone_number"))
            case "get_customer_by_name":
                return self._by_name(given.get("full_name"), given.get("dob"))
            case "get_bills_for_customer":
                return self._bills(given.get("customer_id"), given.get("limit", 12))
            case "get_data_usage":
                return self._usage(given.get("customer_id"), given.get("line_id"))
        return self._details(str(given.get("id")))

    def _customer(self, key: Any) -> Answer:
        if key not in self.db["customers"]:
            return Answer(f"Error: Customer with ID {key} not found", failed=True)
        shown = frozenset(fields("customers", key, *_CUSTOMER))
        return Answer(json.dumps(self.db["customers"][key]), shown=shown)

    def _by_phone(self, number: Any) -> Answer:
        for key, customer in self.db["customers"].items():
            lines = [self.db["lines"][line]["phone_number"] for line in customer["line_ids"]]
            if number in (customer["phone_number"], *lines):
                return self._customer(key)
        return Answer(f"Error: Customer with phone number {number} not found", failed=True)

    def _by_name(self, name: Any, born: Any) -> Answer:
        keys = [
            key
            for key, customer in self.db["customers"].items()
            if (customer["full_name"], customer["date_of_birth"]) == (name, born)
        ]
        answers = [self._customer(key) for key in keys]
        text = json.dumps([self.db["customers"][key] for key in keys])
        return Answer(text, shown=frozenset().union(*(a.shown for a in answers)))

    def _bills(self, key: Any, limit: int) -> Answer:
        if key not in self.db["customers"]:
            return Answer(f"Error: Customer with ID {key} not found", failed=True)
        every = [self.db["bills"][b] for b in self.db["customers"][key]["bill_ids"]]
        every.sort(key=lambda bill: str(bill["issue_date"]), reverse=True)
        listed = every[:limit]
        shown = {fact for bill in listed for fact in self._bill_facts(bill)}
        if len(listed) < limit:
            shown.add(("customers", key, "all bills"))
        return Answer(json.dumps(listed), shown=frozenset(shown))

    def _bill_facts(self, bill: Any) -> set[tuple[str, str, str]]:
        return fields("bills", bill["bill_id"], "status", "customer_id", "payable")

    def _usage(self, customer_id: Any, line_id: Any) -> Answer:
        if customer_id not in self.db["customers"]:
            return Answer(f"Error: Customer with ID {customer_id} not found", failed=True)
        if line_id not in self.db["customers"][customer_id]["line_ids"]:
            text = f"Error: Line {line_id} not found for customer {customer_id}"
            return Answer(text, failed=True)
        line = self.db["lines"][line_id]
        usage = {
            "line_id": line_id,
            "data_used_gb": str(line["data_used_gb"]),
            "data_limit_gb": "5.0",
            "data_refueling_gb": str(line["data_refueling_gb"]),
            "cycle_end_date": "2025-02-28",
        }
        return Answer(json.dumps(usage))

    def _details(self, key: str) -> Answer:
        kinds = {"C": "Customer", "L": "Line", "B": "Bill", "P": "Plan"}
        tables = {"L": "lines", "B": "bills", "P": "plans"}
        if key.startswith("C"):
            return self._customer(key)
        table = self.db.get(tables.get(key[:1], ""), {})
        if key not in table:
            return Answer(
                f"Error: {kinds.get(key[:1], 'Device')} with ID {key} not found", failed=True
            )
        shown = fields("lines", key, *_LINE) if key.startswith("L") else set()
        if key.startswith("B"):
            shown = self._bill_facts(table[key])
        return Answer(json.dumps(table[key]), shown=frozenset(shown))

    def complete(self, read: ToolCall) -> list[ToolCall]:
        me = self.db["customers"][self.me]
        if read.name == "get_customer_by_phone":
            return [call(read.name, phone_number=me["phone_number"])]
        if read.name == "get_customer_by_name":
            return [call(read.name, full_name=me["full_name"], dob=me["date_of_birth"])]
        if read.name == "get_customer_by_id" and "customer_id" not in read.arguments:
            return [call(read.name, customer_id=self.me)]
        if read.name == "get_bills_for_customer" and "customer_id" not in read.arguments:
            return [call(read.name, customer_id=key) for key in self.db["customers"]]
        return [read]

    def stray(self, rng: Random) -> ToolCall:
        customer = self.db["customers"][self.me]
        return rng.choice(
            [
                call("get_customer_by_phone", phone_number="555-000"),
                call("get_customer_by_name", full_name="No Body", dob="1980-01-01"),
                call("get_customer_by_name", full_name=customer["full_name"], dob="1980-01-01"),
                call("get_bills_for_customer", customer_id=self.me, limit=1),
                call("get_bills_for_customer", customer_id=self.me, limit=0),
                call(
                    "get_data_usage", customer_id=self.me, line_id=rng.choice(customer["line_ids"])
                ),
                call("get_details_by_id", id="L0"),
                call("get_details_by_id", id="P101"),
                call("get_details_by_id", id="B0"),
                call("get_bills_for_customer", customer_id="C0"),
            ]
        )

    def drift(self, rng: Random) -> tuple[ToolCall, Facts]:
        if one_in(rng, 2) or not self.db["bills"]:
            line = rng.choice(list(self.db["lines"].values()))
            line["status"] = rng.choice(_LINE_STATUSES)
            return call("get_details_by_id", id=line["line_id"]), frozenset()
        bill = rng.choice(list(self.db["bills"].values()))
        bill["status"] = rng.choice(_BILL_STATUSES)
        return call("get_details_by_id", id=bill["bill_id"]), frozenset()

    def turn(self, rng: Random) -> Facts:
        waiting = [b for b in self.db["bills"].values() if b["status"] == "Awaiting Payment"]
        for bill in waiting:
            if one_in(rng, 2):
                bill["status"] = "Paid"
        return frozenset(("bills", bill["bill_id"], "status") for bill in waiting)

    def judge(self, talk: Talk, call: ToolCall) -> Judgement:
        return judge.judge(self.db, talk, call.name, call.arguments)

    # -- writes ------------------------------------------------------------------------------------

    def write(self, call: ToolCall) -> Answer:
        given = call.arguments
        if call.name == "send_payment_request":
            bill = self.db["bills"][given["bill_id"]]
            bill["status"] = "Awaiting Payment"
            changed = frozenset(fields("bills", bill["bill_id"], "status", "payable"))
            text = f"Payment request sent to the customer for bill {bill['bill_id']}"
            return Answer(text, changed=changed)
        line = self.db["lines"][given["line_id"]]
        text, name, value = {
            "resume_line": ("Line resumed successfully", "status", "Active"),
            "suspend_line": ("Line suspended successfully", "status", "Suspended"),
            "enable_roaming": ("Roaming enabled successfully", "roaming_enabled", True),
            "disable_roaming": ("Roaming disabled successfully", "roaming_enabled", False),
            "refuel_data": (
                "Data added",
                "data_refueling_gb",
                line["data_refueling_gb"] + given.get("gb_amount", 0),
            ),
        }[call.name]
        refusals = {"resume_line": ("Suspended",), "suspend_line": ("Active",)}
        if line["status"] not in refusals.get(call.name, _LINE_STATUSES):
            return Answer("Error: the line is not in a state for that", failed=True)
        line[name] = value
        touched = fields("lines", line["line_id"], name)
        if call.name == "refuel_data":
            touched |= self._bill_data(given["customer_id"])
        return Answer(json.dumps({"message": text}), changed=frozenset(touched))

    def _bill_data(self, customer_id: str) -> set[tuple[str, str, str]]:
        """Data goes on the draft bill; a customer without one gets one."""
        bills = self.db["customers"][customer_id]["bill_ids"]
        if any(self.db["bills"][key]["status"] == "Draft" for key in bills):
            return set()
        _add_bill(self.db, customer_id, "Draft")
        return fields("customers", customer_id, "bill_ids")

    # -- proposals ---------------------------------------------------------------------------------

    def propose(self, rng: Random) -> ToolCall:
        tool = rng.choice(_TOOLS[:3] if not one_in(rng, 3) else _TOOLS)
        customers = list(self.db["customers"])
        customer_id = rng.choice(customers) if one_in(rng, 8) else self.me
        given: dict[str, Any] = {"customer_id": "C0" if one_in(rng, 40) else customer_id}
        if tool == "send_payment_request":
            given["bill_id"] = self._some_bill(rng, customer_id)
            return call(tool, **given)
        given["line_id"] = self._some_line(rng, customer_id, tool)
        if tool == "refuel_data":
            given["gb_amount"] = rng.choice([1, 2, 2.0, 0.5, 2.1, 5, 0, -1])
        if tool == "suspend_line":
            given["reason"] = "travel"
        return call(tool, **given)

    def _some_bill(self, rng: Random, customer_id: str) -> str:
        own = self.db["customers"][customer_id]["bill_ids"]
        overdue = [key for key in own if self.db["bills"][key]["status"] == "Overdue"]
        pools = [overdue, overdue, overdue, own, [*self.db["bills"], "B0"]]
        return str(rng.choice(rng.choice(pools) or own or ["B0"]))

    def _some_line(self, rng: Random, customer_id: str, tool: str) -> str:
        own = self.db["customers"][customer_id]["line_ids"]
        wanted = "Suspended" if tool == "resume_line" else "Active"
        good = [key for key in own if self.db["lines"][key]["status"] == wanted]
        pools = [good, good, own, [*self.db["lines"], "L0"]]
        return str(rng.choice(rng.choice(pools) or own))

    # -- twins -------------------------------------------------------------------------------------

    def vary(self, known: Facts, rng: Random) -> None:
        for key, line in self.db["lines"].items():
            if ("lines", key, "status") not in known:
                line["status"] = rng.choice(_LINE_STATUSES)
            if ("lines", key, "contract_end_date") not in known:
                line["contract_end_date"] = rng.choice(_CONTRACTS)
        for key, bill in self.db["bills"].items():
            if ("bills", key, "status") in known:
                continue
            if ("bills", key, "payable") not in known:
                bill["status"] = rng.choice(_BILL_STATUSES)
            elif bill["status"] in ("Awaiting Payment", "Paid"):
                bill["status"] = rng.choice(["Awaiting Payment", "Paid"])
        customers = self.db["customers"]
        open_lists = [c for c in customers if ("customers", c, "line_ids") not in known]
        self._swap_lines(open_lists, rng)
        for customer_id in customers:
            if (
                not {
                    ("customers", customer_id, "bill_ids"),
                    ("customers", customer_id, "all bills"),
                }
                & known
            ):
                self._vary_bills(customer_id, known, rng)

    def _swap_lines(self, customers: list[str], rng: Random) -> None:
        """Lines of customers whose records are not known change hands, or appear."""
        for customer_id in customers:
            lines = self.db["customers"][customer_id]["line_ids"]
            for key in list(lines):
                if len(lines) > 1 and one_in(rng, 3):
                    lines.remove(key)
                    self.db["customers"][rng.choice(customers)]["line_ids"].append(key)
            if one_in(rng, 3) and len(customers) == len(self.db["customers"]):
                self.db["lines"]["L0"] = {**_line("L0"), "status": rng.choice(_LINE_STATUSES)}
                if not any("L0" in c["line_ids"] for c in self.db["customers"].values()):
                    lines.append("L0")

    def _vary_bills(self, customer_id: str, known: Facts, rng: Random) -> None:
        bills = self.db["customers"][customer_id]["bill_ids"]
        for key in list(bills):
            if ("bills", key, "customer_id") not in known and one_in(rng, 3):
                bills.remove(key)
                del self.db["bills"][key]
        if one_in(rng, 3):
            _add_bill(self.db, customer_id, rng.choice(_BILL_STATUSES))


def _plan() -> dict[str, Any]:
    return {
        "plan_id": "P101",
        "name": "Small",
        "data_limit_gb": 5.0,
        "price_per_month": 20.0,
        "data_refueling_price_per_gb": 2.0,
    }


def _customer(customer_id: str) -> dict[str, Any]:
    return {
        "customer_id": customer_id,
        "full_name": _PEOPLE[customer_id],
        "date_of_birth": f"1980-01-{customer_id[-2:]}",
        "email": f"{customer_id}@example.com",
        "phone_number": f"555-{customer_id[1:]}",
        "address": {"street": "1 Hill Road", "city": "Derby", "state": "CT", "zip_code": "10001"},
        "account_status": "Active",
        "payment_methods": [],
        "line_ids": [],
        "bill_ids": [],
        "created_at": "2025-01-01 10:00:00",
        "last_extension_date": None,
        "goodwill_credit_used_this_year": 0.0,
    }


def _line(line_id: str) -> dict[str, Any]:
    return {
        "line_id": line_id,
        "phone_number": f"555-9{line_id[1:]}",
        "status": "Suspended",
        "plan_id": "P101",
        "device_id": "D101",
        "data_used_gb": 3.2,
        "data_refueling_gb": 0.0,
        "roaming_enabled": False,
        "contract_end_date": "2026-12-31",
        "last_plan_change_date": None,
        "last_sim_replacement_date": None,
        "suspension_start_date": "2025-02-01",
    }


def _add_line(rng: Random, db: Db, customer_id: str) -> None:
    line_id = f"L{101 + len(db['lines'])}"
    db["lines"][line_id] = {
        **_line(line_id),
        "status": rng.choice(_LINE_STATUSES[:2] if not one_in(rng, 5) else _LINE_STATUSES),
        "contract_end_date": rng.choice(_CONTRACTS) if one_in(rng, 2) else _CONTRACTS[0],
    }
    db["customers"][customer_id]["line_ids"].append(line_id)


def _bill_status(rng: Random) -> str:
    usual = ["Paid", "Paid", "Overdue", "Awaiting Payment"]
    return rng.choice(usual if not one_in(rng, 4) else _BILL_STATUSES)


def _add_bill(db: Db, customer_id: str, status: str) -> None:
    number = 101 + len(db["bills"])
    while f"B{number}" in db["bills"]:
        number += 1
    db["bills"][f"B{number}"] = {
        "bill_id": f"B{number}",
        "customer_id": customer_id,
        "period_start": "2025-01-01",
        "period_end": "2025-01-31",
        "issue_date": f"2025-01-{number % 28 + 1:02}",
        "total_due": 65.0,
        "due_date": "2025-01-19",
        "line_items": [],
        "status": status,
    }
    db["customers"][customer_id]["bill_ids"].append(f"B{number}")
