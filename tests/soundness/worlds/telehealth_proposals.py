"""The small clinic: what an agent may try, and the worlds that look the same."""

from __future__ import annotations

from random import Random
from typing import Any

from ledgeragent import ToolCall

from ..judges import telehealth as judge
from ..world import Facts, World, call, one_in
from .telehealth_records import (
    DATES,
    MEDICATIONS,
    PROVIDERS,
    STATUSES,
    TIMES,
    TYPES,
    make_provider,
    some_contact,
    some_entries,
    some_prescriptions,
)

_TOOLS = (
    "schedule_appointment",
    "cancel_appointment",
    "reschedule_appointment",
    "update_prescription_supplier",
    "update_medical_record_note",
)


class TelehealthProposals(World):
    """What an agent may try in this world, and its twins."""

    def propose(self, rng: Random) -> ToolCall:
        tool = rng.choice(_TOOLS)
        if tool == "schedule_appointment":
            patients = [self.me] if not one_in(rng, 5) else [*self.db["patients"], "nobody_1"]
            providers = list(self.db["providers"]) if not one_in(rng, 8) else ["dr_none"]
            provider = rng.choice(providers)
            date, time = self._slot(rng, provider)
            return call(
                tool,
                patient_id=rng.choice(patients),
                provider_id=provider,
                date=date,
                time=time,
                appointment_type=rng.choice(TYPES),
            )
        if "appointment" in tool:
            return self._on_appointment(rng, tool)
        mine = [r for r in self.db["records"].values() if r["patient_id"] == self.me]
        every = list(self.db["records"].values())
        record = rng.choice((mine or every) if not one_in(rng, 5) else every)
        key = "REC000" if one_in(rng, 40) else record["record_id"]
        if tool == "update_medical_record_note":
            return call(tool, record_id=key, note="Better.")
        return call(tool, record_id=key, **self._supply(rng, record))

    def _on_appointment(self, rng: Random, tool: str) -> ToolCall:
        every = list(self.db["appointments"].values())
        mine = [a for a in every if a["patient_id"] == self.me]
        good = [a for a in mine if a["status"] in judge.OPEN]
        appointment = rng.choice(rng.choice([good, good, good, mine, every]) or mine or every)
        key = "APPT000" if one_in(rng, 40) else appointment["appointment_id"]
        if tool == "cancel_appointment":
            return call(tool, appointment_id=key)
        date, time = self._slot(rng, appointment["provider_id"])
        return call(tool, appointment_id=key, new_date=date, new_time=time)

    def _slot(self, rng: Random, provider_id: str) -> tuple[str, str]:
        """A date and time, mostly of the provider's schedule, sometimes one that is taken."""
        if one_in(rng, 12):
            odd = [("11/03/2025", "09:00"), ("2025-11-03", "9 am"), ("2025-02-30", "09:00")]
            return rng.choice(odd)
        if one_in(rng, 4):
            taken = rng.choice(list(self.db["appointments"].values()))
            return taken["date"], taken["time"]
        schedule = self.db["providers"].get(provider_id, {"schedule": {}})["schedule"]
        free = [
            (date, time)
            for date, day in zip(DATES, ("monday", "tuesday", "wednesday"), strict=True)
            for time in schedule.get(day, ())
        ]
        if one_in(rng, 4) or not free:
            return rng.choice(DATES), rng.choice([*TIMES, "03:15"])
        return rng.choice(free)

    def _supply(self, rng: Random, record: Any) -> dict[str, Any]:
        prescribed = [p["medication"] for p in record["prescriptions"]]
        medication = rng.choice(prescribed or list(MEDICATIONS))
        if one_in(rng, 6):
            medication = rng.choice([*MEDICATIONS, "Nothing"])
        entries = self.db["catalog"].get(medication) or some_entries(rng)
        entry, other = rng.choice(entries), rng.choice(entries)
        if one_in(rng, 6):
            medication = rng.choice([medication.lower(), medication[:4], f"{medication} 10mg"])
        company = entry["company"]
        given = {
            "medication": medication,
            "supplier_company": f"{company} ({entry['country']})" if one_in(rng, 3) else company,
            "brand_name": entry["brand_name"],
            "price_usd": entry["price_usd"],
        }
        if one_in(rng, 4):
            wrong = [
                ("supplier_company", other["company"]),
                ("supplier_company", f"{company} (Mars)"),
                ("brand_name", other["brand_name"]),
                ("brand_name", "Nobrand"),
                ("price_usd", other["price_usd"]),
                ("price_usd", round(entry["price_usd"] + 0.01, 2)),
            ]
            name, value = rng.choice(wrong)
            given[name] = value
        return given

    def vary(self, known: Facts, rng: Random) -> None:
        for key, patient in self.db["patients"].items():
            if ("patients", key, "contact") not in known:
                patient["emergency_contact"] = some_contact(rng)
        for key in list(self.db["providers"]):
            if ("providers", key, "schedule") not in known:
                fresh = make_provider(rng, key)
                self.db["providers"][key]["schedule"] = fresh["schedule"]
            if ("providers", key, "exists") not in known and one_in(rng, 4) and self._unneeded(key):
                del self.db["providers"][key]
        if ("providers", "dr_none", "exists") not in known and one_in(rng, 2):
            self.db["providers"]["dr_none"] = make_provider(rng, "dr_ash_primary")
        for key, appointment in self.db["appointments"].items():
            self._vary_appointment(key, appointment, known, rng)
        for key, record in self.db["records"].items():
            if ("records", key, "prescriptions") not in known:
                record["prescriptions"] = some_prescriptions(rng)
            if ("records", key, "patient_id") not in known and one_in(rng, 2):
                record["patient_id"] = rng.choice(list(self.db["patients"]))
        for name, entries in self.db["catalog"].items():
            if ("catalog", name, "entries") not in known:
                kept = [e for e in entries if ("catalog", name, e["brand_name"]) in known]
                self.db["catalog"][name] = kept + [e for e in some_entries(rng) if one_in(rng, 2)]

    def _unneeded(self, provider_id: str) -> bool:
        return all(a["provider_id"] != provider_id for a in self.db["appointments"].values())

    def _vary_appointment(self, key: str, appointment: Any, known: Facts, rng: Random) -> None:
        def unknown(name: str) -> bool:
            return ("appointments", key, name) not in known and one_in(rng, 2)

        if unknown("status"):
            appointment["status"] = rng.choice(STATUSES)
        if unknown("date"):
            appointment["date"] = rng.choice(DATES)
        if unknown("time"):
            appointment["time"] = rng.choice(TIMES)
        if unknown("provider_id"):
            appointment["provider_id"] = rng.choice(
                [p for p in self.db["providers"] if p in PROVIDERS]
            )
        patients = [p for p in self.db["patients"] if ("patients", p, "appointments") not in known]
        if unknown("patient_id") and appointment["patient_id"] in patients:
            appointment["patient_id"] = rng.choice(patients)
