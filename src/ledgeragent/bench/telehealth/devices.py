"""Tools about telemetry devices and what they have uploaded."""

from __future__ import annotations

import json

from ledgeragent.bench.telehealth.data import Data
from ledgeragent.bench.telehealth.wording import first_of, has_status
from ledgeragent.types import Json


def list_telemetry_devices(
    data: Data, status_filter: str | None = None, limit: int | None = None
) -> str:
    """The devices in order of their ids, perhaps of one status, written in any case."""
    devices = [device for device in data.telemetry_inventory if has_status(device, status_filter)]
    if not devices:
        with_status = f" with status {status_filter}" if status_filter else ""
        return f"No telemetry devices found{with_status}."
    devices.sort(key=lambda device: device["device_id"])
    return "\n".join(["Telemetry devices:", *map(_device, first_of(devices, limit))])


def _device(device: Json) -> str:
    return (
        f"{device['device_id']} | status={device['status']} | "
        f"last_audit={device['last_audit']} | notes={device['notes']}"
    )


def list_telemetry_uploads(
    data: Data,
    device_id: str,
    start_date: str | None = None,
    end_date: str | None = None,
    limit: int | None = None,
) -> str:
    """The uploads of a device from one day to another, both included, as JSON."""
    uploads = [
        upload
        for upload in data.telemetry_uploads
        if upload["device_id"] == device_id
        and (not start_date or upload["date"] >= start_date)
        and (not end_date or upload["date"] <= end_date)
    ]
    if not uploads:
        return f"No telemetry uploads found for device {device_id} in the specified window."
    uploads.sort(key=lambda upload: upload["date"])
    return json.dumps(first_of(uploads, limit))


def get_telemetry_upload(data: Data, device_id: str, date: str) -> str:
    """The upload of a device on one day, as JSON."""
    for upload in data.telemetry_uploads:
        if upload["device_id"] == device_id and upload["date"] == date:
            return json.dumps(upload)
    return f"No telemetry upload found for device {device_id} on {date}."
