"""The customer of a task, as lookups know people: found in the records that its actions name."""

from __future__ import annotations

from collections.abc import Mapping

from ledgeragent.adapters.tau2 import Wire
from ledgeragent.types import Json


def people_of(environment: Wire, actions: list[Wire], task: Wire) -> dict[str, Json]:
    """The particulars that the customer of a task would give, by the name that lookups have for them.

    {} where none of the records is about the customer.
    """
    records = environment.tools.db.model_dump(mode="json")
    tables = {name: _rows(table) for name, table in records.items()}
    ids = {str(value) for action in actions for value in action.arguments.values()}
    named = {*ids, *_owners(tables, ids)}
    scenario = str(task.user_scenario)
    for kind in ("users", "customers", "patients"):
        for row in tables.get(kind, {}).values():
            about = _about(row)
            if any(str(own) in named or str(own) in scenario for own in about["ids"]):
                return dict(about["known"])
    return {}


def _rows(table: Json) -> dict[str, Json]:
    rows = table if isinstance(table, dict) else dict(enumerate(table or ()))
    return {str(key): row for key, row in rows.items() if isinstance(row, dict)}


def _owners(tables: Mapping[str, dict[str, Json]], ids: set[str]) -> set[str]:
    """Whose the records with these ids are."""
    records = (rows[key] for rows in tables.values() for key in ids & rows.keys())
    return {row[owner] for row in records for owner in ("user_id", "patient_id") if owner in row}


def _parts(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _about(row: Json) -> Json:
    """A customer's ids, and what lookups ask for, from a record of any of the domains."""
    name, address = _parts(row.get("name")), _parts(row.get("address"))
    own = row.get("demographics") or row
    lookups = {
        "email": own.get("email"),
        "first_name": name.get("first_name"),
        "last_name": name.get("last_name"),
        "zip": address.get("zip"),
        "date_of_birth": own.get("date_of_birth"),
        "customer_id": row.get("customer_id"),
        "phone_number": row.get("phone_number"),
        "full_name": row.get("full_name"),
        "dob": row.get("date_of_birth"),
    }
    ids = [row.get(k) for k in ("user_id", "customer_id", "patient_id", "phone_number")]
    return {
        "ids": [value for value in ids if value],
        "known": {key: value for key, value in lookups.items() if value},
    }
