"""The tools over a clinic of our own, and the recorded ones where they are at hand."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledgeragent.bench.telehealth.clinic import TOOLS, call
from tests.bench.telehealth.clinic import TODAY, clinic

BOOKING = {
    "patient_id": "ann_reed_1",
    "provider_id": "gp",
    "date": "2030-05-06",
    "time": "10:00",
    "appointment_type": "sick_visit",
}


def answer(name: str, **arguments: Any) -> str:
    return call(clinic(), name, arguments)


def test_there_are_23_tools() -> None:
    assert len(TOOLS) == 23


def test_patients_are_found_by_exact_address_or_by_name_in_any_case() -> None:
    assert answer("find_patient_by_email", email="ann@mail") == "ann_reed_1"
    assert answer("find_patient_by_email", email="") == "ben"
    assert answer("find_patient_by_email", email="ANN@MAIL").startswith("No patient found")
    born = {"last_name": "reed", "date_of_birth": "1970-01-02"}
    assert answer("find_patient_by_name_dob", first_name="ANN", **born) == "ann_reed_1"
    assert answer("find_patient_by_name_dob", first_name="Cy", **born).endswith("1970-01-02")


def test_a_profile_lists_what_is_known() -> None:
    text = answer("get_patient_details", patient_id="ann_reed_1")
    assert "- Conditions: None\n- Allergies: Dust, Bees\n" in text
    assert "- Current Medications: Zorvex 5mg daily\n" in text
    assert "- Specialist Copay: $33.50" in text
    assert answer("get_patient_details", patient_id="x") == "Patient with ID x not found."


def test_a_provider_without_a_licence_number_cannot_be_shown() -> None:
    assert "Name: Dr. Ida Holt\n" in answer("get_provider_details", provider_id="gp")
    assert answer("get_provider_details", provider_id="eye") == "Error: 'license_number'"
    assert answer("get_provider_details", provider_id="x") == "Provider with ID x not found."


def test_providers_of_a_specialty_in_any_case() -> None:
    assert answer("list_available_providers").count("•") == 2
    assert "Dr. Ida Marsh" in answer("list_available_providers", specialty="OPTICS")
    assert answer("list_available_providers", specialty="") == "No providers found."
    assert answer("list_available_providers", specialty="Magic").endswith("specialty: Magic")


def test_calls_that_do_not_fit_fail_as_python_says() -> None:
    text = answer("get_provider_details")
    assert text.startswith("Error: GetProviderDetails.invoke() missing 1 required")
    assert answer("find_patient_by_name_dob").startswith("Error: FindPatientByNameDOB.invoke() ")
    assert "unexpected keyword argument 'note'" in answer("think", note="x")
    assert answer("nope") == "Unknown action nope"


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"patient_id": "x"}, "Patient with ID x not found."),
        ({"provider_id": "x"}, "Provider with ID x not found."),
        ({"date": "06.05.2030"}, "Invalid date format: 06.05.2030. Please use YYYY-MM-DD format."),
        ({"date": "2030-05-07"}, "Provider gp does not work on Tuesday."),
        ({"time": "11:00"}, "Available times: 09:00, 10:00"),
        ({"time": "09:00"}, "already has an appointment scheduled at 09:00 on 2030-05-06."),
    ],
)
def test_a_booking_that_cannot_be_made_changes_nothing(
    change: dict[str, str], refusal: str
) -> None:
    data = clinic()
    before = data.digest()
    assert refusal in call(data, "schedule_appointment", {**BOOKING, **change})
    assert data.digest() == before


def test_a_booking_gets_the_next_number_and_the_copay_of_its_kind() -> None:
    data = clinic()
    text = call(data, "schedule_appointment", {**BOOKING, "voucher_id": "V"})
    assert "Copay: $10.00\nInsurance Authorization: AUTH000003\n" in text
    booked = data.appointments["APPT003"]
    assert (booked["payment_method"], booked["voucher_id"]) == ("insurance", None)
    assert booked["insurance_billed"] is True
    special = call(data, "schedule_appointment", {**BOOKING, "provider_id": "eye"})
    assert "Copay: $33.50" in special
    unread = call(data, "get_appointment_details", {"appointment_id": "APPT003"})
    assert unread == "Error: 'chief_complaint'"


def test_without_insurance_a_voucher_pays_and_the_notes_are_told() -> None:
    own = {**BOOKING, "bill_insurance": False, "payment_notes": "later"}
    assert "Payment Method: Self Pay\nAmount Due Today: $0.00\nBilling Notes: later\n" in call(
        clinic(), "schedule_appointment", own
    )
    text = call(clinic(), "schedule_appointment", {**own, "voucher_id": "V"})
    assert "Payment Method: Telehealth Voucher\nVoucher Applied: V\n" in text


@pytest.mark.parametrize(
    ("billed", "stored"), [("false", True), (1, True), (0, False), ("", False), (None, False)]
)
def test_whether_insurance_is_billed_is_stored_as_yes_or_no(billed: Any, stored: bool) -> None:
    data = clinic()
    text = call(data, "schedule_appointment", {**BOOKING, "bill_insurance": billed})
    assert data.appointments["APPT003"]["insurance_billed"] is stored
    assert ("Insurance Billing: Skipped" in text) is not stored


def test_a_prescription_and_a_referral_stand_before_the_cancellation() -> None:
    data = clinic()
    one = {"appointment_id": "APPT001"}
    plain = call(data, "get_appointment_details", one)
    issued = {
        "medication": "Zorvex",
        "dosage": "5mg",
        "frequency": "daily",
        "quantity": "9 drops",
        "refills": 3,
    }
    prescribed = "\n\nPrescription Issued:\n- Zorvex 5mg daily\n- Quantity: 9 drops, Refills: 3"
    data.appointments["APPT001"]["prescription_issued"] = issued
    assert call(data, "get_appointment_details", one) == plain + prescribed
    data.appointments["APPT001"]["referral_from"] = "eye"
    assert call(data, "get_appointment_details", one) == plain + prescribed + (
        "\n\nReferral from: eye"
    )
    call(data, "cancel_appointment", one)
    assert "Refills: 3\n\nReferral from: eye\n\nCancellation Details:\n" in call(
        data, "get_appointment_details", one
    )


def test_what_is_over_or_cancelled_is_neither_moved_nor_cancelled() -> None:
    data = clinic()
    one, over = {"appointment_id": "APPT001"}, {"appointment_id": "APPT002"}
    to = {"new_date": "2030-05-13", "new_time": "09:00"}
    assert "already been completed" in call(data, "cancel_appointment", over)
    assert "already been completed" in call(data, "reschedule_appointment", {**over, **to})
    assert f"Cancellation Date: {TODAY}" in call(data, "cancel_appointment", one)
    assert call(data, "cancel_appointment", one) == "Appointment APPT001 is already cancelled."
    assert "has been cancelled" in call(data, "reschedule_appointment", {**one, **to})
    assert call(data, "get_appointment_details", one).endswith(
        f"Cancellation Details:\n- Reason: Patient Cancelled\n- Date: {TODAY}"
    )


def test_an_appointment_may_move_to_its_own_slot() -> None:
    data = clinic()
    text = call(
        data,
        "reschedule_appointment",
        {"appointment_id": "APPT001", "new_date": "2030-05-06", "new_time": "09:00"},
    )
    assert "New Date/Time: 2030-05-06 at 09:00" in text


def test_appointments_are_listed_in_order_of_time() -> None:
    text = answer("list_patient_appointments", patient_id="ann_reed_1")
    assert text.index("APPT001") < text.index("APPT002")
    assert "with Dr. Holt (Primary Care) [Scheduled, Type: Follow Up]" in text
    none = answer("list_patient_appointments", patient_id="ann_reed_1", status_filter="cancelled")
    assert none == "No appointments found for patient ann_reed_1 with status cancelled."


def test_a_status_is_asked_for_in_any_case_and_told_as_it_was_asked_for() -> None:
    text = answer("list_patient_appointments", patient_id="ann_reed_1", status_filter="COMPLETED")
    assert text.startswith(
        "Appointments for Ann Reed (ID: ann_reed_1) with status COMPLETED\n- APPT002:"
    )
    assert "APPT001" not in text
    devices = answer("list_telemetry_devices", status_filter="Lent")
    assert devices == "Telemetry devices:\nT2 | status=lent | last_audit=d | notes=n"
    gone = answer("list_telemetry_devices", status_filter="Gone")
    assert gone == "No telemetry devices found with status Gone."
    assert answer("list_telemetry_devices", status_filter="") == answer("list_telemetry_devices")


def test_without_any_device_no_status_is_told() -> None:
    data = clinic()
    data.telemetry_inventory.clear()
    assert call(data, "list_telemetry_devices", {}) == "No telemetry devices found."


def test_a_record_is_found_by_its_id_or_its_appointment() -> None:
    text = answer("get_medical_record", record_id="REC1")
    assert text == answer("get_medical_record", appointment_id="APPT002")
    assert "Provider: Ida Marsh (ID: eye)\nRelated Appointment: APPT002 on 2030-05-06" in text
    assert text.endswith("Recommendations:\n- Rest")
    assert "Related" not in answer("get_medical_record", record_id="REC2")
    assert answer("get_medical_record").startswith("Please provide")


@pytest.mark.parametrize(("limit", "lines"), [(None, 2), (0, 2), (-1, 2), (1, 1)])
def test_a_limit_counts_if_it_is_positive(limit: int | None, lines: int) -> None:
    text = answer("list_patient_medical_records", patient_id="ann_reed_1", limit=limit)
    assert text.count("record_id=") == lines
    assert text.split("\n")[1].startswith("record_id=REC2")
    assert "medications=None recorded" in text


def test_suppliers_come_cheapest_first() -> None:
    text = answer("list_medication_suppliers", medication="zorvex")
    assert text.split("\n")[1] == "A (Near) | brand=Za | price_usd=1.50"
    nearby = answer("list_medication_suppliers", medication="Zorvex", country_filter="Far")
    assert "Near" not in nearby
    for other in ("Zorv", " Zorvex", "Zorvex 10mg"):
        assert answer("list_medication_suppliers", medication=other).startswith("No supplier info")
    mars = answer("list_medication_suppliers", medication="Zorvex", country_filter="Mars")
    assert mars == "No suppliers in Mars for Zorvex."


@pytest.mark.parametrize("name", ["Zorvex", " zorvex ", "Zor", "Zorvex 10mg"])
def test_a_prescription_is_found_by_its_name_or_a_beginning(name: str) -> None:
    data = clinic()
    order = {"record_id": "REC1", "medication": name, "supplier_company": "A", "brand_name": "Za"}
    text = call(data, "update_prescription_supplier", {**order, "price_usd": "1.5"})
    supplier = {"company": "A", "brand_name": "Za", "price_usd": 1.5, "currency": "USD"}
    assert json.loads(text)["prescriptions"][0]["supplier"] == supplier
    assert data.medical_records["REC1"]["prescriptions"][0]["pharmacy"] == "A (Za)"


@pytest.mark.parametrize("name", ["orvex", "vex", "my Zorvex"])
def test_a_prescription_is_not_found_by_what_stands_inside_a_name(name: str) -> None:
    order = {"record_id": "REC1", "medication": name, "supplier_company": "A", "brand_name": "Za"}
    assert answer("update_prescription_supplier", **order, price_usd=1).endswith("in record REC1")


def test_a_prescription_of_exactly_the_name_comes_before_one_that_begins_with_it() -> None:
    data = clinic()
    longer = {"medication": "Zorvex Forte", "pharmacy": "Old"}
    data.medical_records["REC1"]["prescriptions"].insert(0, longer)
    order = {"record_id": "REC1", "supplier_company": "A", "brand_name": "Za", "price_usd": 1}
    call(data, "update_prescription_supplier", {**order, "medication": "zorvex"})
    pharmacies = [p["pharmacy"] for p in data.medical_records["REC1"]["prescriptions"]]
    assert pharmacies == ["Old", "A (Za)"]
    call(data, "update_prescription_supplier", {**order, "medication": "Zorv", "brand_name": "Z"})
    pharmacies = [p["pharmacy"] for p in data.medical_records["REC1"]["prescriptions"]]
    assert pharmacies == ["A (Z)", "A (Za)"]


def test_prescriptions_that_are_not_there() -> None:
    order = {"medication": "M", "supplier_company": "A", "brand_name": "Za", "price_usd": 1}
    for record, problem in {
        "REC1": "medication M not found in record REC1",
        "REC2": "medical record has no prescriptions",
        "REC9": "medical record not found",
    }.items():
        assert answer("update_prescription_supplier", record_id=record, **order) == (
            f"Error: {problem}"
        )


def test_notes_are_appended_with_their_metadata() -> None:
    data = clinic()
    call(data, "update_medical_record_note", {"record_id": "REC2", "note": "a", "metadata": {}})
    text = call(
        data, "update_medical_record_note", {"record_id": "REC2", "note": "b", "metadata": {"k": 1}}
    )
    assert json.loads(text)["notes"] == [{"note": "a"}, {"note": "b", "metadata": {"k": 1}}]
    assert answer("update_medical_record_note", record_id="x", note="") == (
        "Error: medical record x not found"
    )


def test_interactions_are_looked_up_both_ways() -> None:
    text = answer(
        "check_drug_interactions", primary_medication="plimol", current_medications=["Zorvex"]
    )
    assert "Plimol + Zorvex: severity=high, risk_score=8, overlap_hours=12. Wait." in text
    assert "Medications to hold today: Plimol\nEmergency escalation required: Yes" in text
    for primary, current in (("Zorvex", []), (" Zorvex", ["Plimol"]), ("Zorvex", ["Plimol "])):
        assert answer(
            "check_drug_interactions", primary_medication=primary, current_medications=current
        ).startswith("No documented")


def test_devices_and_uploads() -> None:
    assert answer("list_telemetry_devices").split("\n")[1].startswith("T1 | status=free")
    assert "T1" not in answer("list_telemetry_devices", status_filter="lent")
    uploads = json.loads(answer("list_telemetry_uploads", device_id="T1"))
    assert [u["date"] for u in uploads] == ["2030-04-01", "2030-04-02"]
    late = answer("list_telemetry_uploads", device_id="T1", start_date="2030-04-02")
    assert len(json.loads(late)) == 1
    assert answer("list_telemetry_uploads", device_id="T9").startswith("No telemetry uploads")
    one = answer("get_telemetry_upload", device_id="T1", date="2030-04-02")
    assert json.loads(one)["hours"] == 2.0


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("0.1+0.2", "0.3"),
        ("2**3", "8.0"),
        (" 1 + 1 ", "2.0"),
        ("-(7 // 2)", "-3.0"),
        ("a+b", "Error: invalid characters in expression"),
        ("1/0", "Error: division by zero"),
        ("9**9**9", "Error: the exponent is too large"),
        ("1(2)", "Error: 'int' object is not callable"),
    ],
)
def test_arithmetic(expression: str, value: str) -> None:
    assert answer("calculate", expression=expression) == value


def test_an_expression_that_cannot_be_read_is_an_error() -> None:
    assert answer("calculate", expression="1+").startswith("Error: ")
    assert answer("calculate", expression="()").startswith("Error: ")


IDS = (
    "ann_reed_1",
    "gp",
    "APPT001",
    "APPT002",
    "REC1",
    "REC2",
    "T1",
    "Zorvex",
    "2030-05-06",
    "09:00",
)
ODD = (
    "",
    " ",
    "ann_reed_1 ",
    "ANN",
    "Ünïcødé ☃",
    "0",
    None,
    True,
    0,
    -1,
    2.5,
    "12.5",
    [],
    ["Zorvex"],
    {},
)
VALUES = st.sampled_from([*IDS, *ODD])


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    name = draw(st.sampled_from(sorted(TOOLS)))
    wanted = list(inspect.signature(TOOLS[name]).parameters)[1:]
    names = draw(st.lists(st.sampled_from([*wanted, "extra"]), unique=True))
    return name, {one: draw(VALUES) for one in names}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(made=st.lists(calls(), max_size=6))
def test_whatever_is_asked_is_answered_in_text_and_the_clinic_stays_sound(
    made: list[tuple[str, dict[str, Any]]],
) -> None:
    data = clinic()
    for name, arguments in made:
        before = data.digest()
        text = call(data, name, arguments)
        assert isinstance(text, str)
        if "extra" in arguments or text.startswith(f"Error: {_printed(name)}"):
            assert text.startswith("Error: ")
            assert data.digest() == before


def _printed(name: str) -> str:
    return "".join(map(str.capitalize, name.split("_"))).replace("Dob", "DOB") + ".invoke()"


@pytest.mark.parametrize(
    ("name", "arguments", "answer_"),
    [
        ("get_patient_details", {"patient_id": None}, "Patient with ID None not found."),
        ("get_patient_details", {"patient_id": ""}, "Patient with ID  not found."),
        ("get_patient_details", {"patient_id": []}, "Error: unhashable type: 'list'"),
        ("get_medical_record", {"record_id": ""}, "Please provide a record_id or appointment_id"),
        ("list_available_providers", {"specialty": 3}, "Error: 'int' object has no attribute"),
        ("find_patient_by_email", {"email": "ö@x"}, "No patient found with email: ö@x"),
    ],
)
def test_odd_arguments_are_answered_as_plain_python_would(
    name: str, arguments: dict[str, Any], answer_: str
) -> None:
    assert answer(name, **arguments).startswith(answer_)
