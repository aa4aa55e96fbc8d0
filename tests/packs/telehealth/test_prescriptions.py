"""Medications and who supplies them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.packs.telehealth.talk import ANA, Talk, asked, record, violated

UPDATED = {
    "record_id": "REC900",
    "appointment_id": None,
    "patient_id": ANA,
    "date": "2025-11-05",
    "prescriptions": [{"medication": "Sertraline", "refills": 3}],
}
CATALOG = (
    "Suppliers for Sertraline:\n"
    "Delta Labs (India) | brand=Deltraline | price_usd=3.20\n"
    "Fjord Pharma (Norway) | brand=Sertrafjord | price_usd=4.10"
)


@pytest.mark.parametrize(
    "name", ["Sertraline", "SERTRALINE", " sertraline ", "Sertraline 50mg", "Sert"]
)
def test_a_medication_is_known_by_a_prefix_in_any_case(name: str) -> None:
    talk = Talk().located().prescriptions().suppliers(CATALOG)
    assert talk.supply(medication=name).allowed


@pytest.mark.parametrize("name", ["Aspirin", "traline", "", " "])
def test_a_medication_that_is_not_prescribed(name: str) -> None:
    talk = Talk().located().prescriptions().suppliers(CATALOG)
    assert violated(talk.supply(medication=name)) == {"medication-in-record"}


def test_what_a_record_prescribes_is_asked_of_the_list() -> None:
    talk = Talk().located().suppliers(CATALOG)
    talk.tool("get_medical_record", record(), record_id="REC900")
    assert asked(talk.supply()) == {f'list_patient_medical_records(patient_id="{ANA}")'}


@pytest.mark.parametrize(
    "changes",
    [
        {"supplier_company": "Delta Labs (India)"},
        {"supplier_company": "delta labs"},
        {"price_usd": "3.20"},
        {"currency": "usd"},
        {"currency": None},
    ],
)
def test_other_spellings_of_a_catalog_entry(changes: dict[str, Any]) -> None:
    assert Talk().located().prescriptions().suppliers(CATALOG).supply(**changes).allowed


@pytest.mark.parametrize(
    "changes",
    [
        {"supplier_company": "Delta Labs (China)"},
        {"supplier_company": "Fjord Pharma"},
        {"brand_name": "Sertrafjord"},
        {"price_usd": 3.25},
        {"price_usd": "4.1"},
        {"currency": "INR"},
    ],
)
def test_what_no_catalog_entry_says(changes: dict[str, Any]) -> None:
    talk = Talk().located().prescriptions().suppliers(CATALOG)
    assert violated(talk.supply(**changes)) == {"supplier-in-catalog"}


def test_a_narrowed_catalog_shows_an_entry_but_not_that_there_is_none() -> None:
    talk = Talk().located().prescriptions()
    talk.suppliers("\n".join(CATALOG.split("\n")[:2]), country_filter="India", limit=1)
    assert talk.supply().allowed
    other = talk.supply(supplier_company="Fjord Pharma", brand_name="Sertrafjord", price_usd=4.1)
    assert asked(other) == {'list_medication_suppliers(medication="Sertraline")'}
    assert not violated(other)
    talk.suppliers("No suppliers in Mars for Sertraline.", country_filter="Mars")
    assert asked(talk.supply(brand_name="X")) == {
        'list_medication_suppliers(medication="Sertraline")'
    }


def test_a_medication_the_catalog_does_not_know_has_no_supplier() -> None:
    talk = Talk().located().prescriptions()
    nothing = "No supplier information found for Sertraline. (Tip: check the name)"
    talk.suppliers(nothing, country_filter="India")
    assert violated(talk.supply()) == {"supplier-in-catalog"}


def test_a_wrong_name_that_the_catalog_does_not_know_leads_to_the_right_one() -> None:
    talk = Talk().located().prescriptions()
    nothing = "No supplier information found for Sertraline 50mg. (Tip: check the name)"
    talk.suppliers(nothing, medication="Sertraline 50mg")
    verdict = talk.supply(medication="Sertraline 50mg")
    assert asked(verdict) == {'list_medication_suppliers(medication="Sertraline")'}
    assert talk.suppliers(CATALOG).supply(medication="Sertraline 50mg").allowed


def test_a_longer_name_with_a_catalog_of_its_own_is_judged_by_that_one() -> None:
    talk = Talk().located().prescriptions()
    talk.suppliers(CATALOG.replace("Sertraline", "Sertraline XR"), medication="Sertraline XR")
    assert talk.supply(medication="Sertraline XR").allowed
    dearer = talk.supply(medication="Sertraline XR", price_usd=9.99)
    assert violated(dearer) == {"supplier-in-catalog"}
    assert dearer.objection.endswith("one entry: Deltraline of Delta Labs (India) at 3.20 USD")


@pytest.mark.parametrize("content", [UPDATED, json.dumps(UPDATED)])
def test_a_record_that_a_write_hands_back_is_read(content: Any) -> None:
    talk = Talk().located().tool("get_medical_record", record(), record_id="REC900")
    talk.suppliers(CATALOG).tool(
        "update_medical_record_note", content, record_id="REC900", note="x"
    )
    assert talk.supply().allowed
    assert violated(talk.supply(medication="Ibuprofen")) >= {"medication-in-record"}
    assert talk.entry("records.REC900").value["plan"] == "Rest."


@pytest.mark.parametrize("content", ["Done.", [], {"record_id": "REC900"}, "null"])
def test_an_answer_that_hands_nothing_back_says_nothing(content: Any) -> None:
    talk = Talk().located().tool("get_medical_record", record(), record_id="REC900")
    talk.suppliers(CATALOG).tool(
        "update_medical_record_note", content, record_id="REC900", note="x"
    )
    assert "list_patient_medical_records" in str(asked(talk.supply()))
