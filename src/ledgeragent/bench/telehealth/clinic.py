"""The clinic as an agent meets it: tools by name, and an episode that ends with a reward."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from ledgeragent.bench.telehealth import (
    appointments,
    devices,
    general,
    medications,
    patients,
    providers,
    records,
)
from ledgeragent.bench.telehealth.data import Data
from ledgeragent.types import Json

ClinicTool = Callable[..., str]

_ALL: tuple[ClinicTool, ...] = (
    patients.find_patient_by_email,
    patients.find_patient_by_name_dob,
    patients.get_patient_details,
    appointments.get_appointment_details,
    providers.get_provider_details,
    records.get_medical_record,
    medications.get_regimen_options,
    records.list_patient_medical_records,
    providers.list_available_providers,
    appointments.list_patient_appointments,
    medications.list_medication_suppliers,
    devices.list_telemetry_uploads,
    medications.check_drug_interactions,
    appointments.schedule_appointment,
    appointments.cancel_appointment,
    appointments.reschedule_appointment,
    general.calculate,
    general.think,
    general.transfer_to_human_support,
    medications.update_prescription_supplier,
    devices.list_telemetry_devices,
    devices.get_telemetry_upload,
    records.update_medical_record_note,
)

RESPOND = "respond"
ENDS = "transfer_to_human_support"
STOP = "###STOP###"


_ABBREVIATED = {"dob": "DOB"}


def _as_recorded(function: ClinicTool) -> ClinicTool:
    """The function under the name that Python prints where a call's arguments don't fit."""
    assert isinstance(function, FunctionType)
    words = (_ABBREVIATED.get(word, word.capitalize()) for word in function.__name__.split("_"))
    copy = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    copy.__qualname__ = f"{''.join(words)}.invoke"
    return copy


TOOLS: Mapping[str, ClinicTool] = {f.__name__: _as_recorded(f) for f in _ALL}
"""Every tool: `TOOLS[name](data, **arguments)` answers in text."""


def call(data: Data, name: str, arguments: Mapping[str, Json]) -> str:
    """The answer of a tool; an exception becomes text too, as the agent would read it."""
    tool = TOOLS.get(name)
    if tool is None:
        return f"Unknown action {name}"
    try:
        return tool(data, **arguments)
    except Exception as error:
        return f"Error: {error}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClinicStep:
    """The outcome of an action. `reward` is 0 until the episode is `over`."""

    observation: str
    reward: float
    over: bool


@dataclass(slots=True, kw_only=True)
class Episode:
    """One task: actions change `data`, and the end compares it with the gold actions' outcome.

    `fresh` makes the untouched records. `user` answers what is said to the patient.
    """

    task: Json
    fresh: Callable[[], Data]
    user: Callable[[str], str]
    data: Data = field(init=False)
    replies: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.data = self.fresh()

    def step(self, name: str, arguments: Mapping[str, Json]) -> ClinicStep:
        """Does one action; the episode is over when the user stops or a person takes over."""
        if name == RESPOND:
            self.replies.append(arguments["content"])
            observation = self.user(arguments["content"])
            over = STOP in observation
        else:
            observation = call(self.data, name, arguments)
            over = name == ENDS
        return ClinicStep(observation=observation, reward=self.reward() if over else 0.0, over=over)

    def reward(self) -> float:
        """1 if the records are as the gold actions leave them and all that must be said was."""
        return float(self.data.digest() == self.gold_digest() and self._says_all())

    def gold_digest(self) -> str:
        """The state that the gold actions lead to."""
        data = self.fresh()
        replay(data, self.task["actions"])
        return data.digest()

    def _says_all(self) -> bool:
        texts = [text.lower().replace(",", "") for text in self.replies]
        return all(any(o.lower() in text for text in texts) for o in self.task["outputs"])


def replay(data: Data, actions: Sequence[Mapping[str, Any]]) -> None:
    """Does a task's actions in order, all but the handover to a person."""
    for action in actions:
        if action["name"] != ENDS:
            call(data, action["name"], action["kwargs"])
