"""Telehealth as a domain of the tau2 harness: its tools, tasks and policy over the public data files."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ledgeragent.adapters.tau2 import Wire, harness
from ledgeragent.bench.telehealth.clinic import TOOLS
from ledgeragent.bench.telehealth.conformance import RECORDED_ON
from ledgeragent.bench.telehealth.data import FILES, FOLDER, Data, load, read_tasks
from ledgeragent.files.documents import read_document
from ledgeragent.files.reading import read_text
from ledgeragent.types import Json

NAME = "telehealth"


def register(data_dir: Path) -> None:
    """Makes the domain and its tasks known to the harness, once."""
    registry = harness("tau2.registry").registry
    if NAME in registry.get_domains():
        return
    registry.register_domain(partial(environment, data_dir), NAME)
    registry.register_tasks(
        partial(tasks, data_dir), NAME, get_task_splits=partial(splits, data_dir)
    )


def environment(data_dir: Path, solo_mode: bool = False) -> Wire:
    """A fresh environment. Its date is fixed, so that a run can be scored on another day."""
    folder = data_dir / FOLDER
    return harness("tau2.environment.environment").Environment(
        domain_name=NAME,
        policy=read_text(folder / "policy.md"),
        tools=_toolkit(load(data_dir, RECORDED_ON), folder),
        solo_mode=solo_mode,
    )


def tasks(data_dir: Path, task_split_name: str | None = None) -> list[Wire]:
    """The test tasks; there is one split, all of them."""
    task = harness("tau2.data_model.tasks").Task
    return [task.model_validate(_task(*row)) for row in enumerate(read_tasks(data_dir))]


def splits(data_dir: Path) -> dict[str, list[str]]:
    """The one split."""
    return {"base": [str(number) for number, _ in enumerate(read_tasks(data_dir))]}


def _task(number: int, row: Json) -> Json:
    actions = [
        {"action_id": f"{number}_{n}", "name": a["name"], "arguments": a["kwargs"]}
        for n, a in enumerate(row["actions"])
    ]
    return {
        "id": str(number),
        "user_scenario": {"instructions": row["instruction"]},
        "evaluation_criteria": {
            "actions": actions,
            "communicate_info": row["outputs"],
            "reward_basis": ["DB", "COMMUNICATE"],
        },
    }


def _toolkit(data: Data, folder: Path) -> Wire:
    """The tools as the harness wants them: methods that carry their type, with the recorded schemas."""
    kit = harness("tau2.environment.toolkit")
    described = read_document(folder / "tools.json")
    methods = {tool["name"]: _method(kit, tool) for tool in described}
    schemas = {tool["name"]: tool["schema"] for tool in described}

    def get_tools(self: Wire) -> dict[str, Wire]:
        return {name: _tool(schema, self.tools[name]) for name, schema in schemas.items()}

    toolkit_type = type("TelehealthTools", (kit.ToolKitBase,), {**methods, "get_tools": get_tools})
    records = {name: getattr(data, name) for name in FILES}
    database = _database().model_validate(records)
    # The tools change what the database holds; its own containers are what they get.
    database_data = Data(**{name: getattr(database, name) for name in FILES}, today=data.today)
    toolkit = toolkit_type(database)
    toolkit.clinic = database_data
    return toolkit


def _method(kit: Wire, tool: Json) -> Callable[..., str]:
    name = tool["name"]

    def method(self: Wire, **arguments: Json) -> str:
        return TOOLS[name](self.clinic, **copy.deepcopy(arguments))

    method.__name__ = name
    method.__doc__ = tool["schema"]["function"]["description"]
    harness_tool: Callable[..., str] = kit.is_tool(kit.ToolType(tool["type"]))(method)
    return harness_tool


def _tool(schema: Json, function: Callable[..., str]) -> Wire:
    base = harness("tau2.environment.tool").BaseTool

    def call(self: Wire, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    names = {"openai_schema": property(lambda self: schema), "_call": call}
    return type("TelehealthTool", (base,), names)(name=schema["function"]["name"])


def _database() -> Wire:
    base = harness("tau2.environment.db").DB
    lists = ("telemetry_inventory", "telemetry_uploads")
    kinds = {name: list[Any] if name in lists else dict[str, Any] for name in FILES}
    return type("TelehealthRecords", (base,), {"__annotations__": kinds})
